import SyncBase
import Foundation
import OneWaySynchronizer
import SyncStoreSQLite

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Takes and releases a lease again and again until its standard input ends: `lease FILE WITNESS`
/// for an SQLite database's lease, `file-lease FILE WITNESS` for one in a file of its own.
///
/// It says `asked`, `held`, `confirmed` and `released`, and `violation` where another process holds
/// the lease as well. That is seen by a lock of the system's on another file, of the same kind as
/// the lease's: such locks go when a process dies and its files are closed, and this one's file is
/// closed first, since its descriptor is the lower one.
enum LeaseRole {
    static func run(_ arguments: [String]) async throws {
        try await run(arguments) { SQLiteLease(for: $0, retryInterval: .milliseconds(10)) }
    }

    static func runWithFile(_ arguments: [String]) async throws {
        try await run(arguments) { FileLease(at: URL(filePath: $0), retryInterval: .milliseconds(10)) }
    }

    private static func run(_ arguments: [String], _ makeLease: (String) -> any SyncLease) async throws {
        guard arguments.count == 2 else { throw UsageError() }
        let witness = open(arguments[1], O_RDWR | O_CREAT, 0o600)
        guard witness >= 0 else { throw UsageError() }
        let isOver = Locked(false)
        Thread.detachNewThread {
            while readLine() != nil {}
            isOver.withLock { $0 = true }
        }
        let lease = makeLease(arguments[0])
        while !isOver.withLock(\.self) {
            TestChild.say("asked")
            try await lease.withLease(waiting: .forever) {
                guard lock(witness, F_WRLCK) else { return TestChild.say("violation") }
                // Before the lease is released.
                defer { _ = lock(witness, F_UNLCK) }
                TestChild.say("held")
                try await SyncLeaseScope.confirm()
                TestChild.say("confirmed")
            }
            TestChild.say("released")
        }
    }

    /// Sets or takes off the process's lock on a file.
    ///
    /// - Returns: Whether no other process has one.
    private static func lock(_ descriptor: Int32, _ kind: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(kind)
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, F_SETLK, &lock) == 0
    }
}
