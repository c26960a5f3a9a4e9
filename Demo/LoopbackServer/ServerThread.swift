#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A system thread that runs one closure and is joined once.
final class ServerThread: Sendable {
    /// The closure, in an object that is passed to the thread.
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    #if canImport(Darwin)
    /// `nonisolated(unsafe)`, because it is a pointer on Apple's platforms. It is set once in
    /// `init`, only passed to `pthread_join`, and never dereferenced.
    private nonisolated(unsafe) let thread: pthread_t
    #else
    private let thread: pthread_t
    #endif

    /// Creates and starts a thread.
    ///
    /// - Throws: ``LoopbackError`` if the system cannot create a thread.
    init(_ body: @escaping @Sendable () -> Void) throws(LoopbackError) {
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, nil, Self.entry, work.toOpaque())
        #if canImport(Darwin)
        guard code == 0, let thread else {
            work.release()
            throw .system(call: "pthread_create", code: code)
        }
        #else
        guard code == 0 else {
            work.release()
            throw .system(call: "pthread_create", code: code)
        }
        #endif
        self.thread = thread
    }

    /// Waits for the thread to end. Must be called exactly once.
    func join() {
        pthread_join(thread, nil)
    }

    #if canImport(Darwin)
    private static let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { run($0) }
    #else
    private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { run($0) }
    #endif

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}
