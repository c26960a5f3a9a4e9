import SyncBase
public import Foundation
public import OneWaySynchronizer
import SyncStoreSQL

/// A lease on an SQLite database file, held by one process of a machine at a time.
///
///     let lease = SQLiteLease(for: "data.sqlite")
///     try await lease.withLease(waiting: .forever) { try await store.sync(json, into: "User") }
///
/// The lease is a lock on a small database beside the data, `data.sqlite-lease`. The holder keeps
/// the lock for as long as it has the lease. When the process ends or is killed, the system
/// releases the lock, and the next process that asks gets the lease. No clock is involved: a
/// stopped process keeps the lease until it continues or dies. The lease does not block reads and
/// writes of the data.
///
/// The table `lease` of that file shows the holder to any SQL tool. The file stays when the lease
/// is released. If the file is removed or replaced, the holder loses the lease and notices at the
/// next renewal.
///
/// - Important: SQLite uses POSIX locks. A process loses them when it opens and closes the locked
///   file by other means, so a process with a lease must not open the file itself.
///
/// - Important: A suspended app keeps its locks, and iOS ends an app that is suspended with a lock
///   on a file in an app group's container. End a sync before the app is suspended.
public struct SQLiteLease: SyncLease {
    /// The database file, as it was given.
    public let name: String

    /// The time after which a holder that cannot renew the lease gives it up; a minute by default.
    ///
    /// No other process gets the lock in the meantime, unless the file was removed or replaced.
    public let duration: Duration

    /// The time between two requests of a waiting process; 3 seconds by default.
    public let retryInterval: Duration

    /// The path of the locked database.
    let path: String

    /// Creates a lease on a database file, without requesting it.
    ///
    /// - Parameters:
    ///   - file: The database file, which need not exist. All paths and links to it have the same
    ///     lease.
    ///   - duration: The time after which a holder that cannot renew the lease gives it up; a
    ///     minute by default. A holder renews the lease three times within this time.
    ///   - retryInterval: The time between two requests of a waiting process; 3 seconds by default.
    public init(
        for file: String, duration: Duration = .seconds(60), retryInterval: Duration = .seconds(3)
    ) {
        name = file
        self.duration = duration
        self.retryInterval = retryInterval
        path = Self.resolved(file) + "-lease"
    }

    /// Creates a lease on a database file, without requesting it. The parameters are those of the
    /// other initializer.
    public init(for file: URL, duration: Duration = .seconds(60), retryInterval: Duration = .seconds(3)) {
        self.init(for: file.path, duration: duration, retryInterval: retryInterval)
    }

    /// The path of a file after following links. Foundation does not follow a link to a file that
    /// does not exist yet.
    private static func resolved(_ file: String) -> String {
        var url = URL(filePath: file).resolvingSymlinksInPath()
        // The limit of the system itself.
        for _ in 0..<40 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(filePath: target, relativeTo: url.deletingLastPathComponent()).resolvingSymlinksInPath()
        }
        return url.path(percentEncoded: false)
    }

    /// Requests the lease; see `SyncLease`.
    ///
    /// - Throws: `SQLiteError` if the lease's file cannot be opened or written, or is not a
    ///   database.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        try SQLitePlace(path: name, isReadOnly: false).check()
        return try await SQLiteLeaseLock(path).take(for: holder)
    }
}

/// A lock on the file of a lease, with a thread of its own. Released with its last reference.
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
        // Others can only read a committed row, but a commit releases the lock. So the row is
        // written first. If no other process is faster, the lock taken afterwards is kept.
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
            // Closing the connection undoes the row.
            guard try connection.commitPatiently() else { return .held(by: nil) }
        }
        // Another process that is about to take the lease may not have written its row completely.
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
            // If this fails, the row stays without meaning, as after the death of a holder.
            try? connection.execute("DELETE FROM lease")
            _ = try? connection.commitPatiently()
        }
        connection = nil
    }
}

extension SQLiteConnection {
    /// Takes the exclusive lock.
    ///
    /// - Returns: Whether it was free.
    fileprivate func begin() throws(SQLiteError) -> Bool {
        do { try execute("BEGIN IMMEDIATE") } catch {
            guard error.primaryCode == SQLiteError.Code.busy else { throw error }
            return false
        }
        return true
    }

    /// Commits as soon as no other connection reads the holder's row.
    ///
    /// - Returns: False if one still reads it after a second, as a process does that was stopped.
    fileprivate func commitPatiently() throws(SQLiteError) -> Bool {
        try execute("PRAGMA busy_timeout = 1000")
        do { try execute("COMMIT") } catch {
            guard error.primaryCode == SQLiteError.Code.busy else { throw error }
            return false
        }
        try execute("PRAGMA busy_timeout = 0")
        return true
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
