import SyncBase
import Foundation
public import OneWaySynchronizer
import SyncStore
import SyncStoreSQL

/// A lease on an SQLite database file: one process of a machine at a time holds it.
///
///     let lease = SQLiteLease(for: "data.sqlite")
///     try await lease.withLease(waiting: .forever) { try await store.sync(json, into: "User") }
///
/// The lease is a lock on a small database beside the data, `data.sqlite-lease`. The holder keeps
/// the lock as long as it has the lease. The system releases the lock when the process ends, also
/// when it is killed; the next process gets the lease when it asks again. No clock is involved: a
/// stopped process keeps the lease until it continues or dies. The lease does not block reads and
/// writes of the data.
///
/// The table `lease` of that file names the holder, for any SQL tool. The file stays when the lease
/// is released. Removing or replacing it takes the lease from its holder, which notices at the next
/// renewal.
///
/// - Important: SQLite uses POSIX locks, which a process loses when it opens and closes the locked
///   file by other means. A process that holds a lease must not open the file itself.
///
/// - Important: A suspended app keeps its locks, and iOS ends an app that is suspended with a lock
///   on a file in an app group's container. End a sync before the app is suspended.
public struct SQLiteLease: SyncLease {
    /// The database file, as it was given.
    public let name: String

    /// The time after which a holder that cannot renew the lease gives it up; a minute by default.
    ///
    /// Nobody else gets the lock meanwhile, unless the file was removed or replaced.
    public let duration: Duration

    /// The time between two requests of a waiting process; 3 seconds by default.
    public let retryInterval: Duration

    /// The database that is locked.
    let path: String

    /// Creates a lease on a database file, without asking for it.
    ///
    /// - Parameters:
    ///   - file: The database file, which need not exist. All paths and links to it have the same
    ///     lease.
    ///   - duration: The time after which a holder that cannot renew the lease gives it up. A
    ///     holder renews it three times within this time.
    ///   - retryInterval: The time between two requests of a waiting process.
    public init(
        for file: String, duration: Duration = .seconds(60), retryInterval: Duration = .seconds(3)
    ) {
        name = file
        self.duration = duration
        self.retryInterval = retryInterval
        path = Self.resolved(file) + "-lease"
    }

    /// The path of a file after following links, also a link to a file that does not exist yet.
    /// Foundation leaves such a link as it is.
    private static func resolved(_ file: String) -> String {
        var url = URL(filePath: file).resolvingSymlinksInPath()
        // As many links as the system itself follows.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(filePath: target, relativeTo: url.deletingLastPathComponent()).resolvingSymlinksInPath()
        }
        return url.path(percentEncoded: false)
    }

    /// Asks for the lease; see `SyncLease`.
    ///
    /// - Throws: `SQLiteError` if the lease's file cannot be opened or written, or is not a
    ///   database.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        try SQLitePlace(path: name, isReadOnly: false).check()
        return try await SQLiteLeaseLock(path).take(for: holder)
    }
}

/// A lock on the file of a lease, with a thread of its own. Released with the last reference.
actor SQLiteLeaseLock: SyncLeaseGrant {
    private let executor = BlockingExecutor(label: "SQLiteLease")
    private let path: String
    /// The identifier of the holder's row.
    private let token = UUID().uuidString
    private var connection: SQLiteConnection?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ path: String) {
        self.path = path
    }

    /// Takes the lock if it is free.
    func take(for holder: SyncLeaseHolder) throws -> SyncLeaseAnswer {
        let connection = try SQLitePlace(path: path, isReadOnly: false).open { () throws(SQLiteError) in
            try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        }
        // Others can only read a committed row, and a commit releases the lock. So the row is
        // written first, and the lock that is taken then is kept, unless another process was
        // faster.
        while try connection.begin() {
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS lease (
                    id INTEGER PRIMARY KEY CHECK (id = 1), token TEXT, host TEXT, program TEXT, process INTEGER, since TEXT
                )
                """)
            if try connection.leaseRow()?.token == token {
                self.connection = connection
                return .granted(self)
            }
            let statement = try connection.cached("REPLACE INTO lease VALUES (1, ?, ?, ?, ?, ?)")
            try statement.run([
                .text(token), .text(holder.host), .text(holder.program), .integer(Int64(holder.processID)),
                .text(holder.since.formatted(.iso8601)),
            ])
            try connection.commitPatiently()
        }
        // Who is about to take the lease may be in the middle of writing its name.
        let row = try? connection.leaseRow()
        return .held(by: row?.token == token ? nil : row?.holder)
    }

    /// Verifies that the lock is still held.
    func renew() throws {
        guard let connection, connection.isInTransaction, !connection.hasFileMoved else {
            throw SQLiteError(code: SQLiteError.Code.fileMoved, message: "\(path) was removed or replaced")
        }
    }

    /// Releases the lock and removes the holder's row.
    func release() {
        if let connection, !connection.hasFileMoved {
            // If that fails, the row stays without meaning, as after the death of a holder.
            try? connection.execute("DELETE FROM lease")
            try? connection.commitPatiently()
        }
        connection = nil
    }
}

extension SQLiteConnection {
    /// Takes the lock that only one connection can have.
    ///
    /// - Returns: Whether it was free.
    fileprivate func begin() throws(SQLiteError) -> Bool {
        do { try execute("BEGIN IMMEDIATE") } catch {
            guard error.primaryCode == SQLiteError.Code.busy else { throw error }
            return false
        }
        return true
    }

    /// Commits when nobody reads the holder's row any more.
    fileprivate func commitPatiently() throws(SQLiteError) {
        try execute("PRAGMA busy_timeout = 1000")
        try execute("COMMIT")
        try execute("PRAGMA busy_timeout = 0")
    }

    /// The identifier and the holder of the current or last lease; nil without a row.
    fileprivate func leaseRow() throws(SQLiteError) -> (token: String, holder: SyncLeaseHolder?)? {
        let statement = try cached("SELECT token, host, program, process, since FROM lease")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let holder = (try? Date(statement.text(at: 4), strategy: .iso8601)).map { since in
            SyncLeaseHolder(
                host: statement.text(at: 1), program: statement.text(at: 2),
                processID: Int32(truncatingIfNeeded: statement.integer(at: 3)), since: since)
        }
        return (statement.text(at: 0), holder)
    }
}
