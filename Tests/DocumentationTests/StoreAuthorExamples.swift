import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

/// Receives the keys of deleted objects.
actor Journal {
    private(set) var keys: [String: [StoredRecord.Key]] = [:]

    func add(_ deleted: [String: [StoredRecord.Key]]) {
        keys.merge(deleted) { $0 + $1 }
    }
}

/// A store that reports each deletion after its transaction has committed.
struct JournaledStore: Store {
    let base: any Store
    let journal: Journal

    var model: DataModel { base.model }

    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        let deletions = Journal()
        let result = try await base.transaction { transaction in
            try await body(JournaledTransaction(base: transaction, deletions: deletions))
        }
        await journal.add(deletions.keys)  // only what was committed
        return result
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

struct JournaledTransaction: StoreTransaction {
    let base: any StoreTransaction
    let deletions: Journal

    var model: DataModel { base.model }
    var batchRowCount: Int { base.batchRowCount }

    // Reading: sees the transaction's own writes.
    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await base.count(query)
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        try await base.links(relationship, of: sources)
    }

    // Writing: one call per batch, never one per object.
    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await base.find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        try await base.merge(request)
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        try await base.changeEntity(of: objects, from: former, to: entity)
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        try await base.link(batch)
    }

    func settleValues() async throws -> [StoreError.Refusal] {
        try await base.settleValues()
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let result = try await base.remove(query, reportsKeys: true)
        await deletions.add(result.keys)
        return reportsKeys ? result : RemovalResult(counts: result.counts)
    }
}

/// The guide about writing a store.
@Suite(.endsInTime) struct StoreAuthorExamples {
    @Test func journaledStoreConforms() async throws {
        try await StoreConformance.check { model in
            JournaledStore(base: MemoryStore(exactly: model), journal: Journal())
        }
    }

    @Test func itReportsWhatWasCommitted() async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") { SyncAttribute("id", .int64, optional: false) }
        }
        let journal = Journal()
        let store = JournaledStore(base: MemoryStore(exactly: model), journal: journal)
        var user = Record(of: try model.layout(of: "User"))
        user["id"] = .int(7)
        _ = try await store.transaction { [user] in try await $0.insert(user) }
        await #expect(throws: CancellationError.self) {
            try await store.transaction { transaction in
                _ = try await transaction.remove(StoreQuery("User"), reportsKeys: false)
                throw CancellationError()
            }
        }
        #expect(await journal.keys.isEmpty)
        try await store.transaction { _ = try await $0.remove(StoreQuery("User"), reportsKeys: false) }
        #expect(await journal.keys["User"]?.count == 1)
    }
}
