import SyncBase
package import SyncModel
package import SyncStore

/// The workers of a store, one that writes and some that read, and how transactions run on them.
package final class SQLSessions<Worker: SQLWorker>: Sendable {
    private let model: DataModel
    private let batchRowCount: Int
    private let writer: Worker
    private let makeReader: @Sendable () -> Worker
    private let queue = TransactionQueue()
    private let idleReaders = Locked<[Worker]>([])
    /// How many readers are kept for later.
    private let idleReaderLimit = 4

    /// Makes sessions in which nothing runs yet.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - batchRowCount: How many records transactions ask for at a time.
    ///   - writer: The worker that writes.
    ///   - makeReader: Creates a worker that reads; called when all existing ones are busy.
    package init(_ model: DataModel, batchRowCount: Int, writer: Worker, makeReader: @escaping @Sendable () -> Worker) {
        self.model = model
        self.batchRowCount = batchRowCount
        self.writer = writer
        self.makeReader = makeReader
    }

    /// Runs a body in a writing transaction when its turn comes, and commits all of it or nothing.
    ///
    /// - Parameter begin: Begins the transaction.
    /// - Throws: As `Store.transaction(_:)`, and errors of the worker.
    package func transaction<Result: Sendable>(
        begin: (Worker) async throws -> Void, _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await queue.run {
            try await begin(writer)
            let transaction = SQLTransaction(writer, model: model, batchRowCount: batchRowCount)
            do {
                let result = try await body(transaction)
                try Task.checkCancellation()
                try transaction.end()
                try await writer.commit()
                return result
            } catch {
                try? transaction.end()
                await writer.rollback()
                throw error
            }
        }
    }

    /// Runs a body in a transaction that reads, whether or not another one writes.
    ///
    /// - Parameter begin: Begins the transaction; if it throws, its worker is not used again.
    /// - Throws: As `Store.read(_:)`, and errors of the worker.
    package func read<Result: Sendable>(
        begin: (Worker) async throws -> Void, _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await reading(begin: begin) { reader in
            let transaction = SQLTransaction(reader, model: model, batchRowCount: batchRowCount)
            defer { try? transaction.end() }
            return try await body(transaction)
        }
    }

    /// Runs a body with the worker of a transaction that reads.
    ///
    /// - Parameter begin: Begins the transaction; if it throws, its worker is not used again.
    package func reading<Result: Sendable>(
        begin: (Worker) async throws -> Void, _ body: @Sendable (Worker) async throws -> Result
    ) async throws -> Result {
        let reader = idleReaders.withLock { $0.popLast() } ?? makeReader()
        try await begin(reader)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(reader)) } catch { result = .failure(error) }
        await reader.rollback()
        idleReaders.withLock { idle in
            if idle.count < idleReaderLimit { idle.append(reader) }
        }
        return try result.get()
    }
}
