import SyncBase
import Foundation
import OneWaySynchronizer

/// The head of a response, after redirects.
struct HTTPHead: Sendable {
    /// Where it came from.
    var url: URL
    var status: Int
    var headers: HTTPHeaders
}

/// One request of a client, from its turn to the last byte: redirects followed, limits kept, the body ahead of whoever reads it.
///
/// The request ends when the last reference is gone.
final class HTTPFetch: Sendable {
    /// What is asked for.
    struct Order: Sendable {
        var request: HTTPRequest
        /// Header fields that only one origin may see.
        var secrets: @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
        /// That origin.
        var origin = ""
        /// Whether a body that is no JSON is an error.
        var expectsJSON = false
        /// How many bytes the body may have, if that is less than the client's limit.
        var byteLimit = Int.max
        /// When it must have ended, by the client's clock; nil for never.
        var deadline: Duration?
        /// Makes what looks at the body as it arrives.
        var makeInspector: @Sendable () -> (any BodyInspector)? = { nil }

        /// An order of a body as it is: one that is not compressed on its way has a length that can be checked against what was promised.
        static func plain(_ url: URL, limit: Int) -> Order {
            Order(request: HTTPRequest(url, headers: ["Accept-Encoding": "identity"]), byteLimit: limit)
        }
    }

    private let headPromise = Promise<HTTPHead>()
    private let endPromise = Promise<PageFacts>()
    private let buffer = ByteBuffer(capacity: 8 << 20)
    private let task: Task<Void, Never>
    let url: URL

    init(_ order: Order, by client: HTTPClient) {
        url = order.request.url
        let work = FetchWork(
            order: order, client: client, head: headPromise, end: endPromise, buffer: buffer,
            activity: Locked(FetchWork.Activity()))
        task = Task { await work.run() }
    }

    deinit {
        task.cancel()
    }

    /// The head of a success, or of a 304 where that was asked for.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    func head() async throws -> HTTPHead {
        try await headPromise.value()
    }

    /// What the inspector found, once the whole body has arrived.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    func facts() async throws -> PageFacts {
        try await endPromise.value()
    }

    /// The next bytes of the body; nil at its end.
    ///
    /// - Throws: ``HTTPError``; `CancellationError`.
    func nextPiece() async throws -> [UInt8]? {
        try await buffer.take()
    }
}

/// Looks at a body while it arrives.
protocol BodyInspector {
    /// Takes the next bytes.
    mutating func inspect(_ bytes: [UInt8])
    /// What it found, after the last.
    mutating func finish() -> PageFacts
}

/// The work of a fetch. Does not know the fetch itself, so that it ends when nobody does.
private struct FetchWork: Sendable {
    struct Activity: Sendable {
        /// When something arrived last, by the client's clock.
        var last = Duration.zero
        /// Whether it is not the server that is waited for.
        var isOurTurn = false
    }

    private static let errorBodyByteCount = 4_096

    let order: HTTPFetch.Order
    let client: HTTPClient
    let head: Promise<HTTPHead>
    let end: Promise<PageFacts>
    let buffer: ByteBuffer
    let activity: Locked<Activity>

    func run() async {
        let outcome: Result<PageFacts, any Error>
        do {
            try await client.pacer.enter()
            defer { client.pacer.leave() }
            outcome = .success(try await watched())
        } catch let problem as HTTPError.Problem {
            outcome = .failure(HTTPError(url: order.request.url, problem: problem))
        } catch {
            outcome = .failure(error)
        }
        head.settle(outcome.flatMap { _ in .failure(CancellationError()) })
        end.settle(outcome)
        buffer.finish(outcome.map { _ in })
    }

