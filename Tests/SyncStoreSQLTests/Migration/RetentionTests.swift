import OneWayTestLimits
import SyncModel
import SyncStoreSQLite
import SyncStorePostgres
import Testing

@testable import SyncStoreSQL

/// What a database records and keeps although the model of the same version lacks it.
@Suite(.endsInTime) struct RetentionTests {
    @Test func whatIsKeptIsRecorded() throws {
        let new = try DataModel([Self.entity("Person", SyncAttribute("id", .int64), SyncAttribute("name", .string))])
        for dialect in [.sqlite, .postgres(schema: "public")] as [any SQLDialect] {
            let plan = try MigrationText(from: Self.everything(), to: new, dialect: dialect).plan
            #expect(
                Self.lines(plan.description) == [
                    "Person in Person: id: int64 in id, name: string in name, age: int64 in age, boss: "
                        + "Person in Person.boss boss_position to Person, staff: Person in Person.boss "
                        + "boss_position to Person, tags: Tag in Person_tags.Person.Tag position  from Person "
                        + "to Tag, tag: Tag in Person.tag to Tag",
                    "Guest of Person in Person: room: int64 in room",
                    "Tag in Tag: id: int64 in id, people: Person in Person_tags.Tag.Person  position "
                        + "from Tag to Person, owner: Person in Tag.owner to Person",
                ])
        }
    }

    @Test func aTableThatGetsAnotherNameIsRecordedUnderIt() throws {
        let new = try DataModel([Self.entity("Person", SyncAttribute("id", .int64))])
        let plan = try MigrationText(
            from: Self.everything(), to: new, naming: SQLNaming(tables: ["Person": "people"]), dialect: .sqlite)
        #expect(plan.plan.description.families == ["Person": "people", "Tag": "Tag"])
        #expect(
            plan.tables == [
                #"CREATE TABLE "people" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "age" INTEGER, "room" "#
                    + #"INTEGER, "boss" INTEGER REFERENCES "people"("_id") ON DELETE SET NULL DEFERRABLE "#
                    + #"INITIALLY DEFERRED, "boss_position" INTEGER, "tag" INTEGER REFERENCES "Tag"("_id") ON "#
                    + "DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)",
                #"CREATE TABLE "Tag" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "owner" INTEGER REFERENCES "#
                    + #""people"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)"#,
                #"CREATE TABLE "Person_tags" ("Person" INTEGER NOT NULL REFERENCES "people"("_id") ON "#
                    + #"DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, "Tag" INTEGER NOT NULL REFERENCES "#
                    + #""Tag"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, "position" INTEGER, "#
                    + #"PRIMARY KEY ("Person", "Tag"))"#,
            ])
        #expect(
            Self.lines(plan.plan.description) == [
                "Person in people: id: int64 in id, age: int64 in age, boss: Person in people.boss "
                    + "boss_position to people, staff: Person in people.boss boss_position to people, tags: "
                    + "Tag in Person_tags.Person.Tag position  from people to Tag, tag: Tag in people.tag to Tag",
                "Guest of Person in people: room: int64 in room",
                "Tag in Tag: id: int64 in id, people: Person in Person_tags.Tag.Person  position from "
                    + "Tag to people, owner: Person in Tag.owner to people",
            ])
    }

    @Test func foreignKeysOfKeptColumnsStay() throws {
        let old = try Self.everything()
        let new = try DataModel([
            Self.entity("Person", SyncAttribute("id", .int64), SyncAttribute("age", .int64)),
            Self.entity("Tag", SyncAttribute("id", .int64)),
        ])
        let plan = try MigrationText(from: old, to: new)
        #expect(
            plan.statements == [
                #"DROP INDEX IF EXISTS "Person_identity""#,
                #"DROP INDEX IF EXISTS "Person_boss""#,
                #"DROP INDEX IF EXISTS "Person_tag""#,
                #"ALTER TABLE "Person" DROP COLUMN "_entity""#,
                #"DROP INDEX IF EXISTS "Tag_owner""#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id")"#,
            ])
        let keys = plan.plan.description.tables.flatMap { table in
            (table.foreignKeys ?? []).map { $0.creation(on: table.name, .postgres(schema: "public")).withoutSchema }
        }
        #expect(
            keys == [
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_boss_fkey" FOREIGN KEY ("boss") REFERENCES "#
                    + #""Person"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_tag_fkey" FOREIGN KEY ("tag") REFERENCES "#
                    + #""Tag"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Tag" ADD CONSTRAINT "Tag_owner_fkey" FOREIGN KEY ("owner") REFERENCES "#
                    + #""Person"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Person_fkey" FOREIGN KEY "#
                    + #"("Person") REFERENCES "Person"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Tag_fkey" FOREIGN KEY ("Tag") "#
                    + #"REFERENCES "Tag"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
            ])
    }

    @Test func onlyForeignKeysThatChangeAreMadeAnew() throws {
        func model(_ names: String...) throws -> DataModel {
            try DataModel([
                SyncEntity(
                    "Person", identity: ["id"], attributes: [SyncAttribute("id", .int64)],
                    relationships: names.map { SyncRelationship($0, toOne: "Person") })
            ])
        }
        let plan = try MigrationText(from: model("boss", "mentor"), to: model("boss", "friend"))
        #expect(
            plan.statements == [
                #"DROP INDEX IF EXISTS "Person_mentor""#,
                #"ALTER TABLE "Person" ADD COLUMN "_sync_column_3" bigint"#,
                #"ALTER TABLE "Person" RENAME COLUMN "_sync_column_3" TO "friend""#,
                // Its index follows when the table is no longer locked.
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_friend_fkey" FOREIGN KEY ("friend") "#
                    + #"REFERENCES "Person"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED NOT VALID"#,
            ])
        let keys = plan.plan.description.tables.flatMap { table in (table.foreignKeys ?? []).map(\.name) }
        #expect(keys == ["Person_boss_fkey", "Person_friend_fkey", "Person_mentor_fkey"])
    }

    @Test func aColumnRenamedForAnotherOneIsNoLongerRecorded() throws {
        let old = try DataModel([Self.entity("Person", SyncAttribute("id", .int64), SyncAttribute("age", .int16))])
        let new = try DataModel([Self.entity("Person", SyncAttribute("id", .int64), SyncAttribute("years", .double))])
        let naming = SQLNaming(columns: ["Person.years": "AGE"])
        let plan = try MigrationText(from: old, to: new, naming: naming, dialect: .sqlite)
        #expect(
            plan.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "AGE" REAL, "#
                    + #""age_removed" INTEGER)"#,
                #"INSERT INTO "_sync_new_0" ("_id", "id", "AGE", "age_removed") SELECT "_id", "id", NULL, "#
                    + #""age" FROM "Person""#,
                #"DROP TABLE IF EXISTS "Person""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Person""#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id")"#,
            ])
        #expect(Self.lines(plan.plan.description) == ["Person in Person: id: int64 in id, years: double in AGE"])
        var found = SQLMigration.Found()
        found.additions = ["Person": [.init(name: "Age_Removed", declaration: "TEXT")]]
        let other = try MigrationText(from: old, to: new, naming: naming, dialect: .sqlite, found: found)
        #expect(
            other.tables == [
                #"CREATE TABLE "Person" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "AGE" REAL, "#
                    + #""age_removed_2" INTEGER)"#
            ])
    }

    @Test func theNameOfARemovedEntityCanBeUsedAgain() throws {
        let old = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Guest", parent: "Person") {}
            SyncEntity("Worker", parent: "Person") {}
        }
        // Another entity has the name now, in another table.
        let new = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Visitor", parent: "Person", formerName: "Worker") {}
            SyncEntity("Guest", identity: "id") { SyncAttribute("id", .int64) }
        }
        #expect(throws: SQLSchemaError.movedEntity(entity: "Guest")) { _ = try MigrationText(from: old, to: new) }
        let renamed = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Guest", parent: "Person", formerName: "Worker") {}
        }
        let plan = try MigrationText(from: old, to: renamed, dialect: .sqlite)
        #expect(
            plan.statements == [
                #"CREATE TABLE "_sync_new_0" ("_id" INTEGER PRIMARY KEY, "_entity" TEXT NOT NULL, "id" INTEGER)"#,
                #"INSERT INTO "_sync_new_0" ("_id", "_entity", "id") SELECT "_id", CASE "_entity" WHEN "#
                    + #"'Worker' THEN 'Guest' WHEN 'Guest' THEN 'Guest_removed' ELSE "_entity" END, "id" FROM "#
                    + #""Person""#,
                #"DROP TABLE IF EXISTS "Person""#,
                #"ALTER TABLE "_sync_new_0" RENAME TO "Person""#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id", "_entity")"#,
            ])
        #expect(
            Self.lines(plan.plan.description) == [
                "Person in Person: id: int64 in id",
                "Guest of Person in Person: ",
            ])
    }

    @Test func aRelationshipToWhatIsSetAsideIsNotRecorded() throws {
        let old = try Self.everything()
        let new = try DataModel([
            Self.entity("Person", SyncAttribute("id", .int64)), Self.entity("Label", SyncAttribute("id", .int64)),
        ])
        let plan = try MigrationText(from: old, to: new, naming: SQLNaming(tables: ["Label": "TAG"]), dialect: .sqlite)
        #expect(plan.plan.moves.map { [$0.from, $0.to] } == [["Tag", "Tag_removed"]])
        #expect(
            Self.lines(plan.plan.description) == [
                "Person in Person: id: int64 in id, age: int64 in age, boss: Person in Person.boss "
                    + "boss_position to Person, staff: Person in Person.boss boss_position to Person",
                "Label in TAG: id: int64 in id",
                "Guest of Person in Person: room: int64 in room",
            ])
        #expect(
            plan.tables == [
                #"CREATE TABLE "Person" ("_id" INTEGER PRIMARY KEY, "id" INTEGER, "age" INTEGER, "room" "#
                    + #"INTEGER, "boss" INTEGER REFERENCES "Person"("_id") ON DELETE SET NULL DEFERRABLE "#
                    + #"INITIALLY DEFERRED, "boss_position" INTEGER, "tag" INTEGER REFERENCES "#
                    + #""Tag_removed"("_id") ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED)"#,
                #"CREATE TABLE "TAG" ("_id" INTEGER PRIMARY KEY, "id" INTEGER)"#,
                #"CREATE TABLE "Person_tags" ("Person" INTEGER NOT NULL REFERENCES "Person"("_id") ON "#
                    + #"DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, "Tag" INTEGER NOT NULL REFERENCES "#
                    + #""Tag_removed"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, "position" "#
                    + #"INTEGER, PRIMARY KEY ("Person", "Tag"))"#,
            ])
    }

    // MARK: Worlds

    private static func entity(_ name: String, _ attributes: SyncAttribute...) -> SyncEntity {
        SyncEntity(name, identity: ["id"], attributes: attributes, relationships: [])
    }

    /// People and guests among them, with a boss, friends and tags.
    private static func everything() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("age", .int64)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toOrdered: "Person", inverse: "boss")
                SyncRelationship("tags", toOrdered: "Tag", inverse: "people")
                SyncRelationship("tag", toOne: "Tag")
            }
            SyncEntity("Guest", parent: "Person") { SyncAttribute("room", .int64) }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "tags")
                SyncRelationship("owner", toOne: "Person")
            }
        }
    }

    /// The entities that a database records, with the columns of attributes and relationships.
    private static func lines(_ description: SQLSchemaDescription) -> [String] {
        description.entities.map { entity in
            let attributes = entity.attributes.map { "\($0.name): \($0.type) in \($0.column)" }
            let relationships = entity.relationships.map { "\($0.name): \($0.destination) in \(text($0.storage))" }
            let table = description.families[description.root(of: entity.name)] ?? "nothing"
            let parent = entity.parent.map { " of \($0)" } ?? ""
            return "\(entity.name)\(parent) in \(table): \((attributes + relationships).joined(separator: ", "))"
        }
    }

    private static func text(_ storage: SQLSchema.Storage) -> String {
        switch storage {
        case .column(let link), .inverseColumn(let link):
            "\(link.table).\(link.column)\(link.position.map { " \($0)" } ?? "") to \(link.target)"
        case .join(let link):
            "\(link.table).\(link.source).\(link.target) \(link.position ?? "") \(link.inversePosition ?? "") "
                + "from \(link.sourceTable) to \(link.targetTable)"
        }
    }
}
