import Foundation

/// A value behind a lock.
///
/// Does what `Synchronization.Mutex` does, with a lock that the Thread Sanitizer sees: on Linux it takes what a `Mutex`
/// protects for races, in whichever program uses this package.
///
/// Unchecked, because the compiler does not know the lock: `value` is read and written only while `lock` is held.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// Reads or changes the value, alone. Not to be called from inside itself.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
