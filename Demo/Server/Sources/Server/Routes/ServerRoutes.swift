import Foundation
import Hummingbird
import OneWaySyncSQLite
import ServiceLifecycle
import Upstream

/// The server's own API, and the status page.
struct ServerRoutes: Sendable {
    let mirror: Mirror
    let metrics: PrometheusRegistry
    /// What `POST` requests must send as a bearer token.
    let token: String
    /// The API that is mirrored, if this process plays it.
    let upstream: UpstreamAPI?

    /// The longest page of users.
    private static let maximumLimit = 1000

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: MetricsMiddleware())
        router.get("/") { _, _ in try Self.page() }
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
        router.post("sync") { request, _ in
            try authorize(request)
            mirror.trigger()
            return HTTPResponse.Status.accepted
        }
        if let upstream {
            router.post("upstream/change") { request, _ in
                try authorize(request)
                await upstream.change(count: 25)
                return HTTPResponse.Status.noContent
            }
            router.post("upstream/fault/{kind}") { request, context in
                try authorize(request)
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

    private func authorize(_ request: Request) throws {
        guard let sent = request.headers[.authorization], Self.areEqual(sent, "Bearer \(token)") else {
            throw HTTPError(.unauthorized, message: "send the token: Authorization: Bearer …")
        }
    }

    /// Compares without revealing by its time how much is equal.
    private static func areEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func page() throws -> Response {
        guard let file = Bundle.module.url(forResource: "status", withExtension: "html") else {
            throw HTTPError(.internalServerError, message: "the status page is missing from the build")
        }
        return Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
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
