import Foundation
import OneWayTestLimits
import SyncBase
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import SyncStoreTesting
import OneWayTestSupport
import Testing

@Suite(.endsInTime) struct SQLiteStoreTests {
    @Test func isAStoreInMemory() async throws {
        try await StoreConformance.check { try await SQLiteStore(exactly: $0, at: .memory) }
    }

    @Test func isAStoreInAFile() async throws {
        let folder = try TemporaryDirectory()
        let fileCount = Locked(0)
        try await StoreConformance.check { model in
            let number = fileCount.withLock { count in
                count += 1
                return count
            }
            return try await SQLiteStore(exactly: model, at: .file(folder.url.appending(path: "\(number).sqlite").path))
        }
    }

    @Test(arguments: [SQLNaming.DateStorage.secondsSince1970, .secondsSince2001])
    func isAStoreWithDatesAsNumbers(dates: SQLNaming.DateStorage) async throws {
        var options = SQLiteStore.Options()
        options.dates = dates
        try await StoreConformance.check { [options] in
            try await SQLiteStore(exactly: $0, at: .memory, options: options)
        }
    }

    /// A batch may name one object twice; a store in memory takes one row after the other, too.
    @Test(arguments: ["memory", "sqlite"])
    func rowsThatNameOneObjectActInTheirOrder(kind: String) async throws {
        let model = try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("size", .int64)
            }
        }
        let store: any Store =
            kind == "memory" ? MemoryStore(exactly: model) : try await SQLiteStore(exactly: model, at: .memory)
        let layout = try model.layout(of: "Thing")
        func batch(_ rows: [[(Int, AttributeValue)]]) -> RecordBatch {
            var batch = RecordBatch(of: layout)
            for row in rows {
                batch.beginRecord()
                for (slot, value) in row { batch.setValue(value, at: slot) }
                batch.endRecord()
            }
            return batch
        }
        let things = batch([[(0, 1), (1, "a")], [(0, 2), (1, "b")]])
        let again = batch([[(1, "x"), (2, 7)], [(1, "y")], [(1, "c")]])
        let identities = batch([[(0, 3)], [(0, 1)]])
        // The first row of a batch is the only one that changes its object.
        let repeated = batch([[(0, 3), (1, "z")], [(0, 3)]])
        try await store.transaction { transaction in
            let objects = try await transaction.merge(MergeRequest(things)).objects.compactMap(\.self)
            let result = try await transaction.merge(
                MergeRequest(again, matches: [.object(objects[0]), .object(objects[0]), .object(objects[1])]))
            #expect(result.rows.map { $0?.change } == [.updated, .updated, .updated])
            // What the first row gives up is free for the second.
            _ = try await transaction.merge(
                MergeRequest(identities, matches: [.object(objects[0]), .object(objects[1])]))
            let changes = try await transaction.merge(MergeRequest(repeated)).rows.map { $0?.change }
            #expect(changes.contains(.updated))
        }
        let records = try await store.records(StoreQuery("Thing", orderedBy: [Ordering("id")])).map(\.record)
        #expect(records.map { $0["id"] } == [1, 3])
        #expect(records.map { $0["name"] } == ["c", "z"])
        #expect(records.map { $0["size"] } == [.null, 7])
    }
}
