import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import OneWaySyncSQLite
import ServiceLifecycle
import Upstream

/// The server's own API, and the status page.
struct ServerRoutes: Sendable {
    let mirror: Mirror
    let metrics: PrometheusRegistry
    let access: ServerAccess
    /// Verifies `POST /webhook`; nil if the server accepts no webhooks.
    let webhooks: WebhookVerifier?
    /// The API that is mirrored, if this process plays it.
    let upstream: UpstreamAPI?

    /// The longest page of users.
    private static let maximumLimit = 1000

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: SafeHeaders())
        // The page has no data, and asks for it with the token.
        router.get("/") { _, _ in try Self.resource("status", "html", "text/html; charset=utf-8") }
        router.get("status.css") { _, _ in try Self.resource("status", "css", "text/css; charset=utf-8") }
        router.get("status.js") { _, _ in try Self.resource("status", "js", "text/javascript; charset=utf-8") }
        if let webhooks {
            router.post("webhook") { request, _ in try await receive(request, webhooks) }
        }
        // Middleware applies to the routes after it.
        router.add(middleware: access)
        router.get("status") { _, _ in try Self.json(mirror.feed.status) }
        router.get("status/events") { _, _ in statusEvents() }
        router.get("health") { _, _ in try health() }
        router.get("metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
        }
        router.get("users") { request, _ in try await users(request) }
        router.get("users/{id}") { _, context in
            guard let id = context.parameters.get("id", as: Int.self),
                let user = try await mirror.store.first(User.self, where: \.id == id, including: \.company)
            else { throw HTTPError(.notFound, message: "there is no such user") }
            return try Self.json(user)
        }
        router.get("export") { _, _ in export() }
        router.post("sync") { _, _ in
            mirror.trigger()
            return HTTPResponse.Status.accepted
        }
        if let upstream {
            router.post("upstream/change") { _, _ in
                await upstream.change(count: 25)
                return HTTPResponse.Status.noContent
            }
            router.post("upstream/fault/{kind}") { _, context in
                guard let fault = context.parameters.get("kind").flatMap(UpstreamAPI.Fault.init) else {
                    throw HTTPError(.notFound)
                }
                await upstream.setFault(fault)
                return HTTPResponse.Status.noContent
            }
        }
        return router
    }

    // MARK: Data

    /// A page of users, ordered by id. The last id of a page is the `after` of the next one.
    private func users(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        let after = query.get("after", as: Int.self) ?? 0
        let limit = min(max(query.get("limit", as: Int.self) ?? 100, 1), Self.maximumLimit)
        return try Self.json(
            try await mirror.store.all(
                User.self, where: \.id > after, orderedBy: \.id, limit: limit, including: \.company))
    }

    /// All users of one snapshot, written as fast as the client reads.
    private func export() -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody { writer in
                for try await chunk in mirror.store.exportChunks(ObjectQuery(User.self, orderedBy: \.id)) {
                    try await writer.write(ByteBuffer(bytes: chunk))
                }
                try await writer.finish(nil)
            })
    }

    // MARK: Status

    private func statusEvents() -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                for await status in mirror.feed.statuses().cancelOnGracefulShutdown() {
                    var buffer = ByteBuffer(string: "data: ")
                    buffer.writeBytes(try Self.encoder.encode(status))
                    buffer.writeString("\n\n")
                    try await writer.write(buffer)
                }
                try await writer.finish(nil)
            })
    }

    /// 200 while syncs succeed or another server has the lease, otherwise 503.
    private func health() throws -> Response {
        let health = mirror.health
        var response = try Self.json(health)
        if health.consecutiveFailures >= 3 { response.status = .serviceUnavailable }
        return response
    }

    // MARK: Webhooks

    /// The largest webhook; GitHub's have at most 25 MB.
    private static let maximumWebhookByteCount = 25 << 20

    /// Syncs after a webhook, once for each.
    private func receive(_ request: Request, _ webhooks: WebhookVerifier) async throws -> HTTPResponse.Status {
        let body = try await request.body.collect(upTo: Self.maximumWebhookByteCount)
        do {
            _ = try await webhooks.receive(
                Array(buffer: body), header: { name in HTTPField.Name(name).flatMap { request.headers[$0] } },
                handle: { mirror.trigger() })
            return .accepted
        } catch let refusal as WebhookVerifier.Refusal {
            throw HTTPError(refusal.isRetryable ? .serviceUnavailable : .unauthorized, message: "\(refusal)")
        }
    }

    // MARK: Responses

    private static func resource(_ name: String, _ type: String, _ contentType: String) throws -> Response {
        guard let file = Bundle.module.url(forResource: name, withExtension: type) else {
            throw HTTPError(.internalServerError, message: "\(name).\(type) is missing from the build")
        }
        return Response(
            status: .ok, headers: [.contentType: contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try Data(contentsOf: file))))
    }

    private static func json(_ value: some Encodable) throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
