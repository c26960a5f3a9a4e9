import SyncBase
import Foundation
import HTTPSource
import HTTPTransfer
import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncModel
import SyncStore
import OneWayTestSupport

/// A store of users, and how tests look at it.
struct SourceWorld {
    let json: JSONStore

    static let model = Result {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity.bookmark
        }
    }

    init(
        _ model: DataModel? = nil, _ makeStore: (DataModel) async throws -> any Store = { MemoryStore(exactly: $0) }
    ) async throws {
        let mapper = try RecordMapper(try model ?? Self.model.get())
        json = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
    }

    /// The stored users, as `id` and `name`.
    func users() async throws -> [Int64: String] {
        var users: [Int64: String] = [:]
        for stored in try await json.store.records(StoreQuery("User")) {
            guard case .int(let id) = stored.record["id"], case .string(let name) = stored.record["name"] else {
                continue
            }
            users[id] = name
        }
        return users
    }

    /// The bookmark that is kept; nil if there is none.
    func bookmark(_ attribute: String) async throws -> AttributeValue? {
        try await json.store.records(StoreQuery("SyncBookmark")).first.map { $0.record[attribute] }
    }

    /// A hash of all that the store has, the same for equal content within a process.
    func digest() async throws -> String {
        var fingerprint = Fingerprint()
        for entity in json.store.model.entities {
            fingerprint.combine(entity.name)
            let records = try await json.store.records(StoreQuery(entity.name)).map { stored in
                entity.attributes.map { "\($0.name)=\(stored.record[$0.name])" }.joined(separator: " ")
            }
            for record in records.sorted() { fingerprint.combine(record) }
        }
        return fingerprint.text
    }

    @discardableResult
    func sync(_ source: HTTPJSONSource, _ options: StoreSyncOptions = StoreSyncOptions()) async throws
        -> StoreSyncResult
    {
        try await json.sync(from: source, into: "User", options: options)
    }
}

/// A server without sockets: answers what a function says, and remembers what it was asked.
final class ScriptedServer: HTTPClient.Transport {
    typealias Handler = @Sendable (_ request: HTTPRequest, _ index: Int) async throws -> HTTPResponse

    private let log = Locked<[HTTPRequest]>([])
    private let handler: Handler

    init(_ handler: @escaping Handler) {
        self.handler = handler
    }

    var requests: [HTTPRequest] { log.withLock { $0 } }
    /// What was asked for, without the host: `/users?page=2`.
    var paths: [String] { requests.map { $0.url.path + ($0.url.query.map { "?\($0)" } ?? "") } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let index = log.withLock { log in
            log.append(request)
            return log.count - 1
        }
        return try await handler(request, index)
    }
}

extension HTTPRequest {
    /// The value of a query parameter.
    func query(_ name: String) -> String? {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
    }
}

extension HTTPResponse {
    /// A success with JSON.
    static func json(_ text: String, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        HTTPResponse(status: 200, headers: headers, bytes: Array(text.utf8))
    }
}

/// The users of some ids, named after them.
func usersJSON(_ ids: some Sequence<Int>, suffix: String = "") -> String {
    "[" + ids.map { #"{"id":\#($0),"name":"user \#($0)\#(suffix)"}"# }.joined(separator: ",") + "]"
}

extension HTTPJSONSource {
    /// The users of a scripted server.
    static func users(
        _ server: any HTTPClient.Transport, pages: HTTPAPI.Pages = .single, delta: HTTPAPI.Delta? = nil,
        retry: RetryPolicy = RetryPolicy(maxAttempts: 1), limits: HTTPClient.Limits = HTTPClient.Limits(),
        clock: some Clock<Duration> = ManualClock(), date: @escaping @Sendable () -> Date = { testDate },
        timeout: Duration? = nil, query: String = "",
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) throws -> HTTPJSONSource {
        guard let url = URL(string: "https://api.test/users\(query)") else { throw TestError("no URL") }
        let client = HTTPClient(
            transport: server, limits: limits, retry: retry, clock: clock, date: date, random: { 0 })
        let api = HTTPAPI(pages: pages, delta: delta)
        var source = HTTPJSONSource(url, api: api, client: client, headers: headers)
        source.maximumPageCount = 50
        source.timeout = timeout
        return source
    }
}

/// 2026-01-01T12:00:00Z
let testDate = Date(timeIntervalSince1970: 1_767_268_800)
