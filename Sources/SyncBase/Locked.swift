#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A value behind a lock; the only lock of this package.
///
/// Does the same as `Synchronization.Mutex`, with a lock that the Thread Sanitizer supports: on
/// Linux the sanitizer reports false races for values that a `Mutex` protects.
///
/// A value that the body replaces is released while the lock is held. If its `deinit`, or the
/// `deinit` of a value inside it, may call into this package, return the value from the body.
///
/// Unchecked, because the compiler does not know the lock: the memory of `content` is accessed only
/// while `lock` is held.
// Usable from inline code, like every generic type of this module that others call often: otherwise
// the compiler ignores `@inlinable` on methods of a package type.
@usableFromInline package final class Locked<Value: Sendable>: @unchecked Sendable {
    /// Allocated separately, because a lock must not move.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    /// Allocated separately: each access to a stored property would be checked for exclusivity.
    @usableFromInline let content: UnsafeMutablePointer<Value>

    /// Creates a lock around a value.
    package init(_ value: Value) {
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
        content = .allocate(capacity: 1)
        content.initialize(to: value)
    }

    deinit {
        content.deinitialize(count: 1)
        content.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Runs a function with exclusive access to the value.
    ///
    /// Not reentrant: the body must not use the same lock again.
    // Inlinable: without specialization, each call looks up the types of its body at run time.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        acquire()
        defer { release() }
        return try body(&content.pointee)
    }

    /// Locks. Not inlined, because other modules do not import the system's library.
    @usableFromInline
    func acquire() {
        pthread_mutex_lock(lock)
    }

    /// Unlocks.
    @usableFromInline
    func release() {
        pthread_mutex_unlock(lock)
    }

    /// The value; changing a part of it in place, as in `options.value.limit = 3`, is atomic.
    ///
    /// The replaced part is released outside the lock.
    package var value: Value {
        get { withLock { $0 } }
        _modify {
            acquire()
            let former = content.pointee
            defer {
                release()
                withExtendedLifetime(former) {}
            }
            yield &content.pointee
        }
    }
}
