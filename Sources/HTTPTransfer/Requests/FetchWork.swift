import Foundation
import OneWaySynchronizer
import SyncBase

/// The work of a fetch. It does not refer to the fetch, so that it ends with the fetch's last
/// reference.
final class FetchWork<Inspector: BodyInspector>: Sendable {
    private static var errorBodyByteCount: Int { 4_096 }

    let state = FetchState()
    let watch: FetchWatch
    /// The findings of the inspector, once the fetch has ended.
    let facts = Locked<Inspector.Facts?>(nil)
    private let order: HTTPOrder<Inspector>
    private let client: HTTPClient

    init(_ order: HTTPOrder<Inspector>, by client: HTTPClient) {
        self.order = order
        self.client = client
        watch = FetchWatch(
            FetchWatch.Limits(
                silence: order.silence ?? client.limits.silence,
                duration: order.isStream ? nil : client.limits.requestDuration,
                slowestByteRate: client.limits.slowestByteRate, deadline: order.deadline),
            by: client.clock)
    }

    /// Performs the fetch, until its end, an error or a cancel. The state receives the outcome.
    ///
    /// - Parameter isCancelled: Whether the task that wants the fetch is already cancelled, so that
    ///   nothing must be sent.
    func run(isCancelled: Bool) async {
        var end: Result<Void, any Error>
        do {
            if isCancelled { throw CancellationError() }
            try await client.pacer.enter()
            // A stream would otherwise occupy a connection for as long as it lasts.
            if order.isStream { client.pacer.leave() }
            defer { if !order.isStream { client.pacer.leave() } }
            watch.begin()
            defer { watch.end() }
            facts.value = try await fetch()
            end = .success(())
        } catch {
            let problem = watch.problem ?? error as? HTTPError.Problem
            end = .failure(problem.map { secrets.error(at: order.request.url, $0) } ?? error)
        }
        state.finish(end)
    }

    /// The credentials that have been sent.
    var secrets: SentSecrets {
        SentSecrets(allOf: state.sent, url: order.request.url, parameters: client.secretParameters)
    }

    private func fetch() async throws -> Inspector.Facts? {
        var (found, body) = try await follow(order.request)
        guard found.status != 304 else {
            state.begin(found)
            return nil
        }
        let limit = order.isStream ? Int.max : min(order.byteLimit, client.limits.bodyByteCount)
        var inspector = order.makeInspector()
        var received = 0
        var isChecked = !order.expectsJSON
        if found.headers.hasUnusableLength {
            throw HTTPError.Problem.malformed("the length of the body (Content-Length) is no number of bytes")
        }
        if let length = found.headers["Content-Length"].flatMap({ Int($0) }), length > limit {
            throw HTTPError.Problem.tooLarge(limit: limit)
        }
        var resumption = Resumption()
        if order.retries != nil { _ = resumption.take(status: found.status, headers: found.headers, from: found.url) }
        state.begin(found)
        while true {
            do {
                for try await bytes in body {
                    watch.noteArrival(of: bytes.count)
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
                    watch.noteOurTurn()
                    try await state.bring(bytes)
                    watch.noteArrival()
                }
                // A part may be shorter than the rest that was requested.
                if resumption.isWhole { break }
                throw HTTPError.Problem.cutShort(received: received, expected: resumption.total)
            } catch let problem as HTTPError.Problem where problem.isRetryable {
                body = try await rest(of: &resumption, after: problem)
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
        of resumption: inout Resumption, after problem: HTTPError.Problem
    ) async throws -> HTTPResponse.Body {
        var latest = problem
        while let retries = order.retries, resumption.headers != HTTPHeaders() {
            watch.noteOurTurn()
            let error = secrets.error(at: order.request.url, latest)
            try await retries.wait(after: error, byteCount: resumption.byteCount)
            try await client.pacer.waitForTurn()
            watch.noteArrival()
            var request = order.request
            request.headers.merge(resumption.headers)
            request.headers["Accept-Encoding"] = "identity"
            request.headers["If-None-Match"] = nil
            request.headers["If-Modified-Since"] = nil
            do {
                let (head, body) = try await follow(request)
                guard case .append = resumption.take(status: head.status, headers: head.headers, from: head.url)
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
        state.note(sent: secrets)
        for _ in 0...max(client.limits.redirectCount, 0) {
            var sent = request
            // Transports never see a user name or password in an address.
            sent.url = request.url.withoutUser
            sent.headers.merge(request.url.authorization)
            let isAtOrigin = request.url.hasOrigin(of: order.source)
            if isAtOrigin { sent.headers.merge(secrets) }
            sent.requiresPublicAddress = client.destinations.requiresPublicAddress
            if let sign = client.sign, isAtOrigin {
                let unsigned = sent.headers
                try await sign(&sent)
                // Errors do not show what the signer adds.
                let added = sent.headers.fields.filter { unsigned[$0.name] != $0.value }
                state.note(sent: HTTPHeaders(added))
            }
            try sent.validate()
            try client.destinations.check(sent.url, source: order.source)
            let response = try await client.transport.send(sent)
            watch.noteArrival()
            guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"]
            else {
                let found = HTTPHead(
                    url: sent.url, status: response.status, headers: response.headers,
                    isFramed: response.isFramed)
                try await check(found, response.body, for: request)
                return (found, response.body)
            }
            request.url = try request.url.following(location)
            // After a form is submitted, the server redirects to a page (RFC 9110, section 15.4).
            if !["GET", "HEAD"].contains(request.method), [301, 302, 303].contains(response.status) {
                // Without the query, the address may list something else. Only 303 says that this
                // is the answer.
                guard response.status == 303 || !order.expectsJSON else {
                    throw HTTPError.Problem.forbiddenAddress(
                        "would get no query, because the redirect has status \(response.status); request it directly",
                        target: HTTPAddress.displayName(location))
                }
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
        } else if (200...203).contains(head.status) || head.status == 204 && !order.expectsJSON
            || head.status == 304 && request.isConditional
            || head.status == 206 && (isForRange || order.expectsJSON && head.headers.hasRangeOfItems)
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
