import Foundation
import SyncStoreSQL

/// How connections of a store are opened.
struct SQLiteSettings: Sendable {
    let path: String
    let isReadOnly: Bool
    /// Whether the file is gone with the store, so that nothing needs to reach the disk.
    let isTransient: Bool
    let busyTimeout: Duration
    let modelVersion: Int
    /// How many pages the file may have; nil for as many as SQLite allows.
    let maximumPageCount: Int?
    /// How many bytes of pages are kept in memory.
    let cacheByteCount: Int

    /// Opens a connection.
    func open() throws(SQLiteError) -> SQLiteConnection {
        let (seconds, attoseconds) = busyTimeout.components
        let milliseconds = min(max(seconds * 1000 + attoseconds / 1_000_000_000_000_000, 0), Int64(Int32.max))
        let connection = try SQLiteConnection(
            path: path, isReadOnly: isReadOnly, busyTimeout: Int32(truncatingIfNeeded: milliseconds))
        if !isReadOnly {
            try connection.execute("PRAGMA journal_mode = WAL")
        }
        // In WAL mode a commit survives a crash of the program either way, and NORMAL one of the system without damage.
        try connection.execute(
            """
            PRAGMA synchronous = \(isTransient ? "OFF" : "NORMAL"); PRAGMA foreign_keys = ON; \
            PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(max(cacheByteCount >> 10, 1))
            """)
        if let maximumPageCount {
            try connection.execute("PRAGMA max_page_count = \(maximumPageCount)")
        }
        return connection
    }
}
