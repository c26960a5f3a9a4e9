import SyncBase
public import SyncModel
import SyncStore

extension SQLiteStore {
    /// Runs your own `SELECT` statements on one snapshot of a store's database.
    ///
    /// Passed to the body of ``SQLiteStore/sql(_:)``, and not usable after the body has returned.
    public final class Reader: Sendable {
        private let worker: SQLiteWorker
        private let hasEnded = Locked(false)

        init(_ worker: SQLiteWorker) {
            self.worker = worker
        }

        func end() {
            hasEnded.withLock { $0 = true }
        }

        /// Returns the rows that a statement selects.
        ///
        ///     let rows = try await reader.rows(
        ///         "SELECT name, count(*) AS n FROM User GROUP BY name HAVING n > ?", 1)
        ///
        /// - Parameters:
        ///   - statement: A single statement that only reads.
        ///   - values: The values of its parameters, in order.
        /// - Returns: The values of each row by column name. Numbers, texts and blobs are as SQLite
        ///   stores them, so dates are texts and Booleans are integers.
        /// - Throws: `SQLiteError`, with the code ``SQLiteError/Code/readOnly`` for a statement
        ///   that writes or controls transactions, and ``SQLiteError/Code/misuse`` if the numbers
        ///   of values and parameters differ or several columns have the same name;
        ///   `StoreError.transactionEnded`; `CancellationError`.
        public func rows(_ statement: String, _ values: AttributeValue...) async throws -> [[String: AttributeValue]] {
            guard !hasEnded.withLock({ $0 }) else { throw StoreError.transactionEnded }
            return try await worker.rows(statement, values)
        }
    }
}
