#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Values and names that databases treat each in its own way, beside a store in memory.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresOddValueTests {
    private func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Page", identity: "url") {
                SyncAttribute("url", .string)
                SyncAttribute("size", .double)
            }
            SyncEntity("Post", parent: "Page") { SyncAttribute("title", .string) }
            SyncEntity("Part", identity: "path", "number", "bytes") {
                SyncAttribute("path", .uri)
                SyncAttribute("number", .int64)
                SyncAttribute("bytes", .binary)
            }
        }
    }

    /// Texts that do not get much shorter when they are compressed, which an index would do.
    private func texts() -> [String] {
        var random = SeededRandom(seed: 5)
        func text(_ count: Int, _ letters: [Character]) -> String {
            String((0..<count).map { _ in letters.randomElement(using: &random) ?? "x" })
        }
        let letters =
            (33..<127).compactMap(UnicodeScalar.init).map(Character.init) + ["\u{1}", "\u{0}", "ü", "\u{1F600}"]
        let long = text(60_000, letters)
        return [
            "", "a", "A", "\\", "a\u{0}", "a\u{0}b", "\u{1}", text(1999, ["x"]), text(2000, ["x"]), text(2001, ["x"]),
            text(2704, letters), text(2705, letters), text(9000, letters), long, long + "\\", long + "\\000",
            long + "\u{0}",
        ]
    }

    private func pages(_ texts: [String], size: Double, _ model: DataModel, of entity: String) throws -> RecordBatch {
        var batch = RecordBatch(of: try model.layout(of: entity))
        for text in texts {
            batch.beginRecord()
            batch.setValue(.string(text), at: 0)
            batch.setDouble(size, at: 1)
            batch.endRecord()
        }
        return batch
    }

    @Test func keysOfAnyLengthAreKeys() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let (model, texts) = (try model(), texts())
            let stored = try await PostgresStore(exactly: model, at: schemas.url, options: schemas.emptyStore())
            let memory = MemoryStore(exactly: model)
            let payloads = [
                try pages(texts, size: 1, model, of: "Page"), try pages(texts.reversed(), size: 1, model, of: "Page"),
                try pages(texts.suffix(5), size: 2, model, of: "Page"),
                try pages(Array(texts.prefix(3)) + ["new"], size: 3, model, of: "Post"),
            ]
            for payload in payloads {
                let found = try await stored.transaction { try await $0.merge(MergeRequest(payload)) }
                let expected = try await memory.transaction { try await $0.merge(MergeRequest(payload)) }
                #expect(found.rows.map { $0?.change } == expected.rows.map { $0?.change })
                let sought = try await stored.transaction { try await $0.find(payload) }
                #expect(sought == found.objects)
            }
            for text in texts {
                for predicate in [
                    PropertyPath("url") == text, !(PropertyPath("url") == text), PropertyPath("url") < text,
                ] {
                    let query = StoreQuery("Page", where: predicate)
                    #expect(try await stored.count(query) == memory.count(query))
                }
                #expect(try await stored.record("Page", key: .identity(text))?.record["url"] == .string(text))
            }
            let query = StoreQuery("Page", where: .isIn(PropertyPath("url"), texts.map { .string($0) }))
            #expect(try await stored.count(query) == memory.count(query))
            let ordered = StoreQuery("Page", orderedBy: [Ordering("url")])
            #expect(try await stored.records(ordered).map(\.key) == memory.records(ordered).map(\.key))
        }
    }

    @Test func theDatabaseRefusesALongKeyTwice() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let text = texts()[13]
            let model = try model()
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            let batch = try pages([text], size: 1, model, of: "Page")
            _ = try await store.transaction { try await $0.merge(MergeRequest(batch)) }
            let copy = #"INSERT INTO "Page" (_entity, url) SELECT _entity, url FROM "Page""#
            await #expect(throws: (any Error).self) { try await schemas.run(copy, in: options) }
        }
    }

    @Test func shortKeysAreLookedUpInTheirIndex() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            let model = try DataModel {
                SyncEntity("Page", identity: "url") { SyncAttribute("url", .string) }
            }
            let store = try await PostgresStore(exactly: model, at: schemas.url, options: options)
            var batch = RecordBatch(of: try model.layout(of: "Page"))
            for number in 0..<3000 {
                batch.beginRecord()
                batch.setValue(.string("page \(number)"), at: 0)
                batch.endRecord()
            }
            let records = batch
            _ = try await store.transaction { try await $0.merge(MergeRequest(records)) }
            let plan = try await schemas.run(
                """
                ANALYZE "Page";
                EXPLAIN SELECT 1 FROM "Page" t WHERE t.url COLLATE "C" = 'page 7'::text
                    AND pg_catalog.octet_length(t.url) <= 2000
                """, in: options)
            #expect(plan.contains { $0[0]?.contains("Page_identity") == true })
        }
    }

    @Test func identitiesOfSeveralLongPartsAreKeys() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let model = try model()
            let stored = try await PostgresStore(exactly: model, at: schemas.url, options: schemas.emptyStore())
            let memory = MemoryStore(exactly: model)
            let texts = texts()
            var batch = RecordBatch(of: try model.layout(of: "Part"))
            for text in texts {
                for other in [Data(), Data([0, 1, 92]), Data((texts.last ?? "").utf8.prefix(5000))] {
                    batch.beginRecord()
                    batch.setValue(.uri(text), at: 0)
                    batch.setInt(7, at: 1)
                    batch.setValue(.binary(other), at: 2)
                    batch.endRecord()
                }
            }
            let records = batch
            for _ in 0..<2 {
                let found = try await stored.transaction { try await $0.merge(MergeRequest(records)) }
                let expected = try await memory.transaction { try await $0.merge(MergeRequest(records)) }
                #expect(found.rows.map { $0?.change } == expected.rows.map { $0?.change })
            }
            #expect(try await stored.count(StoreQuery("Part")) == memory.count(StoreQuery("Part")))
        }
    }

    @Test func aZeroHasNoSign() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let model = try model()
            let stores: [any Store] = [
                MemoryStore(exactly: model),
                try await PostgresStore(exactly: model, at: schemas.url, options: schemas.emptyStore()),
            ]
            for store in stores {
                let batch = try pages(["a"], size: -0.0, model, of: "Page")
                _ = try await store.transaction { try await $0.merge(MergeRequest(batch)) }
                guard case .double(let number) = try await store.records(StoreQuery("Page")).first?.record["size"]
                else {
                    throw TestError("no number")
                }
                #expect(number.sign == .plus)
            }
        }
    }

    @Test func entitiesMayBeCalledLikeTablesOfTheStore() async throws {
        try await SharedPostgres.withDatabase { database in
            let names = [
                "_sync_schema", "_sync_doomed", "_sync_batch_0", "_sync_new_0", "_sync_leases", "_sync_work",
                "_sync_work_passes",
                "_sync_work_waiting", "pg_class", "_sync_rows_x",
            ]
            let model = try DataModel(
                names.map {
                    SyncEntity($0, identity: ["id"], attributes: [SyncAttribute("id", .int64)], relationships: [])
                })
            for _ in 0..<2 {
                let store = try await PostgresStore(exactly: model, at: database.url)
                try await PostgresLease("name", at: database.url).withLease {
                    for name in names {
                        var batch = RecordBatch(of: try model.layout(of: name))
                        batch.beginRecord()
                        batch.setInt(7, at: 0)
                        batch.endRecord()
                        let records = batch
                        try await store.transaction { transaction in
                            _ = try await transaction.merge(MergeRequest(records))
                            #expect(try await transaction.count(StoreQuery(name)) == 1)
                            let removed = try await transaction.remove(StoreQuery(name))
                            #expect(removed.counts == [name: 1])
                        }
                    }
                }
            }
        }
    }
}
#endif
