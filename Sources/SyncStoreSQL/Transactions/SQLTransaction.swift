package import SyncBase
package import SyncModel
package import SyncStore

/// A transaction on a worker, usable until it ends.
package final class SQLTransaction<Worker: SQLWorker>: MergeRequest.InitialLinks.Transaction, StoreSelection.Reader,
    LinkedTargetReader, ThreadedTransaction
{
    package let model: DataModel
    private let worker: Worker
    private let state = Locked(TransactionState.running)
    private let changed = Locked(ChangedRoots())

    package var executor: BlockingExecutor? { worker.executor }
    package var batchRowCount: Int { worker.batchRowCount }

    /// The root entities that the transaction has changed.
    var changedRoots: Set<Int> { changed.withLock(\.roots) }

    package init(_ worker: Worker, model: DataModel) {
        self.worker = worker
        self.model = model
    }

    /// Ends the transaction. Further calls throw.
    ///
    /// - Throws: The error of a failed change, even if the caller caught it.
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

    package func selectRows(
        _ selection: StoreSelection, batchRowCount: Int, _ body: (RecordBatch) async throws -> Void
    ) async throws {
        let worker = try checked()
        let count = max(batchRowCount, 1)
        let (first, cursor) = try await worker.openSelection(try BoundSelection(selection, in: model), count: count)
        guard let cursor else {
            if !first.isEmpty { try await body(first) }
            return
        }
        do {
            var batch = first
            while !batch.isEmpty {
                // The next rows are read while the body uses the current ones, on any executor.
                async let next = checked().nextRows(cursor, count: count)
                try await BlockingExecutor.outside { [batch] in try await body(batch) }
                batch = try await next
            }
        } catch {
            await worker.closeCursor(cursor)
            throw error
        }
        await worker.closeCursor(cursor)
    }

    package func count(_ query: StoreQuery) async throws -> Int {
        try await counts(of: [query])[0]
    }

    package func counts(of queries: [StoreQuery]) async throws -> [Int] {
        try await checked().counts(of: queries)
    }

    package func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch
        .Link]
    {
        try await checked().links(relationship, of: sources)
    }

    package func linkedTargets(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws
        -> [ObjectID: [ObjectID]]
    {
        try await checked().targets(relationship, of: sources)
    }

    package func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await checked().find(records)
    }

    package func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        let result = try await change { try await $0.merge(request, []) }
        changed.withLock { $0.add(result, request.records.layout, linking: [], in: model) }
        return result
    }

    package func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws
        -> MergeRequest.Result
    {
        let result = try await change { try await $0.merge(request, links) }
        changed.withLock { $0.add(result, request.records.layout, linking: links, in: model) }
        return result
    }

    package func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        let (former, layout) = try model.layouts(changing: former, to: entity)
        guard former.index != layout.index else { return }
        var changing: [StoredRecord] = []
        try await fetch(StoreQuery(former.name, objects: .only(objects)), batchRowCount: batchRowCount) { records in
            changing += records.filter { $0.record.layout.index == former.index }
        }
        guard !changing.isEmpty else { return }
        let unlinked = model.relationships(of: former, lostBy: layout).own.map { relationship in
            var batch = LinkBatch(relationship, mode: .replace)
            for stored in changing { batch.append(stored.object, to: []) }
            return batch
        }
        let refusal = try await change { [changing] in
            try await $0.changeEntity(of: changing, from: former, to: layout, unlinking: unlinked)
        }
        if let refusal { throw StoreError.refused(refusal) }
        changed.withLock { $0.add(former, becoming: layout, in: model) }
    }

    package func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        let result = try await change { try await $0.link(batch) }
        changed.withLock { $0.add(result, batch.relationship, in: model) }
        return result
    }

    package func settleValues() async throws -> [StoreError.Refusal] {
        try await change { try await $0.settleValues() }
    }

    package func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let result = try await change { try await $0.remove(query, reportsKeys: reportsKeys) }
        changed.withLock { $0.add(result, in: model) }
        return result
    }
}
