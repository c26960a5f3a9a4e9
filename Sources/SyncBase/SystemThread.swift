#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A system thread that runs one closure.
///
/// Foundation has a similar class, but FoundationEssentials has none.
package final class SystemThread: Sendable {
    /// A system error, by its number.
    package struct Failure: Error {
        package let code: Int32
    }

    /// The state that the new thread takes over.
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    #if canImport(Glibc)
    private let thread: pthread_t
    #else
    /// Unsafe, because it is a pointer on this platform. It is set once, passed only to thread
    /// functions, and never dereferenced.
    private nonisolated(unsafe) let thread: pthread_t
    #endif
    private let isJoined = Locked(false)

    /// Creates and starts a thread.
    ///
    /// - Parameters:
    ///   - name: The thread's name, which debuggers and `top` show. Linux keeps its first 15 bytes.
    ///   - body: Runs on the thread, which ends when it returns.
    /// - Throws: ``Failure`` if the system refuses a thread.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(Failure) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        #if canImport(Darwin)
        // Tasks of any priority wait for these threads.
        pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0)
        #endif
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        #if canImport(Glibc)
        var started = pthread_t()
        let code = pthread_create(&started, &attributes, Self.entry, work.toOpaque())
        let thread: pthread_t? = code == 0 ? started : nil
        #else
        var thread: pthread_t?
        let code = pthread_create(&thread, &attributes, Self.entry, work.toOpaque())
        #endif
        guard code == 0, let thread else {
            work.release()
            throw Failure(code: code)
        }
        self.thread = thread
    }

    deinit {
        if !isJoined.value { pthread_detach(thread) }
    }

    /// Whether the calling code runs on the thread.
    package var isCurrent: Bool {
        pthread_equal(thread, pthread_self()) != 0
    }

    /// Waits until the thread has ended. Only the first call waits.
    package func join() {
        let isFirst = isJoined.withLock { isJoined in
            defer { isJoined = true }
            return !isJoined
        }
        if isFirst { pthread_join(thread, nil) }
    }

    #if canImport(Darwin)
    private static let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { run($0) }
    #else
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { run($0) }
    #endif

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        nameThread(work.name)
        work.body()
        return nil
    }

    /// Names the current thread.
    private static func nameThread(_ name: String) {
        #if canImport(Darwin)
        pthread_setname_np(name)
        #else
        // Swift does not see `pthread_setname_np` on Linux.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name, name.utf8.count)
        close(file)
        #endif
    }
}
