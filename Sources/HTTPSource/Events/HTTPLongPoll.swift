public import Foundation
public import HTTPTransfer
import JSONMapper
public import StoreSync

/// A feed from a server that responds once there are changes (long polling).
///
///     let feed = HTTPLongPoll(
///         url, cursorKeyPath: "last_seq", parameter: "since", initialCursor: "now",
///         keyPath: "results",
///         tombstones: .flag(keyPath: "deleted"))
///
/// Each response has a cursor for the next request. Failed requests are repeated after a pause,
/// from the same cursor. Status 410 means that the cursor is too old: the feed starts again, which
/// is a gap. So is each request from the initial cursor after a response without a cursor, such as
/// status 204: changes between the two are in no response.
public struct HTTPLongPoll: RemoteFeed {
    /// The address, http or https.
    public var url: URL
    /// The key path of the cursor in each response, a text or a number.
    public var cursorKeyPath: String
    /// The header field of the cursor, such as `X-Consul-Index`; nil, the default, for none. It
    /// precedes the key path, and gives a response without content a cursor.
    public var cursorHeader: String?
    /// The query parameter that receives the cursor.
    public var parameter: String
    /// The cursor of the first request; nil, the default, for none.
    public var initialCursor: String?
    /// The key path of the objects in each response; empty, the default, if the response is the
    /// array.
    public var keyPath: String
    /// How a response reports deleted objects; nil, the default, if it does not.
    public var tombstones: RemotePage.Tombstones?
    /// The longest time that the server may wait for a change; 120 s by default.
    public var silence: Duration = .seconds(120)
    /// The maximum size of a response in bytes, decompressed; 16 MiB by default.
    public var byteCount = 16 << 20
    /// The pause after a response; 1 s by default. It is at least the `baseDelay` of the client's
    /// retry policy.
    public var pause: Duration = .seconds(1)
    /// The header fields of each request. They are sent only to the origin of the address.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// The client that sends requests. A waiting request does not count as one of its connections.
    public let client: HTTPClient

    /// Creates a feed. The parameters correspond to the properties.
    public init(
        _ url: URL, cursorKeyPath: String, parameter: String, initialCursor: String? = nil, keyPath: String = "",
        tombstones: RemotePage.Tombstones? = nil, client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        self.url = url
        self.cursorKeyPath = cursorKeyPath
        self.parameter = parameter
        self.initialCursor = initialCursor
        self.keyPath = keyPath
        self.tombstones = tombstones
        self.client = client
        self.headers = headers
    }

    /// Delivers changes until the task is cancelled.
    ///
    /// - Throws: `HTTPError` if another request cannot help; the errors of `receive` and of
    ///   ``headers``; `CancellationError` if the task is cancelled.
    public func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
        var cursor: String?
        func forget() -> Bool {
            defer { cursor = nil }
            return cursor != nil
        }
        try await connections.run(receive, forgetting: forget) { pause in
            var isConnected = false
            while true {
                let (body, next) = try await poll(cursor ?? initialCursor)
                if !isConnected { try await receive(.connected(isContinuous: cursor != nil)) }
                pause.noteSuccess()
                let change = body.map { RemoteChange.objects($0, keyPath: keyPath, tombstones: tombstones) }
                if let change, !change.isEmpty { try await receive(.changes([change])) }
                cursor = next ?? cursor
                // The next request would begin anew.
                isConnected = cursor != nil
                try await pause.wait(after: nil)
            }
        }
    }

    private var connections: FeedConnections {
        FeedConnections(url: url, client: client, headers: headers, silence: silence, pause: pause)
    }

    /// Requests the changes after a cursor.
    ///
    /// - Returns: The response, or nil if it has no changes, and the next cursor.
    private func poll(_ cursor: String?) async throws -> (JSONSource?, next: String?) {
        let address = cursor.map { url.setting(parameter, to: $0) } ?? url
        let request = HTTPRequest(address, headers: ["Accept": "application/json", "Cache-Control": "no-cache"])
        let fetch = try connections.open(request)
        let head = try await fetch.head()
        var bytes: [UInt8] = []
        while let piece = try await fetch.nextPiece() {
            bytes += piece
            guard bytes.count <= byteCount else {
                throw fetch.secrets.error(at: address, .tooLarge(limit: byteCount))
            }
        }
        let field = cursorHeader.flatMap { head.headers[$0] }
        // A server that has waited long enough may respond without content.
        if head.status == 204 || head.status == 304 { return (nil, field) }
        let document: JSONValue
        do { document = try JSONValue(parsing: bytes, exactDecimals: true) } catch {
            throw fetch.secrets.error(at: address, .unsuitableJSON("\(error)", firstLine: fetch.firstLine))
        }
        if let field { return (.value(document), field) }
        let value = JSONKeyPath.keys(of: cursorKeyPath).reduce(document as JSONValue?) { $0?[$1] }
        guard let next = value?.token else {
            throw fetch.secrets.error(
                at: address, .unsuitablePointer(keyPath: cursorKeyPath, found: value?.kindName ?? "nothing"))
        }
        return (.value(document), next)
    }
}
