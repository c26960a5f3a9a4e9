import Synchronization
import SyncModel
import SyncStore

/// A transaction of a worker, until it has ended.
final class SQLiteTransaction: StoreTransaction {
    let model: Model
    private let worker: SQLiteWorker
    private let hasEnded = Atomic(false)

    init(_ worker: SQLiteWorker, model: Model) {
        self.worker = worker
        self.model = model
    }

    /// Makes it of no use any more.
    func end() {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
    }

    private func checked() throws -> SQLiteWorker {
        guard !hasEnded.load(ordering: .sequentiallyConsistent) else { throw StoreError.transactionEnded }
        return worker
    }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        let worker = try checked()
        let cursor = try await worker.openCursor(query)
        do {
            while true {
                let records = try await checked().next(cursor, count: max(batchRowCount, 1))
                if records.isEmpty { break }
                try await body(records)
            }
        } catch {
            await worker.closeCursor(cursor)
            throw error
        }
        await worker.closeCursor(cursor)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await checked().count(query)
    }

    func links(_ relationship: RelationshipLayout, of sources: [Int64]) async throws -> [StoreLink] {
        try await checked().links(relationship, of: sources)
    }

    func merge(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy
    ) async throws -> MergeResult {
        try await checked().merge(batch, handles: handles, links: links, policy: policy)
    }

    func link(_ batch: LinkBatch) async throws -> LinkResult {
        try await checked().link(batch)
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try await checked().remove(query, reportsKeys: reportsKeys)
    }
}
