import SyncBase
import Foundation
import OneWaySynchronizer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A running request of a session: the received data, and the tasks that wait for it.
///
/// The first end counts: the last byte, an error or a cancel. Anything that arrives later is
/// ignored.
final class Exchange: Sendable {
    private struct State: Sendable {
        var response: HTTPURLResponse?
        var receivedByteCount = 0
        /// Bytes that have arrived but are not read yet.
        var unread: [UInt8] = []
        var headWaiters = Waiters<HTTPURLResponse>()
        var bodyWaiters = Waiters<[UInt8]?>()
        /// Set once.
        var end: Result<Void, any Error>?
        var isStopped = false
        /// Whether the session should pause because many bytes are unread.
        var isPauseWanted = false
    }

    private typealias HeadWaiter = Waiters<HTTPURLResponse>.Waiter
    private typealias BodyWaiter = Waiters<[UInt8]?>.Waiter

    /// The number of unread bytes at which the session should pause.
    private static let unreadByteCount = 4 << 20

    private let task: URLSessionTask
    /// A serial queue that suspends, resumes and cancels the task.
    private let changing: DispatchQueue
    private let state = Locked(State())
    /// Whether the task is suspended. Only the queue changes it.
    private let isSuspended = Locked(false)

    init(task: URLSessionTask, changing: DispatchQueue) {
        self.task = task
        self.changing = changing
    }

