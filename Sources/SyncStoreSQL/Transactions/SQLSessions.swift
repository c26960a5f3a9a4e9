import SyncBase
package import SyncModel
package import SyncStore

/// The workers of a store, one for writing and several for reading, and the transactions on them.
package final class SQLSessions<Worker: SQLWorker>: Sendable {
    private let model: DataModel
    private let writer: Worker
    private let makeReader: @Sendable () -> Worker
    private let queue = TransactionQueue()
    /// Receives the changed root entities after each commit that changed any.
    private let committed: @Sendable (Set<Int>) -> Void
    private let idleReaders = Locked<[Worker]>([])
    /// The maximum number of idle readers to keep.
    private let idleReaderLimit = 4

    /// Creates sessions without transactions.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - writer: The worker for writing.
    ///   - committed: Receives the changed root entities after each commit that changed any.
    ///   - makeReader: Creates a worker for reading; called when all others are busy.
    package init(
        _ model: DataModel, writer: Worker, committed: @escaping @Sendable (Set<Int>) -> Void = { _ in },
        makeReader: @escaping @Sendable () -> Worker
    ) {
        self.committed = committed
        self.model = model
        self.writer = writer
        self.makeReader = makeReader
    }

    /// Runs a body in a writing transaction when it has its turn, and commits all changes or none.
    ///
    /// - Parameter begin: Begins the transaction.
    /// - Throws: As `Store.transaction(_:)`, and errors of the worker.
    package func transaction<Result: Sendable>(
        begin: (Worker) async throws -> Void, _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            try await begin(writer)
            let transaction = SQLTransaction(writer, model: model)
            do {
                let result = try await body(transaction)
                try Task.checkCancellation()
                if let refused = try await transaction.settleValues().first { throw StoreError.refused(refused) }
                try transaction.end()
                let roots = transaction.changedRoots
                try await writer.commit(changing: roots)
                if !roots.isEmpty { committed(roots) }
                return result
            } catch {
                try? transaction.end()
                await writer.rollback()
                throw error
            }
        }
    }

    /// Runs a body in a reading transaction, concurrently with a writing one.
    ///
    /// - Parameters:
    ///   - onThread: Whether the body runs on the worker's thread; false by default.
    ///   - begin: Begins the transaction. If it throws, the worker is not reused.
    /// - Throws: As `Store.read(_:)`, and errors of the worker.
    package func read<Result: Sendable>(
        onThread: Bool = false, begin: (Worker) async throws -> Void,
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await reading(onThread: onThread, begin: begin) { reader in
            let transaction = SQLTransaction(reader, model: model)
            defer { try? transaction.end() }
            return try await body(transaction)
        }
    }

    /// Runs a body with the worker of a reading transaction.
    ///
    /// - Parameters:
    ///   - onThread: Whether the body runs on the worker's thread; false by default.
    ///   - begin: Begins the transaction. If it throws, the worker is not reused.
    package func reading<Result: Sendable>(
        onThread: Bool = false, begin: (Worker) async throws -> Void,
        _ body: @Sendable (Worker) async throws -> Result
    ) async throws -> Result {
        let reader = idleReaders.withLock { $0.popLast() } ?? makeReader()
        func run() async throws -> Swift.Result<Result, any Error> {
            try await begin(reader)
            let result: Swift.Result<Result, any Error>
            do { result = .success(try await body(reader)) } catch { result = .failure(error) }
            await reader.rollback()
            return result
        }
        let result = try await onThread ? reader.executor.run { try await run() } : run()
        idleReaders.withLock { idle in
            if idle.count < idleReaderLimit { idle.append(reader) }
        }
        return try result.get()
    }
}
