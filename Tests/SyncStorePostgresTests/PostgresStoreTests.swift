#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreTesting
import Testing

@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresStoreTests {
    @Test func isAStore() async throws {
        try await SharedPostgres.withSchemas { schemas in
            try await StoreConformance.check {
                try await PostgresStore(exactly: $0, at: schemas.url, options: schemas.emptyStore())
            }
        }
    }

    @Test func rowsThatAreTheSameAreNotWritten() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url)
            try await store.put(0..<100)
            let versions = #"SELECT id, xmin, ctid FROM "User" ORDER BY id"#
            let before = try await database.run(versions)
            let result = try await store.put(0..<100)
            #expect(result.rows.allSatisfy { $0?.change == .unchanged })
            #expect(try await database.run(versions) == before)
            try await store.put([7], name: "b")
            let after = try await database.run(versions)
            #expect(zip(before, after).filter { $0 != $1 }.map(\.0[0]) == ["7"])
        }
    }

    @Test func columnsAreOfNaturalTypes() async throws {
        try await SharedPostgres.withDatabase { database in
            let model = try DataModel {
                SyncEntity("Thing", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("small", .int16)
                    SyncAttribute("medium", .int32)
                    SyncAttribute("real", .double)
                    SyncAttribute("exact", .decimal)
                    SyncAttribute("name", .string)
                    SyncAttribute("flag", .bool)
                    SyncAttribute("at", .date)
                    SyncAttribute("bytes", .binary)
                    SyncAttribute("uuid", .uuid)
                    SyncRelationship("parent", toOne: "Thing")
                }
            }
            _ = try await PostgresStore(exactly: model, at: database.url)
            let types = try await database.run(
                """
                SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
                WHERE attrelid = '"Thing"'::regclass AND attnum > 0
                """)
            #expect(
                types == [
                    [
                        "bigint, bigint, smallint, integer, double precision, numeric, text, boolean, "
                            + "timestamp with time zone, bytea, uuid, bigint"
                    ]
                ])
            let keys = try await database.run("SELECT confdeltype FROM pg_constraint WHERE contype = 'f'")
            #expect(keys == [["n"]])
        }
    }

    @Test func severalStoresOfASchemaWriteInTurn() async throws {
        try await SharedPostgres.withDatabase { database in
            let stores = [
                try await PostgresWorld.store(at: database.url), try await PostgresWorld.store(at: database.url),
                try await PostgresWorld.store(at: database.url),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask {
                        for round in 0..<10 {
                            // All of them write the same objects, and each some of its own, in
                            // orders of their own.
                            let ids = Array(0..<20) + (0..<5).map { 1000 * (number + 1) + 5 * round + $0 }
                            try await store.put(number == 1 ? ids.reversed() : ids, name: "\(number)-\(round)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await stores[0].count(StoreQuery("User")) == 20 + 3 * 50)
            let names = try await stores[0].names().prefix(20)
            #expect(Set(names).count == 1)
        }
    }

    @Test func readersSeeTheOldStateUntilTheCommit() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url)
            let other = try await PostgresWorld.store(at: database.url)
            try await store.put([1])
            try await other.read { reader in
                #expect(try await reader.count(StoreQuery("User")) == 1)
                try await store.put([2])
                // One reader, one state.
                #expect(try await reader.count(StoreQuery("User")) == 1)
            }
            #expect(try await other.count(StoreQuery("User")) == 2)
        }
    }

    @Test func aBatchTakesAsManyMessagesAsAnother() async throws {
        guard PostgresServer.isInstalled else { return }
        let server = try await PostgresServer()
        let proxy = try TestProxy(to: server)
        defer { proxy.close() }
        // A slow machine sends no signs of life in between, which would count.
        let store = try await PostgresWorld.store(at: proxy.url()) { $0.silenceLimit = .seconds(3600) }
        // Asks once whether the table is empty.
        try await store.put([1])
        try await store.put(1..<1000)
        var counts: [Int] = []
        for size in [10, 2000, 4000] {
            let before = proxy.answerCount
            let batch = try PostgresWorld.batch(size..<(2 * size), name: "\(size)")
            try await store.transaction { transaction in
                let rows = try await transaction.merge(MergeRequest(batch)).rows.compactMap { $0?.object }
                guard let staff = try transaction.model.layout(of: "User").relationship("staff") else { return }
                var links = LinkBatch(staff, mode: .replace)
                for (place, row) in rows.enumerated() { links.append(row, to: [rows[(place + 1) % size]]) }
                _ = try await transaction.link(links)
                _ = try await transaction.remove(StoreQuery("User", where: PropertyPath("id") > size))
            }
            counts.append(proxy.answerCount - before)
        }
        #expect(counts[1] == counts[2])
        // The rows of a small one are in the message of their merge.
        #expect(counts[0] <= counts[1])
        #expect(counts[1] <= 10)
        await server.close()
    }

    @Test func aMomentThatPostgreSQLDoesNotKnowIsRefused() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let model = try DataModel {
                SyncEntity("Event", attributes: [SyncAttribute("at", .date)], relationships: [])
            }
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: schemas.emptyStore())
            var batch = RecordBatch(of: try model.layout(of: "Event"))
            batch.beginRecord()
            // The first moment itself stands for `-infinity`.
            batch.setDate(Timestamp(microseconds: .min + 1), at: 0)
            batch.endRecord()
            let records = batch
            await #expect(throws: StoreError.unsuitableValue(entity: "Event", attribute: "at")) {
                try await store.transaction {
                    _ = try await $0.merge(MergeRequest(records))
                }
            }
            let before = StoreQuery(
                "Event", where: .comparison(PropertyPath("at"), .less, .date(Timestamp(microseconds: .min + 1))))
            #expect(try await store.count(before) == 0)
        }
    }

    @Test func aSchemasNameIsDataToo() async throws {
        try await SharedPostgres.withDatabase { database in
            let names = [#"a"; DROP TABLE "User"; --"#, "'); --", "$1", "é ü", "\\", "a\"\u{301}; --"]
            for name in names {
                let store = try await PostgresWorld.store(at: database.url) { $0.schema = name }
                try await store.put([1])
                #expect(try await store.count(StoreQuery("User")) == 1)
            }
            let found = try await database.run("SELECT count(*) FROM pg_tables WHERE tablename = 'User'")
            #expect(found == [["\(names.count)"]])
        }
    }
}
#endif
