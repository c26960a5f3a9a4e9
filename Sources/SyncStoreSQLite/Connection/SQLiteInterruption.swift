import COneWaySQLite
import SyncBase

/// A request to interrupt a transaction, made on any thread and checked by its statements.
///
/// `sqlite3_interrupt` would not do: it is for whatever a connection does at that moment, which may
/// be the next transaction already.
final class SQLiteCancellation: Sendable {
    private let isRequestedFlag = Locked(false)

    var isRequested: Bool { isRequestedFlag.value }

    func request() {
        isRequestedFlag.value = true
    }
}

/// Interrupts the statements and waits of a connection whose transaction is cancelled.
///
/// Used on the connection's thread only.
final class SQLiteInterruption {
    /// The transaction's; nil where nothing is to be broken off.
    var cancellation: SQLiteCancellation?
    /// Whether the connection waits for locks of others at all.
    var isPatient = true
    private let busyTimeout: Int32
    /// How many of SQLite's instructions are run from one look to the next: some microseconds'
    /// worth.
    private static let instructionCount: Int32 = 4096
    /// How long it waits for a lock before it tries again, in milliseconds: the first times, then
    /// always the last.
    private static let delays: [Int32] = [1, 2, 5, 10, 15, 20, 25]

    /// - Parameter busyTimeout: How long to wait for locks of others, in milliseconds.
    init(busyTimeout: Int32) {
        self.busyTimeout = busyTimeout
    }

    private var isRequested: Bool {
        cancellation?.isRequested ?? false
    }

    /// Has a connection ask, which must not outlive this.
    func install(on handle: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            handle, Self.instructionCount,
            { context in
                guard let context else { return 0 }
                return Unmanaged<SQLiteInterruption>.fromOpaque(context).takeUnretainedValue().isRequested ? 1 : 0
            }, context)
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                return Unmanaged<SQLiteInterruption>.fromOpaque(context).takeUnretainedValue().wait(count) ? 1 : 0
            }, context)
    }

    /// Waits for somebody else's lock.
    ///
    /// - Parameter count: How often it has been waited for already.
    /// - Returns: Whether to try again.
    func wait(_ count: Int32) -> Bool {
        let longest = Self.delays[Self.delays.count - 1]
        let count = Int(count)
        let waited =
            Self.delays.prefix(count).reduce(0, +) + longest * Int32(max(count - Self.delays.count, 0))
        guard isPatient, waited < busyTimeout, !isRequested else { return false }
        sqlite3_sleep(min(count < Self.delays.count ? Self.delays[count] : longest, busyTimeout - waited))
        return true
    }

    /// Whether an error came of a cancellation.
    func caused(_ error: SQLiteError) -> Bool {
        isRequested && (error.primaryCode == SQLITE_INTERRUPT || error.primaryCode == SQLITE_BUSY)
    }
}
