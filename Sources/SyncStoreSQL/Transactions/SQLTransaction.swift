import SyncBase
package import SyncModel
package import SyncStore

/// A transaction of a worker, until it has ended.
package final class SQLTransaction<Worker: SQLWorker>: InitialLinkingTransaction {
    package let model: DataModel
    package let batchRowCount: Int
    private let worker: Worker
    private let state = Locked(TransactionState.running)

    package init(_ worker: Worker, model: DataModel, batchRowCount: Int) {
        self.worker = worker
        self.model = model
        self.batchRowCount = batchRowCount
    }

    /// Ends the transaction; further calls fail.
    ///
    /// - Throws: The error of a change that failed, even if it was caught.
    package func end() throws {
        try state.withLock { try $0.end() }
    }

    private func checked() throws -> Worker {
        try state.withLock { try $0.check() }
        return worker
    }

    private func change<Result>(_ body: (Worker) async throws -> Result) async throws -> Result {
        do { return try await body(try checked()) } catch {
            state.withLock { $0.note(error) }
            throw error
        }
    }

    package func fetch(
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

    package func count(_ query: StoreQuery) async throws -> Int {
        try await checked().count(query)
    }

    package func links(_ relationship: RelationshipLayout, of sources: [ObjectID]) async throws -> [StoreLink] {
        try await checked().links(relationship, of: sources)
    }

    package func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await checked().find(records)
    }

    package func merge(_ request: MergeRequest) async throws -> MergeResult {
        try await change { try await $0.merge(request, []) }
    }

    package func mergeLinking(_ request: MergeRequest, _ links: [InitialLinks]) async throws -> MergeResult {
        try await change { try await $0.merge(request, links) }
    }

    package func link(_ batch: LinkBatch) async throws -> LinkResult {
        try await change { try await $0.link(batch) }
    }

    package func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try await change { try await $0.remove(query, reportsKeys: reportsKeys) }
    }
}
