import COneWaySQLite
import SyncBase

/// A request to interrupt a transaction, made on any thread and checked by the statements.
///
/// `sqlite3_interrupt` is not suitable: it interrupts the connection's current statement, which may
/// belong to the next transaction already.
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
    /// The cancellation of the current transaction; nil if there is nothing to interrupt.
    var cancellation: SQLiteCancellation?
    /// Whether the connection waits for locks of other connections.
    var isPatient = true
    private let busyTimeout: Int32
    /// The number of SQLite's instructions between two checks, which take a few microseconds.
    private static let instructionCount: Int32 = 4096
    /// The waits before each attempt to get a lock, in milliseconds. The last one repeats.
    private static let delays: [Int32] = [1, 2, 5, 10, 15, 20, 25]

    /// Creates an interruption.
    ///
    /// - Parameter busyTimeout: The time to wait for locks of other connections, in milliseconds.
    init(busyTimeout: Int32) {
        self.busyTimeout = busyTimeout
    }

    private var isRequested: Bool {
        cancellation?.isRequested ?? false
    }

    /// Registers the callbacks on a connection, which must not outlive this object.
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

    /// Waits for a lock of another connection.
    ///
    /// - Parameter count: The number of previous waits for this lock.
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

    /// Whether a cancellation caused an error.
    func caused(_ error: SQLiteError) -> Bool {
        isRequested && (error.primaryCode == SQLITE_INTERRUPT || error.primaryCode == SQLITE_BUSY)
    }
}