    /// Sends the request, and waits for the head of the response.
    ///
    /// - Throws: The error that has already ended the exchange; `CancellationError` if the task is
    ///   cancelled, which ends the exchange.
    func head() async throws -> HTTPURLResponse {
        try await withTaskCancellationHandler {
            if state.withLock(\.end) == nil {
                task.resume()
            } else {
                // A task that was never resumed would keep its session from ending.
                changing.async { [task] in task.cancel() }
            }
            return try await state.wait(in: \.headWaiters, isCancellable: false) { state in
                if let response = state.response { return .success(response) }
                return state.end?.flatMap { Self.endWithoutHead }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    private static let endWithoutHead = Result<HTTPURLResponse, any Error>.failure(
        HTTPError.Problem.unreachable("no reply", isLasting: false))

    /// The next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            let wasPauseWanted = state.withLock { state in
                defer { state.isPauseWanted = false }
                return state.isPauseWanted
            }
            if wasPauseWanted { schedulePause() }
            // A cancel ends the exchange, which ends the wait.
            return try await state.wait(in: \.bodyWaiters, isCancellable: false) { state in
                if case .failure(let error) = state.end, state.unread.isEmpty || error is CancellationError {
                    return .failure(error)
                }
                if !state.unread.isEmpty {
                    defer { state.unread = [] }
                    return .success(state.unread)
                }
                return state.end == nil ? nil : .success(nil)
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    /// Ends the exchange, unless it has already ended.
    func end(_ outcome: Result<Void, any Error>) {
        let waiters = state.withLock { state in
            guard state.end == nil else { return nil as (head: [HeadWaiter], body: [BodyWaiter])? }
            state.end = outcome
            return (state.headWaiters.removeAll(), state.bodyWaiters.removeAll())
        }
        guard let waiters else { return }
        for waiter in waiters.head { waiter.resume(with: outcome.flatMap { Self.endWithoutHead }) }
        for waiter in waiters.body { waiter.resume(with: outcome.map { nil }) }
        if case .failure = outcome { stopIfAllowed() }
    }

    /// Stops the request if this is allowed now.
    ///
    /// On Linux, cancelling a task that waits for its delegate's decision on a redirect crashes the
    /// process, and whether it waits for that is unknown until its response has arrived. Until
    /// then, the request is left running: its response stops it, or its silence ends it.
    private func stopIfAllowed() {
        let mayStop = state.withLock { state in
            guard case .failure = state.end, !state.isStopped else { return false }
            #if canImport(FoundationNetworking)
            guard state.response != nil else { return false }
            #endif
            state.isStopped = true
            return true
        }
        if mayStop { changing.async { [task] in task.cancel() } }
    }

    /// Suspends or resumes a session's task, as requested at the time when the queue runs the
    /// change.
    private func schedulePause() {
        #if !canImport(FoundationNetworking)
        changing.async { [self] in
            let isWanted = state.withLock { $0.isPauseWanted && $0.end == nil }
            guard isWanted != isSuspended.withLock({ $0 }) else { return }
            isSuspended.withLock { $0 = isWanted }
            if isWanted { task.suspend() } else { task.resume() }
        }
        #endif
    }

    // MARK: The session's callbacks

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return end(.failure(HTTPError.Problem.unreachable("the reply is not HTTP", isLasting: true)))
        }
        let waiter = state.withLock { state in
            state.response = response
            return state.headWaiters.removeFirst()
        }
        waiter?.resume(returning: response)
        stopIfAllowed()
    }

    func receive(_ data: Data) {
        let (waiter, isPauseNew) = state.withLock { state in
            state.receivedByteCount += data.count
            guard state.end == nil else { return (nil as BodyWaiter?, false) }
            if let waiter = state.bodyWaiters.removeFirst() { return (waiter, false) }
            state.unread += data
            // Set together with the bytes, so that the reader who takes them ends the pause.
            guard state.unread.count > Self.unreadByteCount, !state.isPauseWanted else { return (nil, false) }
            state.isPauseWanted = true
            return (nil, true)
        }
        waiter?.resume(returning: [UInt8](data))
        if isPauseNew { schedulePause() }
    }

    func complete(_ error: (any Error)?) {
        let (response, received) = state.withLock { ($0.response, $0.receivedByteCount) }
        guard let response else { return end(.failure(Self.problem(of: error))) }
        // A redirect that is not followed has no relevant body.
        if (300..<400).contains(response.statusCode) { return end(.success(())) }
        let promised = response.promisedByteCount
        let code = (error as? URLError)?.code
        if code == .timedOut || code == .cannotDecodeRawData || code == .cannotDecodeContentData {
            end(.failure(Self.problem(of: error)))
        } else if error != nil || promised.map({ $0 != received }) ?? false {
            end(.failure(HTTPError.Problem.cutShort(received: received, expected: promised)))
        } else {
            end(.success(()))
        }
    }

    private static func problem(of error: (any Error)?) -> HTTPError.Problem {
        guard let error = error as? URLError else {
            return .unreachable(error?.localizedDescription ?? "no reply", isLasting: false)
        }
        switch error.code {
        case .timedOut: return .timedOut
        case .cannotConnectToHost: return .unreachable("cannot connect", isLasting: false)
        case .cannotFindHost, .dnsLookupFailed: return .unreachable("no such host", isLasting: false)
        case .networkConnectionLost: return .unreachable("the connection closed without a reply", isLasting: false)
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            return .unreachable("no secure connection", isLasting: true)
        case .appTransportSecurityRequiresSecureConnection:
            return .unreachable(
                "App Transport Security forbids connections without TLS (NSAppTransportSecurity in Info.plist)",
                isLasting: true)
        case .unsupportedURL, .badURL: return .unreachable("the system cannot request this address", isLasting: true)
        case .cannotDecodeRawData, .cannotDecodeContentData:
            return .malformed("the body is not compressed as its head says")
        default: return .unreachable("no usable reply (\(error.localizedDescription))", isLasting: false)
        }
    }
}

extension HTTPURLResponse {
    /// The announced length of the body; nil if there is none, or if it counts compressed bytes.
    fileprivate var promisedByteCount: Int? {
        guard value(forHTTPHeaderField: "Content-Encoding") == nil, statusCode != 204, statusCode != 304,
            let text = value(forHTTPHeaderField: "Content-Length")
        else { return nil }
        return Int(text)
    }
}
