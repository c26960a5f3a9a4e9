import SyncBase
public import SyncModel

/// A store that keeps its objects in memory, and says by example what every store has to do.
///
///     let store = MemoryStore(model)
///
/// A transaction works on a copy of what it changes, in parts of some hundred objects, so that readers are never kept waiting and a
/// transaction that fails costs nothing. What is looked for by its identity is found at once, everything else by looking at all objects
/// of the entity.
public final class MemoryStore: Store {
    /// What the objects are of.
    public let model: DataModel

    private let queue = TransactionQueue()
    private let committed: Locked<MemoryState>

    /// Makes an empty store for the objects of a model.
    ///
    /// - Parameter model: The model, with the identities that are to be unique; `RecordMapper.model` is one.
    public init(_ model: DataModel) {
        self.model = model
        committed = Locked(MemoryState(model))
    }

    /// Changes the store, all or nothing; see `Store`.
    @discardableResult
    public func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            let transaction = MemoryTransaction(committed.withLock { $0 })
            // Whatever way it ends, nobody can go on with it.
            defer { _ = try? transaction.end() }
            let result = try await body(transaction)
            try Task.checkCancellation()
            let state = try transaction.end()
            committed.withLock { $0 = state }
            return result
        }
    }

    /// Reads what was committed last; see `Store`.
    public func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        let reader = MemoryTransaction(committed.withLock { $0 })
        defer { _ = try? reader.end() }
        return try await body(reader)
    }
}

/// A copy of a memory store's state, and what is done with it.
private final class MemoryTransaction: StoreTransaction {
    let model: DataModel
    private let content: Locked<Content>

    private struct Content {
        var state = TransactionState.running
        /// Nil once it has ended, and while it is changed.
        var objects: MemoryState?
    }

    init(_ objects: MemoryState) {
        model = objects.model
        content = Locked(Content(objects: objects))
    }

    /// Takes the objects out, so that nothing can be done any more.
    ///
    /// - Throws: What a change failed by; `StoreError.transactionEnded`.
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
            // Taken out while it is changed: with a second reference every part of it would be copied.
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
        let rows = try state.rows(of: query)
        var start = 0
        while start < rows.count {
            let end = min(start + max(batchRowCount, 1), rows.count)
            try await body(
                rows[start..<end].compactMap { row in state.object(row, of: layout).map { state.record(row, $0) } })
            start = end
        }
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try snapshot().rows(of: query).count
    }

    func links(_ relationship: RelationshipLayout, of sources: [Int64]) async throws -> [StoreLink] {
        let state = try snapshot()
        try model.check(relationship)
        return sources.flatMap { source in
            state.targets(of: source, by: relationship).map { StoreLink(source: source, target: $0) }
        }
    }

    func merge(
        _ batch: RecordBatch, handles: [Int64]?, links: InitialLinks?, policy: MergePolicy
    ) async throws -> MergeResult {
        try change { try $0.merge(batch, handles: handles, links: links, policy: policy) }
    }

    func link(_ batch: LinkBatch) async throws -> LinkResult {
        try change { try $0.link(batch) }
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        let rows = try snapshot().rows(of: query)
        let layout = try model.layout(of: query.entity)
        return try change { try $0.remove(rows, of: layout, reportsKeys: reportsKeys) }
    }
}

extension Optional where Wrapped == MemoryState {
    fileprivate func orEnded() throws(StoreError) -> MemoryState {
        guard let self else { throw .transactionEnded }
        return self
    }
}
