public import Foundation
import SyncBase

/// Checks that webhooks come from their sender, are recent, and are handled once.
///
///     let verifier = WebhookVerifier(.stripe, secrets: [secret])
///     let answer = await verifier.answer(body, header: { request.headers[$0] }) {
///         try await live.apply([.objects(.bytes(body), keyPath: "data.object")])
///     }
///
/// A signature covers the body and, except with ``Scheme/github``, a time. No other header field is
/// covered, such as the kind of the event in `X-GitHub-Event`.
///
/// A verifier remembers the last 10,000 requests that were handled, in its own memory. A copy of
/// one is not handled again. Several processes do not share this memory, and it ends with the
/// process. A copy that is not remembered is handled if its signature is still recent or has no
/// time.
public final class WebhookVerifier: Sendable {
    /// The number of accepted requests that are remembered.
    private static let rememberedCount = 10_000

    private struct State: Sendable {
        /// The requests that are being handled, or were.
        var known: [Request: Progress] = [:]
        /// The handled requests, oldest first.
        var handled = FIFO<Request>()
    }

    private enum Progress: Sendable {
        case underWay
        case handled
    }

    /// The digest of the signed bytes of a request. Unlike its header fields, nobody else can
    /// change it.
    private typealias Request = [UInt8]

    private let scheme: Scheme
    private let secrets: [String]
    private let tolerance: Duration
    private let date: @Sendable () -> Date
    private let state = Locked(State())

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - scheme: How the sender signs.
    ///   - secrets: The secrets that the sender may sign with; several while one replaces another.
    ///     An empty secret is ignored, so no request is accepted without a secret.
    ///   - tolerance: The greatest difference between the time of a request and this system's time,
    ///     in either direction; 5 min by default.
    ///   - date: Returns the time of day.
    public init(
        _ scheme: Scheme, secrets: [String], tolerance: Duration = .seconds(300),
        date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.scheme = scheme
        self.secrets = secrets.filter { !$0.isEmpty }
        self.tolerance = tolerance
        self.date = date
    }

    /// Verifies a webhook, and handles it unless it was handled before.
    ///
    /// Answer the sender with success after this method has returned, with 401 after a refusal that
    /// is not retryable, and with 503 after any other error, so that the webhook is sent again.
    /// After an error of the handler, the same request is accepted again.
    ///
    /// - Parameters:
    ///   - body: The body as it arrived. JSON that was parsed and written again differs.
    ///   - header: Returns the value of a header field, whose name is in lowercase; nil if the
    ///     request does not have it.
    ///   - handle: Handles the webhook.
    /// - Returns: The result of the handler; nil if the request was handled before.
    /// - Throws: ``Refusal``; the errors of the handler.
    public func receive<Result: Sendable>(
        _ body: [UInt8], header: (_ name: String) -> String?, handle: () async throws -> Result
    ) async throws -> Result? {
        let request = try verified(body, header: header)
        guard try begin(request) else { return nil }
        do {
            let result = try await handle()
            finish(request)
            return result
        } catch {
            state.withLock { $0.known[request] = nil }
            throw error
        }
    }

    /// - Returns: What identifies the request.
    private func verified(_ body: [UInt8], header: (String) -> String?) throws(Refusal) -> Request {
        guard let signature = scheme.signature(header) else { throw .unsigned }
        if let time = signature.time {
            let difference = Duration.seconds(abs(date().timeIntervalSince1970 - Double(time)))
            guard difference <= tolerance else { throw .outsideTimeWindow(difference: difference) }
        }
        let isValid = secrets.contains { secret in
            var code = HMACSHA256(key: secret.utf8)
            code.update(signature.prefix.utf8)
            code.update(body)
            return signature.codes.contains { code.isValid($0) }
        }
        guard isValid else { throw .invalidSignature }
        var digest = SHA256()
        digest.update(signature.prefix.utf8)
        digest.update(body)
        return digest.digest()
    }

    /// - Returns: Whether the request has not been handled yet.
    private func begin(_ request: Request) throws(Refusal) -> Bool {
        let found = state.withLock { state in
            let found = state.known[request]
            if found == nil { state.known[request] = .underWay }
            return found
        }
        if found == .underWay { throw .underWay }
        return found == nil
    }

    private func finish(_ request: Request) {
        state.withLock { state in
            state.known[request] = .handled
            state.handled.append(request)
            if state.handled.count > Self.rememberedCount, let oldest = state.handled.popFirst() {
                state.known[oldest] = nil
            }
        }
    }
}
