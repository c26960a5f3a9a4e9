import Foundation
import OneWaySynchronizer
import SyncBase

/// The work of a fetch. It does not refer to the fetch, so that it ends with the fetch's last
/// reference.
struct FetchWork<Inspector: BodyInspector>: Sendable {
    private struct Activity: Sendable {
        /// When data last arrived, by the client's clock.
        var last = Duration.zero
        /// Whether the reader, not the server, is waited for.
        var isOurTurn = false
        /// The number of bytes of the body that have arrived.
        var byteCount = 0
    }

    private static var errorBodyByteCount: Int { 4_096 }
    /// The number of bytes of a body that are kept for messages.
    private static var shownByteCount: Int { 200 }

    private let order: HTTPOrder<Inspector>
    private let client: HTTPClient
    private let head: Promise<HTTPHead>
    private let end: Promise<Inspector.Facts?>
    private let buffer: ByteBuffer
    private let beginning: Locked<[UInt8]>
    /// The header fields with credentials of all requests.
    private let sent: Locked<Set<HTTPHeaders>>
    private let activity = Locked(Activity())

    init(
        order: HTTPOrder<Inspector>, client: HTTPClient, head: Promise<HTTPHead>, end: Promise<Inspector.Facts?>,
        buffer: ByteBuffer, beginning: Locked<[UInt8]>, sent: Locked<Set<HTTPHeaders>>
    ) {
        self.order = order
        self.client = client
        self.head = head
        self.end = end
        self.buffer = buffer
        self.beginning = beginning
        self.sent = sent
    }

    func run() async {
        let result: Result<Inspector.Facts?, any Error>
        do {
            try await client.pacer.enter()
            // A stream would otherwise occupy a connection for as long as it lasts.
            if order.isStream { client.pacer.leave() }
            defer { if !order.isStream { client.pacer.leave() } }
            result = .success(try await watched())
        } catch let problem as HTTPError.Problem {
            result = .failure(secrets.error(at: order.request.url, problem))
        } catch {
            result = .failure(error)
        }
        head.settle(result.flatMap { _ in .failure(CancellationError()) })
        end.settle(result)
        buffer.finish(result.map { _ in })
    }

    /// The credentials that have been sent.
    private var secrets: SentSecrets {
        SentSecrets(allOf: sent.withLock { $0 }, url: order.request.url, parameters: client.secretParameters)
    }

