import SyncBase

/// A small HTTP/1.1 server on 127.0.0.1 for demonstrations, tests and benchmarks.
///
/// It listens on a port that the system chooses, answers every request by calling a closure, and
/// keeps connections alive. A ``LoopbackResponse`` can also be incorrect: a truncated body, an
/// endless body, or no reply. The server is not suitable for a network: it has no TLS, idle timeout
/// or access control.
///
/// All blocking calls run on the server's own threads, one to accept connections and one per
/// connection. They never block Swift's cooperative threads.
///
///     let server = try LoopbackHTTPServer { request in
///         request.path == "/hello" ? .text("hello") : .status(404)
///     }
///     // … GET http://127.0.0.1:<port>/hello …
///     await server.stop()
package final class LoopbackHTTPServer: Sendable {
    /// A closure that answers a request.
    ///
    /// It is called on the connection's own thread, so it can block. Several connections call it
    /// concurrently.
    package typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// The limits beyond which the server rejects requests and connections.
    package struct Limits: Sendable {
        /// The maximum size of request line and header fields in bytes, 65,536 by default; beyond
        /// it, the status is 431.
        package var headByteCount: Int
        /// The maximum size of a request body in bytes, 1,048,576 by default; beyond it, the status
        /// is 413.
        package var bodyByteCount: Int
        /// The maximum number of connections, 1,024 by default; another one is closed without a
        /// reply.
        package var connectionCount: Int

        package init(headByteCount: Int = 65_536, bodyByteCount: Int = 1_048_576, connectionCount: Int = 1_024) {
            self.headByteCount = headByteCount
            self.bodyByteCount = bodyByteCount
            self.connectionCount = connectionCount
        }
    }

    /// The port that the server listens on, 1…65535.
    package let port: Int

    /// A gate that opens when the server stops; every wait of every thread watches it.
    private let stopSignal: LoopbackGate
    private let shutdown: Shutdown

    /// Creates a server that answers requests until ``stop()`` is called.
    ///
    /// - Parameters:
    ///   - limits: The limits beyond which the server rejects requests and connections.
    ///   - handler: The closure that answers each request.
    /// - Throws: ``LoopbackError`` if the system cannot provide a socket, port or thread.
    package init(limits: Limits = Limits(), handler: @escaping Handler) throws(LoopbackError) {
        let stopSignal = try LoopbackGate()
        let listener = try Descriptor.boundToLoopback()
        try listener.startListening()
        let shutdown = Shutdown()
        self.port = try listener.boundPort()
        self.stopSignal = stopSignal
        self.shutdown = shutdown
        let acceptor = Acceptor(listener: listener, stopSignal: stopSignal, limits: limits, handler: handler)
        do throws(SystemThread.Failure) {
            shutdown.use(
                try SystemThread(name: "LoopbackServer") {
                    acceptor.run()
                    shutdown.finish()
                })
        } catch {
            throw .system(call: "pthread_create", code: error.code)
        }
    }

    deinit {
        // A server that was not stopped lets its threads end without waiting for them.
        stopSignal.open()
    }

    /// The server's address without a trailing slash, such as `http://127.0.0.1:49152`.
    package var baseURL: String { "http://127.0.0.1:\(port)" }

    /// Stops listening, closes all connections, and waits for the server's threads to end.
    ///
    /// A reply in progress is truncated. A handler that blocks delays the return. A repeated call
    /// returns at the same time as the first one. The cancellation of the caller has no effect.
    package func stop() async {
        stopSignal.open()
        await shutdown.wait()
    }

    /// Runs a server during a closure, and stops it afterwards, also if the closure throws.
    ///
    /// - Parameters:
    ///   - limits: The limits beyond which the server rejects requests and connections.
    ///   - handler: The closure that answers each request.
    ///   - body: The closure, which receives the running server.
    /// - Returns: The result of `body`.
    /// - Throws: ``LoopbackError`` if the server cannot start, or the error of `body`.
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

/// The end of a server: the accepting thread reports it, and callers of `stop()` wait for it.
private final class Shutdown: Sendable {
    private let thread = Locked<SystemThread?>(nil)
    private let end = Promise<Void>()

    /// Keeps the accepting thread, to join it at the end.
    func use(_ thread: SystemThread) {
        self.thread.withLock { $0 = thread }
    }

    /// Resumes the waiters. The accepting thread calls it last.
    func finish() {
        end.settle()
    }

    /// Waits until the accepting thread has called `finish()`, and joins it.
    func wait() async {
        // The promise never fails, and the wait is not cancellable.
        try? await end.value(isCancellable: false)
        // The thread only has to return, so joining it takes almost no time.
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }
}
