import Foundation
import SyncBase

/// The write-ahead log of a store, which is emptied when a commit has made it large.
///
/// SQLite itself reuses the file but never shortens it while a connection is open. Emptying it
/// needs a moment without readers; if one is in the way, the end of its transaction tries again.
final class SQLiteLog: Sendable {
    /// The size of a log that is emptied.
    private static let byteLimit = 16 << 20

    private let path: String
    /// Whether a reader was in the way of the last attempt.
    private let isWaiting = Locked(false)

    /// - Parameter path: The path of the database.
    init(of path: String) {
        self.path = path + "-wal"
    }

    /// Empties the log if it is large, after a commit.
    func shrink(after connection: SQLiteConnection) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = attributes?[.size] as? Int, size > Self.byteLimit else { return }
        let isEmpty = connection.truncateLog()
        isWaiting.withLock { $0 = !isEmpty }
    }

    /// Empties the log if a reader was in the way before, after a transaction that changed nothing.
    func shrink(afterReading connection: SQLiteConnection) {
        guard isWaiting.withLock(\.self) else { return }
        shrink(after: connection)
    }
}
