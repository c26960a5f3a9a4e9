import Foundation
import SyncStoreSQL

/// The settings with which a store opens its connections.
struct SQLiteSettings: Sendable {
    let path: String
    /// The path that does not depend on the current folder, because readers open the file later.
    let absolutePath: String
    let isReadOnly: Bool
    /// The folder of a file that is removed with the store; nil for a permanent file. Data in it
    /// need not reach the disk.
    let folder: TransientFolder?
    let options: SQLiteStore.Options

    init(path: String, isReadOnly: Bool, folder: TransientFolder? = nil, _ options: SQLiteStore.Options) {
        self.path = path
        absolutePath = path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        self.isReadOnly = isReadOnly
        self.folder = folder
        self.options = options
    }

    /// The place of the file.
    var place: SQLitePlace { SQLitePlace(path: path, isReadOnly: isReadOnly) }

    /// Opens a connection and, unless it is read-only, switches the file to a write-ahead log.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func open() throws(SQLiteError) -> SQLiteConnection {
        let connection = try openUnchanged()
        try keepLog(of: connection)
        return connection
    }

    /// Opens a connection without changing the file, except that the transaction of a process that
    /// was killed is undone.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func openUnchanged() throws(SQLiteError) -> SQLiteConnection {
        try place.open { () throws(SQLiteError) in
            try isReadOnly ? connectForReading() : connect(isReadOnly: false)
        }
    }

    private func connectForReading() throws(SQLiteError) -> SQLiteConnection {
        do throws(SQLiteError) { return try connect(isReadOnly: true) } catch {
            guard error.code == SQLiteError.Code.readOnlyRollback, (try? connect(isReadOnly: false)) != nil else {
                throw error
            }
            return try connect(isReadOnly: true)
        }
    }

    /// Switches the file of a connection to a write-ahead log, unless the connection is read-only.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func keepLog(of connection: SQLiteConnection) throws(SQLiteError) {
        guard !isReadOnly else { return }
        try place.open { () throws(SQLiteError) in try connection.keepLog(waitingAtMost: options.busyTimeout) }
        // With a log, commits always survive a crash of the program. With NORMAL, the database also
        // survives a crash of the system without damage.
        if folder == nil { try connection.execute("PRAGMA synchronous = NORMAL") }
    }

    /// Lets temporary tables, and what a statement may undo, be in memory.
    static let keepsTemporaryInMemory = "PRAGMA temp_store = MEMORY"
    /// Lets them be in files. Refused in a transaction once the connection has a temporary table.
    static let keepsTemporaryInFiles = "PRAGMA temp_store = FILE"

    private func connect(isReadOnly: Bool) throws(SQLiteError) -> SQLiteConnection {
        let (seconds, attoseconds) = options.busyTimeout.components
        let milliseconds = min(max(seconds * 1000 + attoseconds / 1_000_000_000_000_000, 0), Int64(Int32.max))
        let connection = try SQLiteConnection(
            path: absolutePath, isReadOnly: isReadOnly, busyTimeout: Int32(truncatingIfNeeded: milliseconds),
            dates: options.dates)
        try connection.execute(
            """
            PRAGMA synchronous = \(folder != nil ? "OFF" : "FULL"); PRAGMA foreign_keys = ON; \
            \(Self.keepsTemporaryInMemory); PRAGMA cache_size = -\(max(options.cacheByteCount >> 10, 1))
            """)
        // The first read of the file, which undoes an interrupted transaction.
        _ = try connection.integer("PRAGMA schema_version")
        if options.trustsSchema { connection.trustSchema() }
        if let maximumPageCount = options.maximumPageCount {
            try connection.execute("PRAGMA max_page_count = \(maximumPageCount)")
        }
        return connection
    }
}
