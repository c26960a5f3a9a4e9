import OneWayTestLimits
import SyncModel
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// The indices of tables, and what their violations mean.
@Suite(.endsInTime) struct SchemaTextTests {
    private let world: StatementWorld

    init() throws {
        world = try StatementWorld()
    }

    @Test func indicesHoldWholeValuesOrParts() {
        #expect(
            world.sqlite.tables[0].indices.map { $0.creation(on: "Item", .sqlite) } == [
                #"CREATE UNIQUE INDEX "Item_identity" ON "Item" ("code")"#,
                #"CREATE INDEX "Item_owner" ON "Item" ("owner") WHERE "owner" IS NOT NULL"#,
                #"CREATE INDEX "Item_label" ON "Item" ("label") WHERE "label" IS NOT NULL"#,
                #"CREATE INDEX "Item_by_title" ON "Item" ("title")"#,
                #"CREATE UNIQUE INDEX "Item_by_bytes_price" ON "Item" ("bytes", "price")"#,
                #"CREATE INDEX "Item_by_count" ON "Item" ("count") WHERE "isNew" = 1 AND "size" IS NOT NULL"#,
            ])
        #expect(
            world.postgres.tables[0].indices.map { $0.creation(on: "Item", world.postgres.dialect).withoutSchema } == [
                #"CREATE UNIQUE INDEX "Item_identity" ON "Item" ("code") WHERE "#
                    + #"pg_catalog.octet_length("code") <= 2000"#,
                #"CREATE UNIQUE INDEX "Item_long_identity" ON "Item" "#
                    + #"((pg_catalog.sha256(pg_catalog.decode(pg_catalog.replace("code", '\'::text, "#
                    + #"'\\'::text), 'escape'::text)))) WHERE pg_catalog.octet_length("code") > 2000"#,
                #"CREATE INDEX "Item_owner" ON "Item" ("owner") WHERE "owner" IS NOT NULL"#,
                #"CREATE INDEX "Item_label" ON "Item" ("label") WHERE "label" IS NOT NULL"#,
                #"CREATE INDEX "Item_by_title" ON "Item" (pg_catalog."left"("title" COLLATE "C", 128) NULLS FIRST)"#,
                #"CREATE UNIQUE INDEX "Item_by_bytes_price" ON "Item" (pg_catalog.substring("bytes", 1, "#
                    + #"512) NULLS FIRST, "price" NULLS FIRST, (pg_catalog.sha256("bytes")))"#,
                #"CREATE INDEX "Item_by_count" ON "Item" ("count" NULLS FIRST) WHERE "isNew" = "#
                    + #"'true'::boolean AND "size" IS NOT NULL"#,
            ])
    }

    @Test func indicesOfMembersOfAFamilyNameThem() throws {
        var guest = SyncEntity("Guest", parent: "Person") { SyncAttribute("room", .string) }
        guest.indexes = [SyncEntity.Index(["room", "id"], unique: true, where: PropertyPath("id") > 5)]
        let model = try DataModel([
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }, guest,
            SyncEntity("Friend", parent: "Guest", identity: "badge") { SyncAttribute("badge", .string) },
        ])
        func creations(_ dialect: any SQLDialect) -> [String] {
            SQLSchema(model, dialect: dialect).tables[0].indices.map {
                $0.creation(on: "Person", dialect).withoutSchema
            }
        }
        #expect(
            creations(.sqlite) == [
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id", "_entity") WHERE "_entity" IN "#
                    + "('Person', 'Guest')",
                #"CREATE UNIQUE INDEX "Friend_identity" ON "Person" ("id", "badge", "_entity") WHERE "#
                    + #""_entity" IN ('Friend')"#,
                #"CREATE UNIQUE INDEX "Guest_by_room_id" ON "Person" ("room", "id") WHERE "id" > 5 AND "#
                    + #""_entity" IN ('Guest', 'Friend')"#,
            ])
        #expect(
            creations(.postgres(schema: "public")) == [
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id", "_entity") WHERE "_entity" IN "#
                    + "('Person', 'Guest')",
                #"CREATE UNIQUE INDEX "Friend_identity" ON "Person" ("id", "badge", "_entity") WHERE "#
                    + #""_entity" IN ('Friend') AND pg_catalog.octet_length("badge") <= 2000"#,
                #"CREATE UNIQUE INDEX "Friend_long_identity" ON "Person" (("id"), "#
                    + #"(pg_catalog.sha256(pg_catalog.decode(pg_catalog.replace("badge", '\'::text, "#
                    + #"'\\'::text), 'escape'::text))), "_entity") WHERE "_entity" IN ('Friend') AND "#
                    + #"pg_catalog.octet_length("badge") > 2000"#,
                #"CREATE UNIQUE INDEX "Guest_by_room_id" ON "Person" (pg_catalog."left"("room" COLLATE "#
                    + #""C", 128) NULLS FIRST, "id" NULLS FIRST, "#
                    + #"(pg_catalog.sha256(pg_catalog.decode(pg_catalog.replace("room", '\'::text, '\\'::text), "#
                    + #"'escape'::text)))) WHERE "id" > 5 AND "_entity" IN ('Guest', 'Friend')"#,
            ])
    }

    @Test func theAttributesOfAUniqueIndexAreToldByItsName() throws {
        let schema = world.postgres
        #expect(schema.attributes(ofUniqueIndex: "Item_by_bytes_price", entity: 0) == ["bytes", "price"])
        #expect(schema.attributes(ofUniqueIndex: "Item_by_title", entity: 0) == nil)
        #expect(schema.attributes(ofUniqueIndex: "Item_identity", entity: 0) == nil)
        #expect(schema.attributes(ofUniqueIndex: "Item_by_bytes_price", entity: 1) == nil)
    }

    @Test func equalValuesAreToldByTheIndexThatIsMade() {
        let index = world.sqlite.tables[0].indices[0]
        #expect(
            world.sqlite.equalValues(creating: index.creation(on: "Item", .sqlite))
                == .equalValues(table: "Item", index: #"Item_identity ("code")"#))
        #expect(world.sqlite.equalValues(creating: index.creation(on: "Tag", .sqlite)) == nil)
        #expect(world.sqlite.equalValues(creating: #"CREATE INDEX "Item_by_title" ON "Item" ("title")"#) == nil)
    }

    @Test func newObjectsHaveValuesInTheirColumns() throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("team", toOne: "Team", inverse: "people")
                SyncRelationship("row", toOne: "Team", inverse: "ordered")
                SyncRelationship("like", toOne: "Team")
            }
            SyncEntity("Guest", parent: "Person") { SyncAttribute("room", .int64) }
            SyncEntity("Team", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "team")
                SyncRelationship("ordered", toOrdered: "Person", inverse: "row")
            }
        }
        let schema = SQLSchema(model, dialect: .sqlite)
        #expect(schema.filledColumns(family: 0) == ["_id", "_entity", "id", "room", "team", "row", "row_position"])
        #expect(schema.filledColumns(family: 1) == ["_id", "id"])
    }

    @Test func columnsForTablesOfOthersSuitTheirTypes() throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("isNew", .bool)
                SyncAttribute("born", .date)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toOrdered: "Person", inverse: "boss", deleteRule: .deny)
            }
        }
        var schema = SQLSchema(model, dialect: .sqlite)
        let names = ["isNew", "born", "boss", "boss_position", "nothing", "_entity"]
        #expect(
            names.map { schema.addition(of: $0, toFamily: 0) } == [
                #""isNew" BOOLEAN"#, #""born" DATETIME"#,
                #""boss" INTEGER REFERENCES "Person"("_id") ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"#,
                #""boss_position" INTEGER"#, nil, nil,
            ])
        schema.strictTables = ["Person"]
        schema.keyColumns = ["Person": "number"]
        #expect(
            names.prefix(3).map { schema.addition(of: $0, toFamily: 0) } == [
                #""isNew" INTEGER"#, #""born" TEXT"#,
                #""boss" INTEGER REFERENCES "Person"("number") ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"#,
            ])
    }

    @Test func namesThatAreTakenGetANumber() throws {
        let names = ["a", "A", "a_table", "A_table", "a_TABLE"]
        let model = try DataModel(
            names.map { name in SyncEntity(name, identity: "id") { SyncAttribute("id", .int64) } })
        let schema = SQLSchema(model, dialect: .sqlite)
        #expect(schema.tables.map(\.name) == ["a", "A_table", "a_table_table", "A_table_table_2", "a_TABLE_table_3"])
    }

    @Test func namesThatAreCutGetANumber() throws {
        let long = String(repeating: "n", count: 70)
        let cut = try DataModel(
            (1...3).map { number in
                SyncEntity("\(long)\(number)", identity: "id") { SyncAttribute("id", .int64) }
            })
        let names = SQLSchema(cut, dialect: .postgres(schema: "public")).tables.map(\.name)
        let beginning = String(long.prefix(61))
        #expect(names == ["\(beginning)nn", "\(beginning)_2", "\(beginning)_3"])
    }
}
