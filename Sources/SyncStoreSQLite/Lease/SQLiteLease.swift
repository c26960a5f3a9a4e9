import SyncBase
import Foundation
public import OneWaySynchronizer
import SyncStore
import SyncStoreSQL

/// Lets one process at a time, of those on one machine, sync into an SQLite database.
///
///     let lease = SQLiteLease(for: "data.sqlite")
///     try await lease.withLease(waiting: .forever) { try await store.sync(json, into: "User") }
///
/// The lease is a lock of SQLite's own on a small database beside the data, `data.sqlite-lease`,
/// which the holder keeps for as long as it has the lease. The system takes it back when the
/// process ends, however it ends: the next one gets the lease as soon as it asks again. There is no
/// time of expiry that a clock could get wrong, and a process that is stopped keeps the lease until
/// it goes on or dies. Reading and writing the data itself is not hindered.
///
/// Who holds the lease is in the table `lease` of that file, where any SQL tool may read it. The
/// file stays when the lease is released; whoever removes or replaces it takes the lease from its
/// holder, who notices when renewing it. SQLite's locks are those of POSIX, which a process loses
/// when it opens and closes the locked file by other means: a holder leaves the file alone, and has
/// others copy it.
public struct SQLiteLease: SyncLease {
    /// The file that is synced into, as it was given.
    public let name: String

    /// How long a holder that cannot look after its lease believes itself to have it. The lock is
    /// nobody else's meanwhile, however long that is: only of a file that was removed does a holder
    /// hear late.
    public let duration: Duration

    /// How long whoever waits for the lease waits before it asks again.
    public let retryInterval: Duration

    /// The database that is locked.
    let path: String

    /// Makes the lease on a database file, which need not exist. Nothing is asked for yet.
    ///
    /// - Parameters:
    ///   - file: The database file. However its path is written, and through whatever links it
    ///     leads, it has one lease.
    ///   - duration: The lease's time, within which a holder looks after its lease three times; a
    ///     minute by default.
    ///   - retryInterval: How long whoever waits for the lease waits before it asks again; 3
    ///     seconds by default.
    public init(
        for file: String, duration: Duration = .seconds(60), retryInterval: Duration = .seconds(3)
    ) {
        name = file
        self.duration = duration
        self.retryInterval = retryInterval
        path = Self.resolved(file) + "-lease"
    }

    /// The path of a file itself, through links, also through one to a file that is not there yet,
    /// which Foundation leaves as it is.
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
    /// - Throws: `SQLiteError` where the lease's file cannot be opened, written or is no database.
    public func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
        try await SQLiteLeaseLock(path).take(for: holder)
    }
}

/// A lock on the file of a lease, on a thread of its own. It goes with the last reference.
actor SQLiteLeaseLock: SyncLeaseGrant {
    private let executor = BlockingExecutor(label: "SQLiteLease")
    private let path: String
    /// What the holder's row is known by.
    private let token = UUID().uuidString
    private var connection: SQLiteConnection?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ path: String) {
        self.path = path
    }

    /// Takes the lock, unless somebody else has it.
    func take(for holder: SyncLeaseHolder) throws -> SyncLeaseAnswer {
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        // What others are to read has to be committed, which gives the lock up for a moment: so it
        // is written first, and the lock that is then taken is kept, unless somebody else came in
        // between.
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

    /// Makes sure that the lock is still there.
    func renew() throws {
        guard let connection, connection.isInTransaction, !connection.hasFileMoved else {
            throw SQLiteError(code: 1032, message: "\(path) was removed or replaced")
        }
    }

    /// Gives the lock back, and removes the holder's row.
    func release() {
        if let connection, !connection.hasFileMoved {
            // Where that fails the row stays, as it does when a holder dies, and means nothing.
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
            guard error.primaryCode == 5 else { throw error }
            return false
        }
        return true
    }

    /// Commits, as soon as those have finished who are reading the holder's row.
    fileprivate func commitPatiently() throws(SQLiteError) {
        try execute("PRAGMA busy_timeout = 1000")
        try execute("COMMIT")
        try execute("PRAGMA busy_timeout = 0")
    }

    /// The row of who holds the lease or held it last, and what it is known by; nil where there is
    /// none.
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