    /// Fetches within the time limits.
    private func watched() async throws -> Inspector.Facts? {
        let begin = client.clock.now()
        activity.withLock { $0.last = begin }
        return try await withThrowingTaskGroup(of: Inspector.Facts??.self) { group in
            group.addTask { .some(try await fetch()) }
            group.addTask {
                try await watch(from: begin)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let facts = first else { throw HTTPError.Problem.timedOut }
            return facts
        }
    }

    /// Returns when nothing has arrived for too long, or at the time limit.
    private func watch(from begin: Duration) async throws {
        while true {
            let now = client.clock.now()
            let activity = activity.withLock { $0 }
            var allowed = order.isStream ? .longest : client.limits.requestDuration
            if client.limits.slowestByteRate > 0 {
                allowed = allowed.addingClamped(.seconds(activity.byteCount / client.limits.slowestByteRate))
            }
            let end = min(begin.addingClamped(allowed), order.deadline ?? .longest)
            let allowedSilence = order.silence ?? client.limits.silence
            let silence = (activity.isOurTurn ? now : activity.last).addingClamped(allowedSilence)
            let wait = min(end, silence) - now
            if wait <= .zero { return }
            try await client.clock.sleep(wait)
            // A process that was suspended, or whose threads were busy, has not listened: the
            // silence was not the server's.
            if client.clock.now() - (now + wait) > allowedSilence / 100 { noteArrival() }
        }
    }

    private func noteArrival(of byteCount: Int = 0) {
        let now = client.clock.now()
        activity.withLock { $0 = Activity(last: now, byteCount: $0.byteCount + byteCount) }
    }

    private func fetch() async throws -> Inspector.Facts? {
        var (found, body) = try await follow(order.request)
        guard found.status != 304 else {
            head.settle(.success(found))
            return nil
        }
        let limit = order.isStream ? Int.max : min(order.byteLimit, client.limits.bodyByteCount)
        var inspector = order.makeInspector()
        var received = 0
        var isChecked = !order.expectsJSON
        if let length = found.headers["Content-Length"].flatMap({ Int($0) }), length > limit {
            throw HTTPError.Problem.tooLarge(limit: limit)
        }
        var resumption = Resumption()
        if order.retries != nil { _ = resumption.take(status: found.status, headers: found.headers) }
        head.settle(.success(found))
        var isContinued = false
        while true {
            do {
                for try await bytes in body {
                    noteArrival(of: bytes.count)
                    if received < Self.shownByteCount {
                        beginning.withLock { $0 += bytes.prefix(Self.shownByteCount - received) }
                    }
                    received += bytes.count
                    resumption.receive(bytes.count)
                    if received > limit {
                        throw HTTPError.Problem.tooLarge(limit: limit)
                    }
                    // Blanks and a UTF-8 byte order mark may come first. Some servers label JSON as
                    // text/html.
                    if !isChecked, let first = bytes.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) {
                        isChecked = true
                        if received == bytes.count, let encoding = Self.encoding(of: bytes) {
                            throw HTTPError.Problem.malformed("the body is \(encoding)")
                        }
                        if first == UInt8(ascii: "<") {
                            throw HTTPError.Problem.notJSON(firstLine: firstLine(of: bytes))
                        }
                    }
                    inspector?.inspect(bytes)
                    activity.withLock { $0.isOurTurn = true }
                    try await buffer.bring(bytes)
                    noteArrival()
                }
                // A part may be shorter than the rest that was requested.
                if !isContinued || resumption.isWhole { break }
                throw HTTPError.Problem.cutShort(received: received, expected: resumption.total)
            } catch let problem as HTTPError.Problem where problem.isRetryable {
                body = try await rest(of: found, &resumption, after: problem)
                isContinued = true
            }
        }
        try Task.checkCancellation()
        return inspector?.finish()
    }

    /// Requests the rest of a body that broke off. The connection stays taken meanwhile: a page
    /// that is read ahead must not take it and then wait for the reader, who waits for this body.
    ///
    /// - Throws: The problem, if the server does not have the rest of this body; the error of the
    ///   last attempt.
    private func rest(
        of begun: HTTPHead, _ resumption: inout Resumption, after problem: HTTPError.Problem
    ) async throws -> HTTPResponse.Body {
        var latest = problem
        while let retries = order.retries, resumption.headers != HTTPHeaders() {
            activity.withLock { $0.isOurTurn = true }
            let error = secrets.error(at: order.request.url, latest)
            try await retries.wait(after: error, byteCount: resumption.byteCount)
            try await client.pacer.waitForTurn()
            noteArrival()
            var request = order.request
            request.headers.merge(resumption.headers)
            request.headers["Accept-Encoding"] = "identity"
            request.headers["If-None-Match"] = nil
            request.headers["If-Modified-Since"] = nil
            do {
                let (head, body) = try await follow(request)
                // An entity tag identifies a body only together with its address.
                guard head.url == begun.url,
                    case .append = resumption.take(status: head.status, headers: head.headers)
                else { break }
                return body
            } catch let failure as HTTPError.Problem where failure.isRetryable {
                latest = failure
            } catch is HTTPError.Problem {
                // A server that refuses a part may have the whole.
                break
            }
        }
        throw problem
    }

    /// The encoding that the beginning of a body indicates if JSON cannot have it; otherwise nil.
    private static func encoding(of bytes: [UInt8]) -> String? {
        let beginning = bytes.prefix(2)
        if beginning.elementsEqual([0x1F, 0x8B]) { return "gzip, and Content-Encoding does not say so" }
        // An ASCII character or a byte order mark, next to two zeros.
        let isWide = bytes.count >= 4 && (bytes[..<2].elementsEqual([0, 0]) || bytes[2..<4].elementsEqual([0, 0]))
        let isMarked = beginning.elementsEqual([0xFE, 0xFF]) || beginning.elementsEqual([0xFF, 0xFE])
        guard isMarked || beginning.contains(0) else { return nil }
        return "UTF-\(isWide ? 32 : 16), and JSON is UTF-8"
    }

