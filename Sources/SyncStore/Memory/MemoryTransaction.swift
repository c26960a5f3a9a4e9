import SyncBase
import SyncModel

/// A transaction or a reader of a memory store, which works on a copy of its state.
final class MemoryTransaction: MergeRequest.InitialLinks.Transaction, StoreSelection.Reader {
    let model: DataModel
    private let content: Locked<Content>

    private struct Content {
        var state = TransactionState.running
        /// The state; nil after the end of the transaction, and during a change.
        var objects: MemoryState?
        var changed = ChangedRoots()
    }

    /// The root entities that the transaction has changed.
    var changedRoots: Set<Int> { content.withLock(\.changed.roots) }

    init(_ objects: MemoryState) {
        model = objects.model
        content = Locked(Content(objects: objects))
    }

    /// Ends the transaction.
    ///
    /// - Returns: The final state.
    /// - Throws: The error of a failed change; `StoreError.transactionEnded`.
    func end() throws -> MemoryState {
        try content.withLock { content in
            defer { content.objects = nil }
            try content.state.end()
            return try content.objects.orEnded()
        }
    }

    private func snapshot() throws -> MemoryState {
        try content.withLock { content in
            try content.state.check()
            return try content.objects.orEnded()
        }
    }

    private func change<Result: Sendable>(_ body: (inout MemoryState) throws -> Result) throws -> Result {
        try content.withLock { content in
            try content.state.check()
            // Taken out during the change, because a second reference would copy every part.
            var objects = try content.objects.take().orEnded()
            defer { content.objects = objects }
            do { return try body(&objects) } catch {
                content.state.note(error)
                throw error
            }
        }
    }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        let state = try snapshot()
        let layout = try model.layout(of: query.entity)
        let found = try state.objects(of: query)
        var start = 0
        while start < found.count {
            let end = min(start + max(batchRowCount, 1), found.count)
            try await body(
                found[start..<end].compactMap { id in state.object(id, of: layout).map { state.record(id, $0) } })
            start = end
        }
    }

    func selectRows(
        _ selection: StoreSelection, batchRowCount: Int, _ body: (RecordBatch) async throws -> Void
    ) async throws {
        let bound = try BoundSelection(selection, in: model)
        let rows = try SelectionRows(selection: bound).rows(of: try snapshot().subjects(of: bound))
        try await RecordBatch.send(
            rows, columnCount: bound.columns.count, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try snapshot().objects(of: query).count
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        let state = try snapshot()
        try model.check(relationship)
        return sources.flatMap { source in
            state.targets(of: source, by: relationship).map { LinkBatch.Link(source: source, target: $0) }
        }
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try snapshot().find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        try note(change { try $0.merge(request, []) }) { $0.add($1, request.records.layout, linking: [], in: model) }
    }

    func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    {
        try note(change { try $0.merge(request, links) }) {
            $0.add($1, request.records.layout, linking: links, in: model)
        }
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        try note(change { try $0.link(batch) }) { $0.add($1, batch.relationship, in: model) }
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        let (former, layout) = try model.layouts(changing: former, to: entity)
        guard former.index != layout.index else { return }
        try note(change { try $0.changeEntity(of: objects, from: former, to: layout) }) { changed, _ in
            changed.add(former, becoming: layout, in: model)
        }
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let objects = try snapshot().objects(of: query)
        let layout = try model.layout(of: query.entity)
        return try note(change { try $0.remove(objects, of: layout, reportsKeys: reportsKeys) }) {
            $0.add($1, in: model)
        }
    }

    func settleValues() async throws -> [StoreError.Refusal] {
        try change { $0.settleValues() }
    }

    private func note<Result>(_ result: Result, _ body: (inout ChangedRoots, Result) -> Void) -> Result {
        content.withLock { body(&$0.changed, result) }
        return result
    }
}

extension Optional where Wrapped == MemoryState {
    fileprivate func orEnded() throws(StoreError) -> MemoryState {
        guard let self else { throw .transactionEnded }
        return self
    }
}