    /// Fetches, and stops doing so when that takes too long.
    private func watched() async throws -> PageFacts {
        let begin = client.clock.now()
        activity.withLock { $0.last = begin }
        return try await withThrowingTaskGroup(of: PageFacts?.self) { group in
            group.addTask { try await fetch() }
            group.addTask {
                let end = min(begin + client.limits.requestDuration, order.deadline ?? .seconds(Int64.max >> 1))
                try await watch(until: end)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let facts = first else { throw HTTPError.Problem.timedOut }
            return facts
        }
    }

    /// Returns once nothing has arrived for too long, or at the end.
    private func watch(until end: Duration) async throws {
        while true {
            let now = client.clock.now()
            let activity = activity.withLock { $0 }
            let silence = (activity.isOurTurn ? now : activity.last) + client.limits.silence
            let wait = min(end, silence) - now
            if wait <= .zero { return }
            try await client.clock.sleep(wait)
        }
    }

    private func noteArrival() {
        let now = client.clock.now()
        activity.withLock { $0 = Activity(last: now) }
    }

    private func fetch() async throws -> PageFacts {
        let (found, body) = try await follow()
        guard found.status != 304 else {
            head.settle(.success(found))
            return PageFacts()
        }
        let limit = min(order.byteLimit, client.limits.bodyByteCount)
        var inspector = order.makeInspector()
        var received = 0
        var isChecked = !order.expectsJSON
        if found.headers["Content-Type"]?.lowercased().hasPrefix("text/html") == true, !isChecked {
            throw HTTPError.Problem.notJSON(firstLine: try await Self.firstLine(of: body))
        }
        if let length = found.headers["Content-Length"].flatMap({ Int($0) }), length > limit {
            throw HTTPError.Problem.tooLarge(limit: limit)
        }
        head.settle(.success(found))
        for try await bytes in body {
            noteArrival()
            received += bytes.count
            if received > limit {
                throw HTTPError.Problem.tooLarge(limit: limit)
            }
            if !isChecked, let first = bytes.first(where: { $0 > 0x20 }) {
                isChecked = true
                if first == UInt8(ascii: "<") {
                    throw HTTPError.Problem.notJSON(firstLine: Self.firstLine(of: bytes))
                }
            }
            inspector?.inspect(bytes)
            activity.withLock { $0.isOurTurn = true }
            try await buffer.bring(bytes)
            noteArrival()
        }
        try Task.checkCancellation()
        return inspector?.finish() ?? PageFacts()
    }

    /// Sends the request, and follows redirects.
    ///
    /// - Returns: A success, or a 304 where that was asked for.
    private func follow() async throws -> (HTTPHead, HTTPResponse.Body) {
        var request = order.request
        let secrets = try await order.secrets()
        for _ in 0...max(client.limits.redirectCount, 0) {
            var sent = request
            if request.url.origin == order.origin { sent.headers.merge(secrets) }
            let response = try await client.transport.send(sent)
            noteArrival()
            let isRedirect = [301, 302, 303, 307, 308].contains(response.status)
            guard isRedirect, let location = response.headers["Location"] else {
                let found = HTTPHead(url: request.url, status: response.status, headers: response.headers)
                try await check(found, response.body, isConditional: request.isConditional)
                return (found, response.body)
            }
            request.url = try request.url.following(location)
        }
        throw HTTPError.Problem.tooManyRedirects(limit: client.limits.redirectCount)
    }

    /// - Throws: Unless it is a success, or a 304 where that was asked for.
    private func check(_ head: HTTPHead, _ body: HTTPResponse.Body, isConditional: Bool) async throws {
        if (200...204).contains(head.status) || head.status == 304 && isConditional { return }
        let serverDate = head.headers["Date"].flatMap { HTTPDate.parse($0) } ?? client.date()
        throw HTTPError.Problem.status(
            head.status, firstLine: try await Self.firstLine(of: body),
            retryAfter: HTTPDate.retryAfter(head.headers["Retry-After"], now: serverDate))
    }

    /// The first line of a body that is for people; empty if there is none.
    private static func firstLine(of body: HTTPResponse.Body) async throws -> String {
        var bytes: [UInt8] = []
        do {
            for try await piece in body {
                bytes += piece
                if bytes.count >= errorBodyByteCount { break }
            }
        } catch is HTTPError.Problem {
            // What has come is enough to tell.
        }
        try Task.checkCancellation()
        return firstLine(of: bytes)
    }

    private static func firstLine(of bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(errorBodyByteCount), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).first.map { PrintableText.line(String($0), limit: 120) } ?? ""
    }
}

extension HTTPRequest {
    /// Whether it may be answered by 304 (RFC 9110, section 13.1).
    fileprivate var isConditional: Bool {
        headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil
    }
}

extension URL {
    /// Where a reference in a response from here leads (RFC 3986, section 5).
    ///
    /// - Throws: ``HTTPError/Problem/forbiddenAddress(_:)`` unless it is http or https, or if it leaves https.
    func following(_ reference: String) throws(HTTPError.Problem) -> URL {
        let target = URL(string: reference, relativeTo: self)?.absoluteURL
        let isDowngrade = scheme?.lowercased() == "https" && target?.scheme?.lowercased() != "https"
        guard let target, target.isHTTP, !isDowngrade else {
            throw .forbiddenAddress(PrintableText.line(target?.displayName ?? reference, limit: 120))
        }
        return target
    }
}
