import SyncBase

/// A small HTTP/1.1 server on 127.0.0.1, for demonstrations, tests and benchmarks.
///
/// It listens on a port that the system picks, answers every request with what a closure returns, and keeps
/// connections alive. A ``LoopbackResponse`` can also be told to misbehave: a body cut short, a body without an end,
/// no reply at all. It is not a server for a network: there is no TLS, no idle timeout and no access control.
///
/// Every blocking call runs on a thread of the server's own, one to accept and one for each connection; Swift's
/// cooperative threads are never blocked by it.
///
///     let server = try LoopbackHTTPServer { request in
///         request.path == "/hello" ? .text("hello") : .status(404)
///     }
///     // … GET http://127.0.0.1:<port>/hello …
///     await server.stop()
package final class LoopbackHTTPServer: Sendable {
    /// Answers one request. Called on the connection's own thread, so it may block; several connections call it at once.
    package typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// What the server accepts before it refuses.
    package struct Limits: Sendable {
        /// The longest request line and header fields, in bytes; longer is answered with 431. 65,536 by default.
        package var headByteCount: Int
        /// The longest request body, in bytes; longer is answered with 413. 1,048,576 by default.
        package var bodyByteCount: Int
        /// The most connections at once; one more is closed without a reply. 1,024 by default.
        package var connectionCount: Int

        package init(headByteCount: Int = 65_536, bodyByteCount: Int = 1_048_576, connectionCount: Int = 1_024) {
            self.headByteCount = headByteCount
            self.bodyByteCount = bodyByteCount
            self.connectionCount = connectionCount
        }
    }

    /// The port the server listens on, 1…65535.
    package let port: Int

    /// Closed for good when the server stops; every wait of every thread looks at it.
    private let stopSignal: LoopbackGate
    private let shutdown: Shutdown

    /// Starts listening; requests are answered from here on until ``stop()``.
    ///
    /// - Parameters:
    ///   - limits: What is accepted before the server refuses.
    ///   - handler: Answers each request.
    /// - Throws: ``LoopbackError`` when the system gives no socket, port or thread.
    package init(limits: Limits = Limits(), handler: @escaping Handler) throws(LoopbackError) {
        let stopSignal = try LoopbackGate()
        let listener = try Descriptor.boundToLoopback()
        try listener.startListening()
        let shutdown = Shutdown()
        self.port = try listener.boundPort()
        self.stopSignal = stopSignal
        self.shutdown = shutdown
        let acceptor = Acceptor(listener: listener, stopSignal: stopSignal, limits: limits, handler: handler)
        let thread = try ServerThread {
            acceptor.run()
            shutdown.finish()
        }
        shutdown.adopt(thread)
    }

    deinit {
        // A server that nobody stopped does not wait for its threads, but it does let them end.
        stopSignal.open()
    }

    /// The server's address without a trailing slash, such as `http://127.0.0.1:49152`.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Stops listening, closes every connection, and returns once the last of the server's threads has ended.
    ///
    /// A reply that is being written is cut off. A handler that blocks on something of its own is waited for. Calling
    /// it again returns when the first call would. It does not look at the caller's cancellation.
    package func stop() async {
        stopSignal.open()
        await shutdown.wait()
    }

    /// Runs a server for as long as `body` runs, and stops it whatever the outcome.
    ///
    /// - Parameters:
    ///   - limits: What is accepted before the server refuses.
    ///   - handler: Answers each request.
    ///   - body: Gets the running server.
    /// - Returns: What `body` returns.
    /// - Throws: ``LoopbackError`` when the server cannot start, or what `body` throws.
    package static func serving<Result: Sendable>(
        limits: Limits = Limits(),
        _ handler: @escaping Handler,
        whileRunning body: (LoopbackHTTPServer) async throws -> Result
    ) async throws -> Result {
        let server = try LoopbackHTTPServer(limits: limits, handler: handler)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }
}

/// The end of a server: the accepting thread reports it, callers of `stop()` wait for it.
private final class Shutdown: Sendable {
    private let thread = Locked<ServerThread?>(nil)
    private let end = Promise<Void>()

    /// Keeps the accepting thread, to be joined at the end.
    func adopt(_ thread: ServerThread) {
        self.thread.withLock { $0 = thread }
    }

    /// Called by the accepting thread as its last act.
    func finish() {
        end.settle()
    }

    /// Returns when the accepting thread has done its last act, and joins it.
    func wait() async {
        // The promise never fails, and the wait is not cancellable.
        try? await end.value(isCancellable: false)
        // The thread has nothing left to do but return: joining it takes no noticeable time.
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }
}
