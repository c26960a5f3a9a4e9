import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import SyncStoreSQLite
import Testing

/// What is written for the databases, word by word. What it does is for the stores' tests.
@Suite(.endsInTime) struct SQLTextTests {
    private let schema: SQLSchema
    private let postgresSchema: SQLSchema

    init() throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("born", .date)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toOrdered: "Person", inverse: "boss", deleteRule: .deny)
                SyncRelationship("tags", toOrdered: "Tag", deleteRule: .cascade)
            }
            SyncEntity("Employee", parent: "Person") { SyncAttribute("salary", .decimal) }
            SyncEntity("Tag", identity: "name") { SyncAttribute("name", .string) }
        }
        let naming = SQLNaming(tables: ["Tag": "labels"], columns: ["Person.name": "full name"])
        schema = SQLSchema(model, naming: naming, dialect: .sqlite)
        postgresSchema = SQLSchema(model, naming: naming, dialect: .postgres(schema: "public"))
    }

    @Test func tablesAreNatural() {
        let lines = schema.tables.flatMap { table in
            [table.creation(.sqlite)] + table.indices.map { $0.creation(on: table.name, .sqlite) }
        }
        #expect(
            lines == [
                #"CREATE TABLE "Person" ("_id" INTEGER PRIMARY KEY, "_entity" TEXT NOT NULL, "id" INTEGER, "full name" TEXT, "#
                    + #""born" DATETIME, "salary" TEXT, "boss" INTEGER REFERENCES "Person"("_id") ON DELETE NO ACTION "#
                    + #"DEFERRABLE INITIALLY DEFERRED, "boss_position" INTEGER)"#,
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id", "_entity")"#,
                #"CREATE INDEX "Person_boss" ON "Person" ("boss") WHERE "boss" IS NOT NULL"#,
                #"CREATE TABLE "labels" ("_id" INTEGER PRIMARY KEY, "name" TEXT)"#,
                #"CREATE UNIQUE INDEX "Tag_identity" ON "labels" ("name")"#,
                #"CREATE TABLE "Person_tags" ("Person" INTEGER NOT NULL REFERENCES "Person"("_id") ON DELETE CASCADE "#
                    + #"DEFERRABLE INITIALLY DEFERRED, "Tag" INTEGER NOT NULL REFERENCES "labels"("_id") ON DELETE CASCADE "#
                    + #"DEFERRABLE INITIALLY DEFERRED, "position" INTEGER, PRIMARY KEY ("Person", "Tag"))"#,
                #"CREATE INDEX "Person_tags_Tag" ON "Person_tags" ("Tag")"#,
            ])
    }

    @Test(arguments: [
        (#"name = "O'Neill""#, #"t."full name" COLLATE BINARY = ?"#, [SQLBinding.text("O'Neill")]),
        ("id > 3 and id <= 9", #"(t."id" > ?) AND (t."id" <= ?)"#, [.integer(3), .integer(9)]),
        (
            "not (name = null or id in (1, 2))", #"(NOT (t."full name" IS NULL)) AND (NOT (t."id" IN (?, ?)))"#,
            [.integer(1), .integer(2)]
        ),
        ("id < 2.5", #"t."id" < ?"#, [.real(2.5)]),
        (
            "name beginswith 'é'",
            #"(t."full name" COLLATE BINARY >= ? AND t."full name" COLLATE BINARY < ? AND "#
                + #"(length(CAST(t."full name" AS BLOB)) >= 2 AND substr(CAST(t."full name" AS BLOB), 1, 2) = ?))"#,
            [.text("é"), .text("ê"), .blob(Data([0xC3, 0xA9]))]
        ),
        (
            "boss.boss.id = 1",
            #"t."boss" IN (SELECT r1."_id" FROM "Person" r1 WHERE (r1."boss" IN "#
                + #"(SELECT r2."_id" FROM "Person" r2 WHERE (r2."id" = ?) AND r2."_entity" IN ('Person', 'Employee'))) "#
                + #"AND r1."_entity" IN ('Person', 'Employee'))"#,
            [.integer(1)]
        ),
        (
            "boss = null",
            #"(SELECT r1."_id" FROM "Person" r1 WHERE r1."_id" = t."boss" "#
                + #"AND r1."_entity" IN ('Person', 'Employee')) IS NULL"#, []
        ),
        (
            "staff.@count > 1",
            #"t."_id" IN (SELECT r1."boss" FROM "Person" r1 WHERE r1."boss" IS NOT NULL "#
                + #"AND r1."_entity" IN ('Person', 'Employee') GROUP BY r1."boss" HAVING count(*) >= 2)"#, []
        ),
        (
            "tags.@count = 0",
            #"t."_id" NOT IN (SELECT r2."Person" FROM "Person_tags" r2 GROUP BY r2."Person" "#
                + #"HAVING NOT (count(*) BETWEEN 0 AND 0))"#, []
        ),
    ])
    func predicatesBindTheirValues(text: String, sql: String, bindings: [SQLBinding]) throws {
        try expect(text, sql, bindings, schema)
    }

    private func expect(_ text: String, _ sql: String, _ bindings: [SQLBinding], _ schema: SQLSchema) throws {
        let query = StoreQuery("Person", where: try RecordPredicate(parsing: text))
        let statement = try SQLQueries(schema).rows(query, objectSet: nil)
        #expect(
            statement.text.withoutSchema
                == #"SELECT t."_id" FROM "Person" t WHERE (\#(sql)) AND t."_entity" IN ('Person', 'Employee')"#)
        #expect(statement.bindings == bindings)
    }

    @Test func queriesAreOrderedAndCut() throws {
        let query = StoreQuery(
            "Employee", objects: .except(ObjectSet([7])),
            orderedBy: [Ordering("salary", ascending: false, nulls: .last), Ordering("boss.name")], limit: 5, offset: 2)
        let queries = SQLQueries(schema)
        let source = #"FROM "Person" t WHERE t."_entity" IN ('Employee') AND NOT sync_contains(?, t."_id")"#
        #expect(
            try queries.records(query, objectSet: 3)
                == SQLStatementText(
                    #"SELECT t."_id", t."_entity", t."id", t."full name", t."born", t."salary" \#(source) "#
                        + #"ORDER BY t."salary" COLLATE sync_decimal DESC NULLS LAST, "#
                        + #"(SELECT r1."full name" FROM "Person" r1 WHERE r1."_id" = t."boss" "#
                        + #"AND r1."_entity" IN ('Person', 'Employee')) COLLATE BINARY ASC NULLS FIRST, t."_id" "#
                        + "LIMIT ? OFFSET ?", [.integer(3), .integer(5), .integer(2)]))
        #expect(
            try queries.count(query, objectSet: 3)
                == SQLStatementText(
                    "SELECT count(*) FROM (SELECT 1 \(source) LIMIT ? OFFSET ?) s",
                    [.integer(3), .integer(5), .integer(2)]))
        #expect(
            try queries.rows(StoreQuery("Tag", objects: .only([1, 2])), objectSet: nil)
                == SQLStatementText(
                    #"SELECT t."_id" FROM "labels" t WHERE t."_id" IN (SELECT value FROM json_each(?))"#,
                    [.objects([1, 2])]))
    }

    @Test func deletionsGatherWhatGoesWithThem() {
        let removal = SQLRemoval(schema)
        #expect(removal.cascades.map(\.relationship) == ["tags"])
        #expect(
            removal.cascades.map(\.statement) == [
                "INSERT OR IGNORE INTO temp._sync_doomed (family, row, round) SELECT 1, p.target, ?1 + 1 "
                    + #"FROM temp._sync_doomed d JOIN (SELECT "Person" AS source, "Tag" AS target FROM "Person_tags") p "#
                    + "ON p.source = d.row WHERE d.family = 0 AND d.round = ?1"
            ])
        #expect(
            removal.denials.map(\.statement) == [
                #"SELECT o."_entity" FROM temp._sync_doomed d JOIN (SELECT "boss" AS source, "_id" AS target FROM "Person" "#
                    + #"WHERE "boss" IS NOT NULL) p ON p.source = d.row JOIN "Person" o ON o."_id" = d.row "#
                    + "WHERE d.family = 0 AND NOT EXISTS (SELECT 1 FROM temp._sync_doomed x WHERE x.family = 0 AND x.row = p.target) "
                    + "LIMIT 1"
            ])
        #expect(
            removal.keys(family: 0)
                == #"SELECT o."_id", o."_entity", o."id" FROM temp._sync_doomed d JOIN "Person" o ON o."_id" = d.row "#
                + "WHERE d.family = 0 ORDER BY d.row")
        #expect(removal.familyCounts == "SELECT family, count(*) FROM temp._sync_doomed GROUP BY family")
        #expect(
            removal.entityCounts(family: 0)
                == #"SELECT o."_entity", count(*) FROM temp._sync_doomed d JOIN "Person" o ON o."_id" = d.row "#
                + "WHERE d.family = 0 GROUP BY 1")
        #expect(removal.entityCounts(family: 1) == nil)
        #expect(
            removal.deletion(family: 1)
                == #"DELETE FROM "labels" WHERE "_id" IN (SELECT row FROM temp._sync_doomed WHERE family = 1)"#)
    }

    // MARK: For PostgreSQL, where it differs

    @Test func tablesOfPostgresHaveItsTypes() {
        let lines = postgresSchema.tables.flatMap { table in
            ([table.creation(postgresSchema.dialect)]
                + (table.foreignKeys ?? []).map { $0.creation(on: table.name, postgresSchema.dialect) }
                + table.indices.map { $0.creation(on: table.name, postgresSchema.dialect) }).withoutSchema
        }
        #expect(
            lines == [
                #"CREATE TABLE "Person" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "_entity" text COLLATE "C" "#
                    + #"NOT NULL, "id" bigint, "full name" text COLLATE "C", "born" timestamptz, "salary" numeric, "#
                    + #""boss" bigint, "boss_position" bigint)"#,
                #"ALTER TABLE "Person" ADD CONSTRAINT "Person_boss_fkey" FOREIGN KEY ("boss") REFERENCES "Person"("_id") "#
                    + "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED",
                #"CREATE UNIQUE INDEX "Person_identity" ON "Person" ("id", "_entity")"#,
                #"CREATE INDEX "Person_boss" ON "Person" ("boss") WHERE "boss" IS NOT NULL"#,
                #"CREATE TABLE "labels" ("_id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "name" text COLLATE "C")"#,
                #"CREATE UNIQUE INDEX "Tag_identity" ON "labels" ("name") WHERE pg_catalog.octet_length("name") <= 2000"#,
                #"CREATE UNIQUE INDEX "Tag_long_identity" ON "labels" ((pg_catalog.sha256(pg_catalog.decode("#
                    + #"pg_catalog.replace("name", '\'::text, '\\'::text), 'escape'::text)))) "#
                    + #"WHERE pg_catalog.octet_length("name") > 2000"#,
                #"CREATE TABLE "Person_tags" ("Person" bigint NOT NULL, "Tag" bigint NOT NULL, "position" bigint, "#
                    + #"PRIMARY KEY ("Person", "Tag"))"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Person_fkey" FOREIGN KEY ("Person") "#
                    + #"REFERENCES "Person"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"ALTER TABLE "Person_tags" ADD CONSTRAINT "Person_tags_Tag_fkey" FOREIGN KEY ("Tag") "#
                    + #"REFERENCES "labels"("_id") ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"#,
                #"CREATE INDEX "Person_tags_Tag" ON "Person_tags" ("Tag")"#,
            ])
    }

    @Test(arguments: [
        (#"name = "O'Neill""#, #"t."full name"::text COLLATE "C" = $1::text"#, [SQLBinding.text("O'Neill")]),
        ("id in (1, 2)", #"t."id" IN ($1::bigint, $2::bigint)"#, [.integer(1), .integer(2)]),
        (
            "name beginswith 'é'",
            #"(t."full name"::text COLLATE "C" >= $1::text AND t."full name"::text COLLATE "C" < $2::text "#
                + #"AND starts_with(t."full name"::text COLLATE "C", $3::text))"#, [.text("é"), .text("ê"), .text("é")]
        ),
        (
            "boss.boss.id = 1",
            #"t."boss" IN (SELECT r1."_id" FROM "Person" r1 WHERE (r1."boss" IN "#
                + #"(SELECT r2."_id" FROM "Person" r2 WHERE (r2."id" = $1::bigint) "#
                + #"AND r2."_entity" IN ('Person', 'Employee'))) AND r1."_entity" IN ('Person', 'Employee'))"#,
            [.integer(1)]
        ),
        (
            "tags.@count = 0",
            #"t."_id" NOT IN (SELECT r2."Person" FROM "Person_tags" r2 GROUP BY r2."Person" "#
                + #"HAVING NOT (count(*) BETWEEN 0 AND 0))"#, []
        ),
    ])
    func predicatesOfPostgresBindTheirValues(text: String, sql: String, bindings: [SQLBinding]) throws {
        try expect(text, sql, bindings, postgresSchema)
    }

    @Test func statementsOfPostgresNameTheSchemaOfTheirTables() throws {
        let schema = SQLSchema(postgresSchema.model, dialect: .postgres(schema: #"a "b""#))
        let query = StoreQuery("Tag", where: PropertyPath("name") == "a")
        #expect(
            try SQLQueries(schema).rows(query, objectSet: nil).text
                .hasPrefix(#"SELECT t."_id" FROM "a ""b"""."Tag" t WHERE "#))
        let table = schema.tables[0]
        #expect(table.creation(schema.dialect).hasPrefix(#"CREATE TABLE "a ""b"""."Person" ("#))
        #expect(
            table.indices[0].creation(on: table.name, schema.dialect)
                == #"CREATE UNIQUE INDEX "Person_identity" ON "a ""b"""."Person" ("id", "_entity")"#)
        // The definition of a foreign key is stored, and stays valid if the schema is renamed.
        #expect(
            table.foreignKeys?[0].creation(on: table.name, schema.dialect)
                == #"SET LOCAL search_path TO "a ""b""", pg_temp; "#
                + #"ALTER TABLE "Person" ADD CONSTRAINT "Person_boss_fkey" FOREIGN KEY ("boss") REFERENCES "Person"("_id") "#
                + "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED; SET LOCAL search_path TO pg_catalog, pg_temp")
    }

    @Test func queriesOfPostgresAreOrderedAndCut() throws {
        let query = StoreQuery(
            "Employee", objects: .only([1, 2]),
            orderedBy: [Ordering("salary", ascending: false, nulls: .last), Ordering("boss.name")], limit: 5, offset: 2)
        var statement = try SQLQueries(postgresSchema).records(query, objectSet: nil)
        statement.text = statement.text.withoutSchema
        #expect(
            statement
                == SQLStatementText(
                    #"SELECT t."_id", t."_entity", t."id"::bigint, t."full name"::text, t."born"::timestamptz, "#
                        + #"t."salary"::numeric::text FROM "Person" t WHERE t."_entity" IN ('Employee') "#
                        + #"AND t."_id" = ANY($1::bigint[]) ORDER BY t."salary" DESC NULLS LAST, "#
                        + #"(SELECT r1."full name"::text FROM "Person" r1 WHERE r1."_id" = t."boss" "#
                        + #"AND r1."_entity" IN ('Person', 'Employee')) COLLATE "C" ASC NULLS FIRST, "#
                        + #"t."_id" LIMIT $2::bigint OFFSET $3::bigint"#,
                    [.objects([1, 2]), .integer(5), .integer(2)]))
        #expect(
            SQLRemoval(postgresSchema).cascades.map(\.statement.withoutSchema) == [
                "INSERT INTO pg_temp._sync_doomed (family, row, round) SELECT 1, p.target, $1::bigint + 1 "
                    + #"FROM pg_temp._sync_doomed d JOIN (SELECT "Person" AS source, "Tag" AS target FROM "Person_tags") p "#
                    + "ON p.source = d.row WHERE d.family = 0 AND d.round = $1::bigint ON CONFLICT DO NOTHING"
            ])
    }
}
