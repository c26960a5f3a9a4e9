import SyncBase
import Foundation
import OneWayLoopbackServer
import OneWaySynchronizer

/// The tour's API: 20,000 users in pages of 500, with delta queries and failing requests.
///
///     /users?page=2                       a page, with a link to the next one and an entity tag
///     /users?since=2026-01-01T00:00:00Z   the users changed since then
final class UsersServer: Sendable {
    private struct State {
        var names: [Int: String] = [:]
        /// The time of each user's last change, in seconds after `firstChange`.
        var changes: [Int: Int] = [:]
        var version = 1
        var requestCount = 0
        var failureCount = 0
    }

    /// The shared state, in a class of its own so that the server's handler does not retain the
    /// server.
    private final class Users: Sendable {
        let state = Locked(State())
    }

    static let userCount = 20_000
    private static let pageSize = 500
    private static let firstChange = Date(timeIntervalSince1970: 1_735_689_600)

    /// The value of the `Date` header, by which a client bounds the changes that a response
    /// includes.
    private static let date: String = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }()

    let url: URL
    private let users: Users
    private let server: LoopbackHTTPServer

    init() throws {
        let users = Users()
        users.state.withLock { state in
            for id in 1...Self.userCount {
                state.names[id] = "user \(id)"
                state.changes[id] = id
            }
        }
        server = try LoopbackHTTPServer { request in users.state.withLock { Self.answer(request, &$0) } }
        guard let url = URL(string: server.baseURL + "/users") else {
            throw TourFailure(claim: "the server has an address")
        }
        self.url = url
        self.users = users
    }

    func stop() async {
        await server.stop()
    }

    /// Returns the number of requests and of failed ones since the last call, and resets both.
    func takeCounts() -> (requests: Int, failures: Int) {
        users.state.withLock { state in
            defer { (state.requestCount, state.failureCount) = (0, 0) }
            return (state.requestCount, state.failureCount)
        }
    }

    /// Sets a user's name; nil deletes the user, which delta queries do not report.
    func set(_ id: Int, to name: String?) {
        users.state.withLock { state in
            state.version += 1
            state.names[id] = name
            state.changes[id] = Self.userCount + state.version
        }
    }

    private static func answer(_ request: LoopbackRequest, _ state: inout State) -> LoopbackResponse {
        state.requestCount += 1
        if state.requestCount % 9 == 0 {
            state.failureCount += 1
            return .status(503, headers: [("Retry-After", "0")])
        }
        let since = request.query("since").flatMap { try? Date($0, strategy: .iso8601) }
        let page = Int(request.query("page") ?? "1") ?? 1
        let tag = "\"\(state.version) \(request.target)\""
        var headers = [("ETag", tag), ("Date", date)]
        var ids = state.names.keys.sorted()
        if let since {
            ids = ids.filter { firstChange.addingTimeInterval(Double(state.changes[$0] ?? 0)) >= since }
        } else {
            if page * pageSize < ids.count { headers.append(("Link", "</users?page=\(page + 1)>; rel=\"next\"")) }
            headers.append(("X-Total-Count", String(ids.count)))
            ids = Array(ids.dropFirst((page - 1) * pageSize).prefix(pageSize))
        }
        if request.header("If-None-Match") == tag { return .status(304, headers: headers) }
        let objects = ids.map { id in
            let change = firstChange.addingTimeInterval(Double(state.changes[id] ?? 0)).formatted(.iso8601)
            return #"{"id":\#(id),"name":"\#(state.names[id] ?? "")","updated_at":"\#(change)"}"#
        }
        let body = "[\(objects.joined(separator: ","))]"
        guard state.requestCount % 13 == 0 else { return .json(body, headers: headers) }
        state.failureCount += 1
        return .cutShort(Array(body.utf8.prefix(body.utf8.count / 2)), promising: body.utf8.count)
    }
}
