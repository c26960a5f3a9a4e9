#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
@testable import SyncStorePostgres
import SyncStoreSQL
import Testing

/// How the server finds the rows of a batch.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresPlanTests {
    private func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("tags", toMany: "Tag", inverse: "people")
            }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("people", toMany: "Person", inverse: "tags")
            }
        }
    }

    /// Inserts people with one tag, and links them.
    private func fill(_ store: PostgresStore, count: Int) async throws {
        try await store.transaction { transaction in
            func insert(_ entity: String, _ count: Int) async throws -> [ObjectID] {
                var batch = RecordBatch(of: try transaction.model.layout(of: entity))
                for id in 0..<count {
                    batch.beginRecord()
                    batch.setValue(.int(Int64(id)), at: 0)
                    batch.endRecord()
                }
                return try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
            }
            let tags = try await insert("Tag", 1)
            let people = try await insert("Person", count)
            let relationship = try #require(try transaction.model.layout(of: "Person").relationship("tags"))
            var links = LinkBatch(relationship, mode: .replace)
            for person in people { links.append(person, to: tags) }
            #expect(try await transaction.link(links).changed.count == count)
        }
    }

    /// How many rows each table has, as the planner knows; -1 if it knows nothing.
    private static let known = """
        SELECT c.relname::text, c.reltuples::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relname IN ('Person', 'Tag', 'Person_tags') ORDER BY 1
        """

    /// Few links wait for the commit to a far server, which gathers the statistics before them.
    @Test(arguments: [100, 10_000], [false, true])
    func thePlannerKnowsLargeNewTables(count: Int, isFar: Bool) async throws {
        try await SharedPostgres.withSchemas { schemas in
            var options = schemas.emptyStore()
            if isFar { options.farRoundTrip = .zero }
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            try await fill(store, count: count)
            let known = count < 10_000 ? "-1" : "\(count)"
            let expected: [[String?]] = [["Person", known], ["Person_tags", known], ["Tag", "-1"]]
            #expect(try await schemas.run(Self.known, in: options) == expected)
        }
    }

    @Test func statisticsOfATableWithDescendantsAreLeftToOthers() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            try await schemas.run(#"CREATE TABLE part () INHERITS ("Person")"#, in: options)
            try await fill(store, count: 10_000)
            let known = try await schemas.run(Self.known, in: options)
            #expect(known == [["Person", "-1"], ["Person_tags", "10000"], ["Tag", "-1"]])
        }
    }

    /// An index of somebody else whose function fails when statistics are gathered.
    @Test func aSyncGoesOnWithoutStatistics() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let store = try await PostgresStore(exactly: try model(), at: schemas.url, options: options)
            try await schemas.run(
                """
                CREATE FUNCTION odd(id bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
                BEGIN IF current_query() LIKE '%ANALYZE%' THEN RAISE 'no'; END IF; RETURN id; END $$;
                CREATE INDEX odd ON "Person" (odd(id))
                """, in: options)
            try await fill(store, count: 10_000)
            let found = try await schemas.run(#"SELECT count(*) FROM "Person""#, in: options)
            #expect(found == [["10000"]])
            #expect(try await schemas.run(Self.known, in: options).first == ["Person", "-1"])
        }
    }

    /// With the server's default costs, the whole table would be read for each batch.
    @Test func linksOfABatchAreLookedUpInALargeTable() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let model = try DataModel {
                SyncEntity("Person", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("spouse", toOne: "Person")
                }
            }
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            try await schemas.run(
                #"INSERT INTO "Person" (_id, id) OVERRIDING SYSTEM VALUE SELECT n, n FROM generate_series(1, 100000) n; "#
                    + #"UPDATE "Person" SET spouse = _id; ANALYZE "Person""#,
                in: options)
            let links = try #require(try model.layout(of: "Person").relationship("spouse"))
            let rows = "'{\((50_000..<54_000).map(String.init).joined(separator: ","))}'::bigint[]"
            let text = SQLQueries(SQLSchema(model, dialect: .postgres(schema: options.schema))).links(links, of: rows)
            try await store.writer.beginWriting()
            let plan = try await store.writer.connected { connection in
                let found = try connection.execute("EXPLAIN (FORMAT JSON) \(text)")
                connection.rollback()
                return found.text(0, 0) ?? ""
            }
            await store.writer.rollback()
            #expect(plan.contains("Index") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }
}
#endif
