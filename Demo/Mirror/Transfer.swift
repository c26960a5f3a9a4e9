import Foundation
import OneWaySynchronizer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request on its way: what has arrived, where it goes, and who waits for the end.
///
/// The first end wins, be it the last byte, an error or a cancel; whatever arrives later is ignored, and the file is
/// closed by then.
final class Transfer: Sendable {
    /// Where a body goes.
    enum Sink: Sendable {
        case memory
        case file(FileHandle)
    }

    private struct State: Sendable {
        var sink: Sink
        var memory = Data()
        var receivedByteCount = 0
        var response: HTTPURLResponse?
        var redirectCount = 0
        var waiter: CheckedContinuation<Data, any Error>?
        /// Stops the request; called once, when the transfer ends before it does.
        var stop: (@Sendable () -> Void)?
        /// Set once; nothing changes afterwards.
        var outcome: Result<Data, any Error>?
    }

    /// How much of an error's body is read for its first line.
    private static let errorBodyByteCount = 4_096

    let url: URL
    private let limit: Int
    private let redirectLimit: Int
    private let state: Locked<State>

    init(url: URL, sink: Sink, limit: Int, redirectLimit: Int) {
        self.url = url
        self.limit = limit
        self.redirectLimit = redirectLimit
        self.state = Locked(State(sink: sink))
    }

    /// The bytes of the body so far.
    var receivedByteCount: Int { state.withLock { $0.receivedByteCount } }

    /// Takes note of who waits, unless the transfer has ended already.
    ///
    /// - Parameters:
    ///   - waiter: Resumed at the end, once.
    ///   - stop: Called when the transfer ends in an error that the request does not know of; must not block.
    /// - Returns: Whether the request should be sent.
    func begin(_ waiter: CheckedContinuation<Data, any Error>, stop: @escaping @Sendable () -> Void) -> Bool {
        let outcome = state.withLock { state in
            if state.outcome == nil {
                state.waiter = waiter
                state.stop = stop
            }
            return state.outcome
        }
        guard let outcome else { return true }
        waiter.resume(with: outcome)
        return false
    }

    /// Ends the transfer, unless it has ended.
    func finish(_ outcome: Result<Data, any Error>) {
        typealias End = (waiter: CheckedContinuation<Data, any Error>?, stop: (() -> Void)?, Result<Data, any Error>)
        let end = state.withLock { state -> End? in
            guard state.outcome == nil else { return nil }
            let outcome = close(state.sink, after: outcome)
            state.outcome = outcome
            defer { state.waiter = nil }
            return (state.waiter, Self.takeStop(&state), outcome)
        }
        guard let (waiter, stop, outcome) = end else { return }
        waiter?.resume(with: outcome)
        stop?()
    }

    /// What stops the request, when there is something to stop and it may be stopped now.
    ///
    /// On Linux a task that is cancelled while it waits for its delegate's word on a redirect brings the process down, and
    /// whether it does is not to be known before its response has come. Until then a request is left alone: it is
    /// stopped by its response, not followed on a redirect, or ended by its silence.
    private static func takeStop(_ state: inout State) -> (@Sendable () -> Void)? {
        guard case .failure = state.outcome else { return nil }
        #if canImport(FoundationNetworking)
        guard state.response != nil else { return nil }
        #endif
        defer { state.stop = nil }
        return state.stop
    }

    /// Closes the file; a failure to do so is the outcome of a transfer that had none.
    private func close(_ sink: Sink, after outcome: Result<Data, any Error>) -> Result<Data, any Error> {
        guard case .file(let handle) = sink else { return outcome }
        do {
            try handle.close()
            return outcome
        } catch {
            guard case .success = outcome else { return outcome }
            return .failure(HTTPError(url: url, problem: .cannotWrite(error.localizedDescription)))
        }
    }

    // MARK: What the session reports

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return fail(.unreachable("the reply is not HTTP", isLasting: true))
        }
        let stop = state.withLock { state in
            state.response = response
            return Self.takeStop(&state)
        }
        stop?()
        if response.isWhole, response.expectedContentLength > Int64(limit) { fail(.tooLarge(limit: limit)) }
    }

    func receive(_ data: Data) {
        let problem = state.withLock { state -> HTTPError.Problem? in
            guard state.outcome == nil else { return nil }
            state.receivedByteCount += data.count
            if let response = state.response, !response.isWhole {
                state.memory += data.prefix(Self.errorBodyByteCount - state.memory.count)
                let isEnough = state.memory.count == Self.errorBodyByteCount
                return isEnough ? Self.problem(of: response, body: state.memory) : nil
            }
            if state.receivedByteCount > limit { return .tooLarge(limit: limit) }
            switch state.sink {
            case .memory:
                state.memory += data
            case .file(let handle):
                do {
                    try handle.write(contentsOf: data)
                } catch {
                    return .cannotWrite(error.localizedDescription)
                }
            }
            return nil
        }
        if let problem { fail(problem) }
    }

    /// - Returns: Whether the redirect should be followed.
    func redirect(to target: URL?) -> Bool {
        let (isWanted, count) = state.withLock { state in
            state.redirectCount += 1
            return (state.outcome == nil, state.redirectCount)
        }
        guard isWanted else { return false }
        if target?.isHTTP != true {
            fail(.forbiddenRedirect(target?.displayName ?? "nowhere"))
            return false
        }
        if count > redirectLimit {
            fail(.tooManyRedirects(limit: redirectLimit))
            return false
        }
        return true
    }

    func complete(_ error: (any Error)?) {
        let (response, received, memory) = state.withLock { ($0.response, $0.receivedByteCount, $0.memory) }
        guard let response else { return fail(Self.problem(of: error)) }
        guard response.isWhole else { return fail(Self.problem(of: response, body: memory)) }
        let promised = response.promisedByteCount
        if (error as? URLError)?.code == .timedOut {
            fail(.timedOut)
        } else if error != nil || promised.map({ $0 != received }) ?? false {
            fail(.cutShort(received: received, expected: promised))
        } else {
            finish(.success(memory))
        }
    }

    private func fail(_ problem: HTTPError.Problem) {
        finish(.failure(HTTPError(url: url, problem: problem)))
    }

    // MARK: Errors

    private static func problem(of response: HTTPURLResponse, body: Data) -> HTTPError.Problem {
        let text = String(decoding: body.prefix(errorBodyByteCount), as: UTF8.self)
        let firstLine = text.split(whereSeparator: \.isNewline).first.map { Printable.text(String($0), limit: 120) }
        return .status(
            response.statusCode, firstLine: firstLine ?? "",
            retryAfter: HTTPError.retryAfter(response.value(forHTTPHeaderField: "Retry-After")))
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
    /// Whether the body is what was asked for, whole: a success, and not the part of something.
    fileprivate var isWhole: Bool { (200...204).contains(statusCode) }

    /// The length the body was promised to have; nil when there is none, or when it counts compressed bytes.
    fileprivate var promisedByteCount: Int? {
        guard value(forHTTPHeaderField: "Content-Encoding") == nil,
            let text = value(forHTTPHeaderField: "Content-Length")
        else { return nil }
        return Int(text)
    }
}
