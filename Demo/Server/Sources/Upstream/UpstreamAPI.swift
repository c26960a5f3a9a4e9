public import Foundation
import HTTPTypes
public import Hummingbird

/// A JSON API to try the server with: 5,000 users in pages, with entity tags, changes since a
/// moment, and faults on request.
///
///     GET  /users?page=2&per_page=100        a page; `Link` leads to the next one
///     GET  /users?updated_since=<date>       changes; `"deleted": true` for users that are gone
///     POST /change?count=5                   changes a few users, at most 1,000
///     POST /fault?kind=slow                  a fault: see `Fault`
///
/// The `POST` requests need no token, and are optional.
public actor UpstreamAPI {
    /// How the API misbehaves.
    public enum Fault: String, Sendable, CaseIterable {
        /// Not at all.
        case none
        /// Every response takes half a second.
        case slow
        /// Every response is a 503.
        case errors
        /// Bodies end in the middle.
        case truncated
        /// Responses never come, until the fault is changed.
        case stuck
        /// Pages after the fifth never come, until the fault is changed.
        case stalled
    }

    private var users: UpstreamUsers
    private var fault = Fault.none
    private var stuck: [CheckedContinuation<Void, Never>] = []
    private let date: @Sendable () -> Date

    /// Creates an API.
    ///
    /// - Parameters:
    ///   - userCount: The number of users at first.
    ///   - seed: Decides the users and their changes.
    ///   - date: The clock of the API.
    public init(userCount: Int = 5000, seed: UInt64 = 1, date: @escaping @Sendable () -> Date = { Date() }) {
        self.date = date
        users = UpstreamUsers(count: userCount, seed: seed, now: date())
    }

    /// Changes a few users.
    public func change(count: Int) {
        users.change(count: count, now: date())
    }

    /// Changes how the API misbehaves.
    public func setFault(_ fault: Fault) {
        self.fault = fault
        guard fault != .stuck, fault != .stalled else { return }
        for request in stuck { request.resume() }
        stuck = []
    }

    /// The number of users that exist.
    public var userCount: Int { users.present.count }

    /// Returns the routes of the API.
    ///
    /// - Parameter hasControls: Whether `POST` requests can change users and the fault.
    public nonisolated func router(hasControls: Bool) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("users") { request, _ in try await self.users(request) }
        guard hasControls else { return router }
        router.post("change") { request, _ in
            let count = try Self.number("count", in: 0...1000, of: request) ?? 5
            await self.change(count: count)
            return HTTPResponse.Status.noContent
        }
        router.post("fault") { request, _ in
            guard let fault = request.uri.queryParameters.get("kind").flatMap(Fault.init) else {
                throw HTTPError(
                    .badRequest, message: "kind is one of \(Fault.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            await self.setFault(fault)
            return HTTPResponse.Status.noContent
        }
        return router
    }

    private func users(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        let page = try Self.number("page", in: 1...1_000_000, of: request) ?? 1
        switch fault {
        case .none, .truncated: break
        case .slow: try await Task.sleep(for: .milliseconds(500))
        case .errors: return Response(status: .serviceUnavailable, headers: [.retryAfter: "1"])
        case .stalled where page <= 5: break
        case .stuck, .stalled: await withCheckedContinuation { stuck.append($0) }
        }
        let tag = "\"\(users.version)\""
        guard request.headers[.ifNoneMatch] != tag else {
            return Response(status: .notModified, headers: [.eTag: tag])
        }
        let list: [UpstreamUser]
        if let since = query.get("updated_since") {
            guard let moment = Moment(since) else {
                throw HTTPError(.badRequest, message: "updated_since is a date such as 2026-01-31T12:00:00.000Z")
            }
            list = users.changes(since: moment)
        } else {
            list = users.present
        }
        let size = min(max(query.get("per_page", as: Int.self) ?? 100, 1), 1000)
        let start = min((page - 1) * size, list.count)
        let end = min(start + size, list.count)
        var headers: HTTPFields = [.contentType: "application/json", .eTag: tag]
        func set(_ name: String, to value: String) {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        set("X-Total-Count", to: String(list.count))
        if end < list.count {
            var next = "/users?page=\(page + 1)&per_page=\(size)"
            if let since = query.get("updated_since") { next += "&updated_since=\(since)" }
            set("Link", to: "<\(next)>; rel=\"next\"")
        }
        var body = try JSONEncoder().encode(Array(list[start..<end]))
        if fault == .truncated { body = body.prefix(body.count / 2) }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Returns the number in a parameter; nil without the parameter.
    private static func number(_ name: String, in range: ClosedRange<Int>, of request: Request) throws -> Int? {
        guard let text = request.uri.queryParameters.get(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw HTTPError(
                .badRequest, message: "\(name) is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