    /// Sends the request, and follows redirects.
    ///
    /// - Returns: A success, or a 304 to a conditional request.
    private func follow(_ first: HTTPRequest) async throws -> (HTTPHead, HTTPResponse.Body) {
        var request = first
        let secrets = try await order.secrets()
        guard secrets["Range"] == nil else {
            throw HTTPError.Problem.invalidRequest(
                "a field Range is not sent; the argument `range` of `data` requests a part of a body")
        }
        sent.withLock { _ = $0.insert(secrets) }
        for _ in 0...max(client.limits.redirectCount, 0) {
            var sent = request
            // Transports never see a user name or password in an address.
            sent.url = request.url.withoutUser
            sent.headers.merge(request.url.authorization)
            if request.url.origin == order.origin { sent.headers.merge(secrets) }
            sent.requiresPublicAddress = client.destinations.requiresPublicAddress
            if let sign = client.sign, request.url.origin == order.origin {
                let unsigned = sent.headers
                try await sign(&sent)
                // Errors do not show what the signer adds.
                let added = sent.headers.fields.filter { unsigned[$0.name] != $0.value }
                self.sent.withLock { _ = $0.insert(HTTPHeaders(added)) }
            }
            try sent.validate()
            try client.destinations.check(sent.url, origin: order.origin)
            let response = try await client.transport.send(sent)
            noteArrival()
            let isRedirect = [301, 302, 303, 307, 308].contains(response.status)
            guard isRedirect, let location = response.headers["Location"] else {
                let found = HTTPHead(
                    url: sent.url, status: response.status, headers: response.headers,
                    isFramed: response.isFramed)
                try await check(found, response.body, for: request)
                return (found, response.body)
            }
            request.url = try request.url.following(location)
            // After a form is submitted, the server redirects to a page (RFC 9110, section 15.4).
            if request.method != "GET", [301, 302, 303].contains(response.status) {
                request.method = "GET"
                request.body = nil
                request.headers["Content-Type"] = nil
            }
        }
        throw HTTPError.Problem.tooManyRedirects(limit: client.limits.redirectCount)
    }

    /// - Throws: An error unless the status is a success, or 304 for a conditional request.
    private func check(_ head: HTTPHead, _ body: HTTPResponse.Body, for request: HTTPRequest) async throws {
        // The requester of a range decides about a response without it.
        let isForRange = request.headers["Range"] != nil && [206, 416].contains(head.status)
        if order.isExact {
            if head.status == 304, request.isConditional { return }
            if head.status == 200 || isForRange {
                guard !head.isFramed, let encoding = head.headers.contentEncoding else { return }
                throw HTTPError.Problem.malformed(
                    "the body is compressed (\(PrintableText.line(encoding))) although the request declined this, "
                        + "so that its end cannot be checked")
            }
        } else if (200...204).contains(head.status) || head.status == 304 && request.isConditional
            || head.status == 206 && isForRange
        {
            return
        }
        let serverDate = head.headers["Date"].flatMap { HTTPDate.parse($0) } ?? client.date()
        throw HTTPError.Problem.status(
            head.status, firstLine: try await firstLine(of: body),
            retryAfter: HTTPDate.retryAfter(head.headers, now: serverDate))
    }

    /// The first line of a body, for messages; empty if there is none.
    private func firstLine(of body: HTTPResponse.Body) async throws -> String {
        var bytes: [UInt8] = []
        do {
            for try await piece in body {
                bytes += piece
                if bytes.count >= Self.errorBodyByteCount { break }
            }
        } catch is HTTPError.Problem {
            // The bytes that have arrived are sufficient.
        }
        try Task.checkCancellation()
        return firstLine(of: bytes)
    }

    private func firstLine(of bytes: [UInt8]) -> String {
        PrintableText.firstLine(of: secrets.redacted(Array(bytes.prefix(Self.errorBodyByteCount))))
    }
}

extension HTTPHeaders {
    /// The encoding with which a body was compressed in transit; nil if it was not.
    package var contentEncoding: String? {
        let codings = (self["Content-Encoding"] ?? "").split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !["", "identity"].contains($0.lowercased()) }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }
}

extension HTTPRequest {
    /// Whether 304 is an expected status (RFC 9110, section 13.1).
    fileprivate var isConditional: Bool {
        headers["If-None-Match"] != nil || headers["If-Modified-Since"] != nil
    }
}
