import SyncBase
import Foundation
import OneWaySynchronizer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request of a session on its way: what has arrived, and who waits for it.
///
/// The first end wins, be it the last byte, an error or a cancel; whatever arrives later is
/// ignored.
final class Exchange: Sendable {
    private struct State: Sendable {
        var response: HTTPURLResponse?
        var receivedByteCount = 0
        /// What has arrived and was not read yet.
        var unread: [UInt8] = []
        var headWaiter: CheckedContinuation<HTTPURLResponse, any Error>?
        var bodyWaiter: CheckedContinuation<[UInt8]?, any Error>?
        /// Set once.
        var end: Result<Void, any Error>?
        var isStopped = false
        var isSuspended = false
    }

    /// What may be unread before the session is asked to pause.
    private static let unreadByteCount = 4 << 20

    private let task: URLSessionTask
    private let stopping: DispatchQueue
    private let state = Locked(State())

    init(task: URLSessionTask, stopping: DispatchQueue) {
        self.task = task
        self.stopping = stopping
    }

    /// Sends the request, and takes note of who waits for the head, unless the exchange has ended
    /// already.
    func begin(_ waiter: CheckedContinuation<HTTPURLResponse, any Error>) {
        let isWanted = state.withLock { state in
            guard state.end == nil else { return false }
            state.headWaiter = waiter
            return true
        }
        if isWanted {
            task.resume()
        } else {
            waiter.resume(throwing: CancellationError())
            // A task that was never sent would keep its session from ending.
            stopping.async { [task] in task.cancel() }
        }
    }

    /// The next bytes of the body; nil at its end.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let outcome = state.withLock { state -> Result<[UInt8]?, any Error>? in
                    if case .failure(let error) = state.end, state.unread.isEmpty || error is CancellationError {
                        return .failure(error)
                    }
                    if !state.unread.isEmpty {
                        defer { state.unread = [] }
                        return .success(state.unread)
                    }
                    guard state.end == nil else { return .success(nil) }
                    state.bodyWaiter = waiter
                    return nil
                }
                if let outcome { waiter.resume(with: outcome) }
                pause(false)
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    /// Ends the exchange, unless it has ended.
    func end(_ outcome: Result<Void, any Error>) {
        let (head, body, isFirst) = state.withLock { state in
            guard state.end == nil else {
                return (
                    nil as CheckedContinuation<HTTPURLResponse, any Error>?,
                    nil as CheckedContinuation<[UInt8]?, any Error>?, false
                )
            }
            state.end = outcome
            defer { (state.headWaiter, state.bodyWaiter) = (nil, nil) }
            return (state.headWaiter, state.bodyWaiter, true)
        }
        guard isFirst else { return }
        head?.resume(with: outcome.flatMap { .failure(HTTPError.Problem.unreachable("no reply", isLasting: false)) })
        body?.resume(with: outcome.map { nil })
        if case .failure = outcome { stopIfAllowed() }
    }

    /// Stops the request, when it may be stopped now.
    ///
    /// On Linux a task that is cancelled while it waits for its delegate's word on a redirect
    /// brings the process down, and whether it does is not to be known before its response has
    /// come. Until then a request is left alone: it is stopped by its response, or ended by its
    /// silence.
    private func stopIfAllowed() {
        let mayStop = state.withLock { state in
            guard case .failure = state.end, !state.isStopped else { return false }
            #if canImport(FoundationNetworking)
            guard state.response != nil else { return false }
            #endif
            state.isStopped = true
            return true
        }
        if mayStop { stopping.async { [task] in task.cancel() } }
    }

    /// Has a session that can do so pause while much is unread.
    private func pause(_ isWanted: Bool) {
        #if !canImport(FoundationNetworking)
        let changes = state.withLock { state in
            guard state.isSuspended != isWanted, state.end == nil else { return false }
            state.isSuspended = isWanted
            return true
        }
        guard changes else { return }
        if isWanted { task.suspend() } else { task.resume() }
        #endif
    }

    // MARK: What the session reports

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return end(.failure(HTTPError.Problem.unreachable("the reply is not HTTP", isLasting: true)))
        }
        let waiter = state.withLock { state in
            state.response = response
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: response)
        stopIfAllowed()
    }

    func receive(_ data: Data) {
        let (waiter, unreadByteCount) = state.withLock { state in
            state.receivedByteCount += data.count
            guard state.end == nil else { return (nil as CheckedContinuation<[UInt8]?, any Error>?, 0) }
            defer { state.bodyWaiter = nil }
            if state.bodyWaiter == nil { state.unread += data }
            return (state.bodyWaiter, state.unread.count)
        }
        waiter?.resume(returning: [UInt8](data))
        if unreadByteCount > Self.unreadByteCount { pause(true) }
    }

    func complete(_ error: (any Error)?) {
        let (response, received) = state.withLock { ($0.response, $0.receivedByteCount) }
        guard let response else { return end(.failure(Self.problem(of: error))) }
        // A redirect that is not followed has no body to speak of.
        if (300..<400).contains(response.statusCode) { return end(.success(())) }
        let promised = response.promisedByteCount
        if (error as? URLError)?.code == .timedOut {
            end(.failure(HTTPError.Problem.timedOut))
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
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            return .unreachable("no secure connection", isLasting: true)
        default: return .unreachable("no usable reply (\(error.localizedDescription))", isLasting: false)
        }
    }
}

extension HTTPURLResponse {
    /// The length the body was promised to have; nil when there is none, or when it counts
    /// compressed bytes.
    fileprivate var promisedByteCount: Int? {
        guard value(forHTTPHeaderField: "Content-Encoding") == nil, statusCode != 204, statusCode != 304,
            let text = value(forHTTPHeaderField: "Content-Length")
        else { return nil }
        return Int(text)
    }
}
