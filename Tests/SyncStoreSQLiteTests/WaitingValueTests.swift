import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Values of unique indexes that wait in a transaction, because another object still has them.
@Suite(.endsInTime) struct WaitingValueTests {
    private let store: SQLiteStore

    init() async throws {
        var person = SyncEntity("Person", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string)
        }
        person.indexes = [SyncEntity.Index(["name"], unique: true)]
        store = try await SQLiteStore(exactly: DataModel([person]), at: .memory)
        _ = try await store.transaction { try await Self.merge([(1, "a"), (2, "b")], $0) }
    }

    private static func merge(
        _ rows: [(id: Int64, name: String)], _ transaction: any StoreTransaction
    ) async throws -> [MergeRequest.Result.Change?] {
        var batch = RecordBatch(of: try transaction.model.layout(of: "Person"))
        for row in rows {
            batch.beginRecord()
            batch.setInt(row.id, at: 0)
            batch.setValue(.string(row.name), at: 1)
            batch.endRecord()
        }
        return try await transaction.merge(MergeRequest(batch)).rows.map { $0?.change }
    }

    private func names() async throws -> [AttributeValue] {
        try await store.records(StoreQuery("Person", orderedBy: [.init("id")])).map { $0.record["name"] }
    }

    @Test func aValueWaitsUntilItIsFree() async throws {
        let (changes, refused) = try await store.transaction { transaction in
            let first = try await Self.merge([(1, "b")], transaction)
            let second = try await Self.merge([(2, "c")], transaction)
            return (first + second, try await transaction.settleValues())
        }
        #expect(changes == [.updated, .updated] && refused.isEmpty)
        #expect(try await names() == ["b", "c"])
    }

    /// A later value replaces the one that waits, whether it is free or not.
    @Test(arguments: [("z", MergeRequest.Result.Change.updated, true), ("b", .unchanged, false)])
    func theLastValueCounts(name: String, change: MergeRequest.Result.Change, isFree: Bool) async throws {
        let refused = try await store.transaction { transaction in
            #expect(try await Self.merge([(1, "b")], transaction) == [.updated])
            #expect(try await Self.merge([(1, name)], transaction) == [change])
            let refused = try await transaction.settleValues()
            if !refused.isEmpty { _ = try await Self.merge([(1, "a")], transaction) }
            return refused
        }
        #expect(refused.map(\.key) == (isFree ? [] : [.identity(1)]))
        #expect(try await names() == [isFree ? "z" : "a", "b"])
    }
}
