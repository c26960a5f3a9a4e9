import OneWayTestLimits
import SyncModel
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// Changes of tables that are not the store's own, and of columns that others added to its tables.
@Suite(.endsInTime) struct ExistingTableChangeTests {
    // MARK: Tables of others

    @Test func columnsAreAdded() throws {
        let new = try Self.people(
            SyncAttribute("name", .string), SyncAttribute("level", .int32, default: 3),
            SyncAttribute("known", .int32, default: 4))
        let plan = try Self.plan(to: new, columns: ["_id", "id", "name", "known"])
        #expect(
            plan.statements == [
                #"ALTER TABLE "Person" ADD COLUMN "level" INTEGER"#,
                #"UPDATE "Person" SET "level" = 3"#,
            ])
        #expect(plan.plan.dropped == [])
    }

    /// Names are compared as the database compares them.
    @Test func aColumnWhoseNameDiffersInCaseIsAddedIfTheDatabaseTellsThemApart() throws {
        let new = try Self.people(SyncAttribute("name", .string), SyncAttribute("level", .int32))
        let columns: Set<String> = ["_id", "id", "name", "Level"]
        let added = try Self.plan(to: new, columns: columns, dialect: .postgres(schema: "public"))
        #expect(added.statements == [#"ALTER TABLE "Person" ADD COLUMN "level" integer"#])
        let found = try Self.plan(to: new, columns: columns, dialect: .sqlite)
        #expect(found.statements == [])
    }

    @Test func columnsOfRelationshipsAndEntitiesAreAdded() throws {
        let new = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toOrdered: "Person", inverse: "boss", deleteRule: .cascade)
            }
            SyncEntity("Guest", parent: "Person") { SyncAttribute("room", .int64, default: 9) }
        }
        #expect(
            try Self.plan(to: new).statements == [
                #"ALTER TABLE "Person" ADD COLUMN "_entity" TEXT NOT NULL DEFAULT 'Person'"#,
                #"ALTER TABLE "Person" ADD COLUMN "room" INTEGER"#,
                #"ALTER TABLE "Person" ADD COLUMN "boss" INTEGER REFERENCES "Person"("_id") ON DELETE "#
                    + "CASCADE DEFERRABLE INITIALLY DEFERRED",
                #"ALTER TABLE "Person" ADD COLUMN "boss_position" INTEGER"#,
                #"UPDATE "Person" SET "boss" = NULL WHERE "boss" NOT IN (SELECT "_id" FROM "Person")"#,
            ])
        // Foreign keys of tables of others are theirs.
        #expect(
            try Self.plan(to: new, dialect: .postgres(schema: "public")).statements == [
                #"ALTER TABLE "Person" ADD COLUMN "_entity" text COLLATE "C" NOT NULL DEFAULT 'Person'"#,
                #"ALTER TABLE "Person" ADD COLUMN "room" bigint"#,
                #"ALTER TABLE "Person" ADD COLUMN "boss" bigint"#,
                #"ALTER TABLE "Person" ADD COLUMN "boss_position" bigint"#,
            ])
    }

    @Test func columnsKeepTheirNames() throws {
        let title = SyncAttribute("title", .string, formerName: "name")
        try Self.expectAdvice(
            #"rename the column "name" to title with ALTER TABLE, or map it in SQLNaming.columns"#,
            to: Self.people(title))
        try Self.expectAdvice(
            #"move the values of "name" to title, or map it in SQLNaming.columns"#, to: Self.people(title),
            columns: ["_id", "id", "name", "title"])
    }

    @Test func tablesKeepTheirNames() throws {
        let people = SyncEntity("People", identity: "id", formerName: "Person") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string)
        }
        try Self.expectAdvice("rename it to People, or name it in SQLNaming.tables", to: DataModel([people]))
        #expect(
            throws: SQLSchemaError.existingTable(
                table: "People", advice: "move the objects of Person into it, and drop Person")
        ) {
            var found = SQLMigration.Found()
            found.existing = ["People": ["_id", "id", "name"]]
            _ = try MigrationText(
                from: Self.people(SyncAttribute("name", .string)), to: DataModel([people]), found: found)
        }
    }

    @Test func objectsOfRemovedEntitiesAreForOthersToDelete() throws {
        let old = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Guest", parent: "Person") {}
        }
        try Self.expectAdvice(
            "delete the objects of the removed entities first", from: old, to: Self.people(), keepsRemoved: false)
    }

    @Test func aTableThatOthersHaveIsNotMade() throws {
        let old = try Self.people()
        let new = try DataModel(
            old.layouts.map(\.entity) + [SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }])
        var found = SQLMigration.Found()
        found.existing = ["Tag": ["_id", "id"]]
        #expect(try MigrationText(from: old, to: new, dialect: .sqlite, found: found).statements == [])
        // Those of removed entities stay as they are, whatever the version of the model.
        let removed = try MigrationText(from: new, to: old, dialect: .sqlite, found: found, keepsRemoved: false)
        #expect(removed.statements == [])
        #expect(removed.plan.dropped == [])
    }

    @Test func aTableOfPairsKeepsItsName() throws {
        func model(_ name: String) throws -> DataModel {
            try Self.people(and: SyncRelationship(name, toMany: "Person", formerName: "friends"))
        }
        var found = SQLMigration.Found()
        found.existing = ["Person_friends": ["person", "friends_person"]]
        let same = try MigrationText(from: model("friends"), to: model("friends"), dialect: .sqlite, found: found)
        #expect(same.statements == [])
        #expect(
            throws: SQLSchemaError.existingTable(
                table: "Person_friends", advice: "rename it to Person_mates, or map it in SQLNaming.columns")
        ) {
            _ = try MigrationText(from: model("friends"), to: model("mates"), dialect: .sqlite, found: found)
        }
    }

    // MARK: Columns of others

    @Test func columnsOfOthersMoveWithTheRows() throws {
        var found = SQLMigration.Found()
        found.additions = ["Person": [.init(name: "mine", declaration: "TEXT DEFAULT 'x'")]]
        let old = try Self.people(SyncAttribute("age", .int16))
        let new = try Self.people(SyncAttribute("age", .double))
        let plan = try MigrationText(from: old, to: new, dialect: .sqlite, found: found)
        #expect(
            plan.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "age" REAL)"#,
                #"ALTER TABLE "_sync_new_0" ADD COLUMN "mine" TEXT DEFAULT 'x'"#,
                #"INSERT INTO "_sync_new_0" ("_id", "id", "age", "mine") SELECT "_id", "id", CAST("age" "#
                    + #"AS REAL), "mine" FROM "Person""#,
                #"DROP TABLE IF EXISTS "Person""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Person""#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id")"#,
            ])
        #expect(
            plan.plan.additions == [
                #"ALTER TABLE "_sync_new_0" ADD COLUMN "mine" TEXT DEFAULT 'x'"#: "Person.mine"
            ])
        // A computed column cannot be filled.
        found.additions["Person"]?.append(.init(name: "twice", declaration: "AS (age * 2)", isGenerated: true))
        #expect(
            throws: SQLSchemaError.unfitDependentObject(
                name: "Person.twice", reason: "a generated column cannot be moved")
        ) {
            _ = try MigrationText(from: old, to: new, dialect: .sqlite, found: found)
        }
        // Nothing is moved where a column is added.
        let more = try MigrationText(
            from: old, to: Self.people(SyncAttribute("age", .int16), SyncAttribute("name", .string)),
            dialect: .sqlite, found: found)
        #expect(more.statements == [#"ALTER TABLE "Person" ADD COLUMN "name" TEXT"#])
    }

    @Test func aColumnOfOthersIsInTheWay() throws {
        var found = SQLMigration.Found()
        found.additions = ["Person": [.init(name: "NAME", declaration: "TEXT")]]
        #expect(
            throws: SQLSchemaError.unfitDependentObject(
                name: "Person.NAME", reason: "the model needs a column of this name; rename the one in the database")
        ) {
            _ = try MigrationText(
                from: Self.people(), to: Self.people(SyncAttribute("name", .string)), dialect: .sqlite, found: found)
        }
    }

    // MARK: Worlds

    private static func people(
        _ attributes: SyncAttribute..., and relationships: SyncRelationship...
    ) throws -> DataModel {
        try DataModel([
            SyncEntity(
                "Person", identity: ["id"], attributes: [SyncAttribute("id", .int64)] + attributes,
                relationships: relationships)
        ])
    }

    /// A migration of people with names, whose table is not the store's own.
    private static func plan(
        from old: DataModel? = nil, to new: DataModel, columns: Set<String> = ["_id", "id", "name"],
        dialect: any SQLDialect = .sqlite, keepsRemoved: Bool = true
    ) throws -> MigrationText {
        var found = SQLMigration.Found()
        found.existing = ["Person": columns]
        return try MigrationText(
            from: old ?? people(SyncAttribute("name", .string)), to: new, dialect: dialect, found: found,
            keepsRemoved: keepsRemoved)
    }

    private static func expectAdvice(
        _ advice: String, from old: DataModel? = nil, to new: DataModel, columns: Set<String> = ["_id", "id", "name"],
        keepsRemoved: Bool = true
    ) throws {
        #expect(throws: SQLSchemaError.existingTable(table: "Person", advice: advice)) {
            _ = try plan(from: old, to: new, columns: columns, keepsRemoved: keepsRemoved)
        }
    }
}
