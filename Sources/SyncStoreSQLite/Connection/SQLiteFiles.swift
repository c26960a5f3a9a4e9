import Foundation
import SyncBase

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The files of an open store: the database, its write-ahead log and its wal-index.
///
/// SQLite continues to use files that are no longer in their places. Every transaction therefore
/// compares the files with those that were opened.
///
/// The write-ahead log is emptied when a commit has made it large, because SQLite reuses the file
/// but does not shorten it while a connection is open. Emptying the log requires a moment without
/// readers. If a reader prevents it, the end of the reader's transaction tries again.
final class SQLiteFiles: Sendable {
    /// The size at which a log is emptied, in bytes.
    private static let logByteLimit = 16 << 20

    private struct State {
        /// The identities of the files, by path.
        var identities: [String: FileStatus.Identity] = [:]
        var content: Content?
        /// Whether a reader prevented the last attempt to empty the log.
        var isLogWaiting = false
    }

    /// The state of the database file, with the checkpoint that was read before it.
    private struct Content {
        let checkpoint: SQLiteCheckpoint
        let status: FileStatus
    }

    private let path: String
    private let state = Locked(State())

    /// Creates the files.
    ///
    /// - Parameter path: The path of the database. Symbolic links are followed in each check.
    init(of path: String) {
        self.path = path
    }

    // MARK: Checks

    /// Verifies that the files are the opened ones, and that only SQLite has written to the
    /// database.
    ///
    /// - Parameter connection: A connection in a transaction.
    /// - Throws: `SQLiteError` with the code `fileMoved`.
    func check(_ connection: SQLiteConnection) throws(SQLiteError) {
        let before = connection.checkpoint
        let database = FileStatus(of: path)
        guard let database, isKnown(database.identity, at: path, isOpen: { !connection.hasFileMoved }) else {
            throw Self.error("the database file was moved, replaced or removed")
        }
        let after = connection.checkpoint
        if let name = foreignLog(of: connection) {
            throw Self.error("the file \(name), which belongs to the database, was replaced or removed")
        }
        guard let before, let after else { return }
        let isForeign = state.withLock { state in
            defer { state.content = Content(checkpoint: before, status: database) }
            guard let known = state.content else { return false }
            // A checkpoint changes its numbers before it writes to the file.
            return known.checkpoint == after && after.isComplete && known.status != database
        }
        if isForeign { throw Self.error("another program than SQLite wrote into the database file") }
    }

    /// The path of the write-ahead log or the wal-index if it is not the recorded one. Without a
    /// record, the present ones are recorded.
    private func foreignLog(of connection: SQLiteConnection) -> String? {
        guard let name = connection.filePath, connection.hasLog else { return nil }
        return ["-wal", "-shm"].map { name + $0 }.first { !isKnown(FileStatus(of: $0)?.identity, at: $0) }
    }

    /// Records which files the writer has opened.
    ///
    /// SQLite opens the log with the first read, and keeps it until the connection is closed.
    func open(_ connection: SQLiteConnection) throws(SQLiteError) {
        _ = try connection.integer("PRAGMA schema_version")
        try check(connection)
        note(connection)
    }

    /// Records the state of the database file after it was opened, or after a checkpoint.
    func note(_ connection: SQLiteConnection) {
        guard let status = FileStatus(of: path),
            isKnown(status.identity, at: path, isOpen: { !connection.hasFileMoved }),
            let checkpoint = connection.checkpoint
        else { return }
        state.withLock { $0.content = Content(checkpoint: checkpoint, status: status) }
    }

    /// Whether a file exists and has the recorded identity.
    ///
    /// - Parameter isOpen: For a file without a recorded identity, whether it is the open one. If
    ///   so, its identity is recorded.
    private func isKnown(
        _ identity: FileStatus.Identity?, at path: String, isOpen: () -> Bool = { true }
    ) -> Bool {
        guard let identity else { return false }
        return state.withLock { state in
            if let known = state.identities[path] { return known == identity }
            guard isOpen() else { return false }
            state.identities[path] = identity
            return true
        }
    }

    private static func error(_ message: String) -> SQLiteError {
        SQLiteError(
            code: SQLiteError.Code.fileMoved, message: "\(message) while it was open; open the store again")
    }

    // MARK: The write-ahead log

    /// Empties a large log after a commit.
    func shrinkLog(after connection: SQLiteConnection) {
        guard let name = connection.filePath, let size = FileStatus(of: name + "-wal")?.byteCount,
            size > Self.logByteLimit
        else { return }
        let isEmpty = connection.truncateLog()
        state.withLock { $0.isLogWaiting = !isEmpty }
        note(connection)
    }

    /// Empties the log after a read transaction, if a reader prevented it before.
    func shrinkLog(afterReading connection: SQLiteConnection) {
        guard state.withLock(\.isLogWaiting) else { return }
        shrinkLog(after: connection)
    }
}

/// The file system's data about a file. If two are equal, the file was not written in between.
private struct FileStatus: Equatable {
    struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    let identity: Identity
    let byteCount: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Reads the data, following symbolic links; nil if the file does not exist.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        byteCount = Int64(status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        seconds = Int64(time.tv_sec)
        nanoseconds = Int64(time.tv_nsec)
    }
}

/// How much of a write-ahead log has been copied into its database.
struct SQLiteCheckpoint: Equatable {
    /// The size of the first part of a wal-index.
    static let indexByteCount: Int32 = 32768

    /// Random numbers that change when the log restarts.
    private let salt: UInt64
    private let copiedFrameCount: UInt32
    /// The number of frames that a checkpoint intends to copy.
    private let attemptedFrameCount: UInt32

    /// Reads a checkpoint.
    ///
    /// - Parameter index: The start of the wal-index.
    init(index: UnsafeRawPointer) {
        salt = index.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        copiedFrameCount = index.loadUnaligned(fromByteOffset: 96, as: UInt32.self)
        attemptedFrameCount = index.loadUnaligned(fromByteOffset: 128, as: UInt32.self)
    }

    /// Whether no checkpoint is writing to the database.
    var isComplete: Bool {
        attemptedFrameCount <= copiedFrameCount
    }
}
