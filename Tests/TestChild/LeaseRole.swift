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

/// Takes and releases the lease on a file again and again until its standard input ends: `lease FILE WITNESS`.
///
/// It says `asked`, `held`, `confirmed` and `released`, and `violation` where another process holds the lease as well. That is seen by a lock of the
/// system's on another file, which goes with its process as well, and before the lease: its descriptor is the lower one.
enum LeaseRole {
    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 2 else { throw UsageError() }
        let witness = open(arguments[1], O_RDWR | O_CREAT, 0o600)
        guard witness >= 0 else { throw UsageError() }
        let isOver = Locked(false)
        Thread.detachNewThread {
            while readLine() != nil {}
            isOver.withLock { $0 = true }
        }
        let lease = SQLiteLease(for: arguments[0], duration: .milliseconds(30))
        while !isOver.withLock(\.self) {
            TestChild.say("asked")
            do {
                try await lease.withLease(waiting: .forever) {
                    guard flock(witness, LOCK_EX | LOCK_NB) == 0 else { return TestChild.say("violation") }
                    // Before the lease is released, also where it was lost.
                    defer { _ = flock(witness, LOCK_UN) }
                    TestChild.say("held")
                    try await SyncLeaseScope.confirm()
                    TestChild.say("confirmed")
                }
                TestChild.say("released")
            } catch SyncLeaseError.lost {
                // A machine that is busy may not let a process run for so short a time.
                TestChild.say("lost")
            }
        }
    }
}
