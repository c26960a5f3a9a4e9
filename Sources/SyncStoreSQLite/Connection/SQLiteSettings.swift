import Foundation
import SyncStoreSQL

/// How connections of a store are opened.
struct SQLiteSettings: Sendable {
    let path: String
    /// The same path wherever the process is: readers open the file when they are needed.
    let absolutePath: String
    let isReadOnly: Bool
    /// The folder of a file that is gone with the store, so that nothing needs to reach the disk.
    /// Nil for a file that stays.
    let folder: TransientFolder?
    let busyTimeout: Duration
    let modelVersion: Int
    /// A text to keep with the tables; nil to leave an earlier one.
    let note: String?
    /// The largest number of pages of the file; nil for SQLite's own limit.
    let maximumPageCount: Int?
    /// How many bytes of pages are kept in memory.
    let cacheByteCount: Int

    init(path: String, isReadOnly: Bool, folder: TransientFolder? = nil, _ options: SQLiteStore.Options) {
        self.path = path
        absolutePath = path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
        self.isReadOnly = isReadOnly
        self.folder = folder
        busyTimeout = options.busyTimeout
        modelVersion = options.modelVersion
        note = options.note
        maximumPageCount = options.maximumPageCount
        cacheByteCount = options.cacheByteCount
    }

    /// The place of the file.
    var place: SQLitePlace { SQLitePlace(path: path, isReadOnly: isReadOnly) }

    /// Opens a connection to a file with a write-ahead log, except for reading.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func open() throws(SQLiteError) -> SQLiteConnection {
        let connection = try openUnchanged()
        try keepLog(of: connection)
        return connection
    }

    /// Opens a connection that leaves the file as it is.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func openUnchanged() throws(SQLiteError) -> SQLiteConnection {
        try place.open(connect)
    }

    /// Has the file of a connection keep a write-ahead log, except for reading.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func keepLog(of connection: SQLiteConnection) throws(SQLiteError) {
        guard !isReadOnly else { return }
        try place.open { () throws(SQLiteError) in try connection.keepLog(waitingAtMost: busyTimeout) }
        // With the log a commit survives a crash of the program either way, and NORMAL one of the
        // system without damage.
        if folder == nil { try connection.execute("PRAGMA synchronous = NORMAL") }
    }

    private func connect() throws(SQLiteError) -> SQLiteConnection {
        let (seconds, attoseconds) = busyTimeout.components
        let milliseconds = min(max(seconds * 1000 + attoseconds / 1_000_000_000_000_000, 0), Int64(Int32.max))
        let connection = try SQLiteConnection(
            path: absolutePath, isReadOnly: isReadOnly, busyTimeout: Int32(truncatingIfNeeded: milliseconds))
        try connection.execute(
            """
            PRAGMA synchronous = \(folder != nil ? "OFF" : "FULL"); PRAGMA foreign_keys = ON; \
            PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(max(cacheByteCount >> 10, 1))
            """)
        if let maximumPageCount {
            try connection.execute("PRAGMA max_page_count = \(maximumPageCount)")
        }
        return connection
    }
}
