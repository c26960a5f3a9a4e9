import SyncBase
import OneWaySynchronizer

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPClient {
    /// The network transport of Foundation: `URLSession`, which decompresses bodies and trusts the
    /// system's certificates.
    ///
    /// Cookies and caches are not used; redirects are returned, not followed. On Apple platforms, a
    /// body that is not read stops arriving after some megabytes. On Linux, a session reads as fast
    /// as the server sends, so unread bytes are held in memory, up to the client's size limit. An
    /// endless body that arrives faster than it is read, as from a server on the same machine,
    /// prevents the session from noticing that it was stopped.
    public final class URLSessionTransport: HTTPClient.Transport {
        /// One year in seconds.
        private static let noTimeout: TimeInterval = 31_536_000
        private let session: URLSession
        /// What a session cannot do; nil if nothing of it is needed.
        private let refusal: String?
        private let delegate = ExchangeDelegate()
        /// The queue that suspends, resumes and cancels tasks, in the order of these events.
        ///
        /// `URLSessionTask.cancel` waits for the session's own queue, which on Linux can wait for
        /// the task that is being cancelled. Never call it in a cancellation handler or a delegate.
        private let changing = DispatchQueue(label: "HTTPClient.URLSessionTransport.changing")

        /// Creates a transport with its own session.
        ///
        /// - Parameter configuration: The configuration of the session; an ephemeral one by
        ///   default. Caches and cookies are disabled in it.
        public convenience init(configuration: URLSessionConfiguration = .ephemeral) {
            self.init(HTTPClient.ConnectionOptions(), configuration: configuration)
        }

        /// Creates a transport with options; see ``HTTPClient/ConnectionOptions``.
        ///
        /// - Parameters:
        ///   - options: How the transport connects.
        ///   - configuration: The configuration of the session; an ephemeral one by default.
        public init(_ options: HTTPClient.ConnectionOptions, configuration: URLSessionConfiguration = .ephemeral) {
            refusal =
                options == HTTPClient.ConnectionOptions()
                ? nil : "a URLSession cannot have these options of a connection: \(options)"
            // The client limits the number of requests, and an abandoned request may keep its
            // connection for a while.
            configuration.httpMaximumConnectionsPerHost = 4_096
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.urlCache = nil
            // The client limits silence and duration.
            configuration.timeoutIntervalForRequest = Self.noTimeout
            configuration.timeoutIntervalForResource = Self.noTimeout
            configuration.httpCookieStorage = nil
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        }

        deinit {
            // Returns the connections after the last request has ended.
            session.finishTasksAndInvalidate()
        }

        /// Sends a request; ``HTTPClient/Transport/send(_:)`` documents the contract.
        public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            if let refusal { throw HTTPError.Problem.unsuitableSettings(refusal) }
            // A session leaves out a field that it cannot send.
            try request.validate()
            if request.requiresPublicAddress { try await PublicName.check(request.url) }
            var wanted = URLRequest(url: request.url)
            wanted.timeoutInterval = Self.noTimeout
            wanted.httpMethod = request.method
            wanted.httpBody = request.body.map { Data($0) }
            for (name, value) in request.headers.fields { wanted.setValue(value, forHTTPHeaderField: name) }
            let task = session.dataTask(with: wanted)
            let exchange = Exchange(task: task, changing: changing)
            delegate.register(exchange, for: task)
            let head = try await exchange.head()
            var headers: [(name: String, value: String)] = []
            for (name, value) in head.allHeaderFields {
                if let name = name as? String, let value = value as? String { headers.append((name, value)) }
            }
            var response = HTTPResponse(
                status: head.statusCode, headers: HTTPHeaders(headers), body: ExchangeBody(exchange: exchange))
            // A session does not report the HTTP version. Versions after HTTP/1 have no field
            // `Connection` (RFC 9113, section 8.2.2).
            let fields = response.headers
            let hasEnd =
                fields["Connection"]?.lowercased().contains("close") != true || fields["Content-Length"] != nil
                || fields["Transfer-Encoding"] != nil
            response.isFramed = response.isFramed && hasEnd
            return response
        }
    }
}

/// The pieces of a body from a session. Releasing the last reference ends its exchange.
private final class ExchangeBody: AsyncSequence, Sendable {
    private let exchange: Exchange

    init(exchange: Exchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.end(.failure(CancellationError()))
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let body: ExchangeBody

        mutating func next() async throws -> [UInt8]? {
            try await body.exchange.next()
        }
    }
}

/// Forwards a session's callbacks to their exchanges.
private final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Locked<[Int: Exchange]>([:])

    func register(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.complete(error)
    }
}
