public import Foundation
public import HTTPTransfer
import JSONMapper
public import StoreSync

/// A stream of JSON lines that does not end, as a feed of changes.
///
///     let pods = HTTPLineStream.kubernetes(url) { ["Authorization": "Bearer \(token)"] }
///     let live = LiveSync(store, "Pod", from: list, feed: pods, schedule: schedule)
///
/// If lines have a cursor, a connection that is lost or silent for too long is opened again after
/// the latest line. If the server no longer knows the cursor (status 410, or a line of one of the
/// types ``gaps``), the feed starts again without it, which is a gap: the next pass lists the
/// objects anew. Status 204 ends the feed permanently. Memory is bounded: while changes are
/// applied, no more lines are read.
public struct HTTPLineStream: RemoteFeed {
    /// The address, http or https.
    public var url: URL
    /// The entity of the objects; nil, the default, for the one that the changes are applied to.
    public var entity: String?
    /// The key path of the text that says what a line reports; nil, the default, if each line has
    /// new or changed objects.
    public var typeKeyPath: String?
    /// The key path of the object in a line; empty, the default, if the line is the object.
    public var keyPath = ""
    /// The types of lines with deleted objects; none by default.
    public var removals: Set<String> = []
    /// The types of lines without objects, such as bookmarks; none by default.
    public var ignored: Set<String> = []
    /// The types of lines that report missed changes; none by default.
    public var gaps: Set<String> = []
    /// How a line of any other type marks its object as deleted; nil, the default, if it does not.
    public var tombstones: RemotePage.Tombstones?
    /// The key path of the cursor in each line, a text or a number; nil, the default, if there is
    /// none. Each connection after the first is then a gap.
    ///
    /// A line without it is a gap, unless its type is ``ignored`` or it has the cursor at
    /// ``endCursorKeyPath``.
    public var cursorKeyPath: String?
    /// The key path of the cursor in a line that has no object, such as the last one of a
    /// connection; nil, the default, if there are no such lines.
    public var endCursorKeyPath: String?
    /// The query parameter that receives the cursor; required if lines have one.
    public var parameter = ""
    /// The cursor of the first connection; nil, the default, for none.
    public var initialCursor: String?
    /// The longest time without any data, including blank lines; 150 s by default.
    public var silence: Duration = .seconds(150)
    /// The maximum number of bytes of a line; 4 MiB by default.
    public var lineByteCount = 4 << 20
    /// The pause before the next connection; 1 s by default. It is at least the `baseDelay` of the
    /// client's retry policy.
    public var pause: Duration = .seconds(1)
    /// The header fields of each connection, such as an access token. They are sent only to the
    /// origin of the address.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// The client that connects. A stream does not count as one of its connections.
    public let client: HTTPClient

    /// Creates a feed whose lines are new or changed objects. Set the other properties before use.
    public init(
        _ url: URL, client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        self.url = url
        self.client = client
        self.headers = headers
    }

    /// Creates a feed of a Kubernetes watch, with bookmarks.
    ///
    /// Bookmarks keep the resource version recent while nothing changes. After status 410 or an
    /// `ERROR`, the feed starts again ("Efficient detection of changes" in the API concepts).
    ///
    /// - Parameters:
    ///   - url: The address of the list, such as `…/api/v1/pods`, without `watch`.
    ///   - client: The client that connects.
    ///   - headers: The header fields of each connection; none by default.
    public static func kubernetes(
        _ url: URL, client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) -> HTTPLineStream {
        let address = url.setting("watch", to: "true").setting("allowWatchBookmarks", to: "true")
        var feed = HTTPLineStream(address, client: client, headers: headers)
        feed.typeKeyPath = "type"
        feed.keyPath = "object"
        feed.removals = ["DELETED"]
        feed.ignored = ["BOOKMARK"]
        feed.gaps = ["ERROR"]
        feed.cursorKeyPath = "object.metadata.resourceVersion"
        feed.parameter = "resourceVersion"
        return feed
    }

    /// Creates a feed of the continuous changes of a CouchDB database, with a heartbeat each
    /// minute.
    ///
    /// - Parameters:
    ///   - url: The address of `_changes`.
    ///   - cursor: The sequence of the first connection; `now` by default.
    ///   - client: The client that connects.
    ///   - headers: The header fields of each connection; none by default.
    public static func couchdb(
        _ url: URL, after cursor: String = "now", client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) -> HTTPLineStream {
        let address = url.setting("feed", to: "continuous").setting("heartbeat", to: "60000")
        var feed = HTTPLineStream(address, client: client, headers: headers)
        feed.tombstones = .flag(keyPath: "deleted")
        feed.cursorKeyPath = "seq"
        feed.endCursorKeyPath = "last_seq"
        feed.parameter = "since"
        feed.initialCursor = cursor
        return feed
    }

    /// Delivers changes until the task is cancelled or the server responds with status 204.
    ///
    /// - Throws: `HTTPError` if another connection cannot help; the errors of `receive` and of
    ///   ``headers``; `CancellationError` if the task is cancelled.
    public func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
        var cursor: String?
        func forget() -> Bool {
            defer { cursor = nil }
            return cursor != nil
        }
        try await connections.run(receive, forgetting: forget) { pause in
            try await connect(&cursor, &pause, receive)
        }
    }

    private var connections: FeedConnections {
        FeedConnections(url: url, client: client, headers: headers, silence: silence, pause: pause)
    }

    /// Reads one connection to its end, or to a line that reports missed changes.
    ///
    /// - Returns: Whether the server ended the feed permanently.
    private func connect(
        _ cursor: inout String?, _ pause: inout ConnectionPause,
        _ receive: (RemoteChange.Event) async throws -> Void
    ) async throws -> Bool {
        guard cursorKeyPath == nil || !parameter.isEmpty else {
            throw HTTPError(url: url, problem: .unsuitableSettings("the cursor of the lines has no parameter"))
        }
        let address = (cursor ?? initialCursor).map { url.setting(parameter, to: $0) } ?? url
        let request = HTTPRequest(
            address, headers: ["Accept": "application/json, application/x-ndjson", "Cache-Control": "no-cache"])
        let fetch = try connections.open(request)
        let head = try await fetch.head()
        if head.status == 204 { return true }
        try await receive(.connected(isContinuous: cursor != nil))
        var lines = LineBuffer(limit: lineByteCount)
        while let piece = try await fetch.nextPiece() {
            var changes: [RemoteChange] = []
            var latest = cursor
            var gap: (any Error)?
            for line in lines.append(piece) {
                do {
                    let (change, position) = try read(line, fetch)
                    pause.noteSuccess()
                    if let change { changes.append(change) }
                    latest = position ?? latest
                } catch {
                    gap = error
                    break
                }
            }
            if !changes.isEmpty { try await receive(.changes(changes)) }
            // Lines that were applied are not requested again.
            cursor = latest
            if let gap {
                try await receive(.gap(gap))
                cursor = nil
                // A server that sends nothing else is asked less and less often.
                throw fetch.secrets.error(at: url, .cutShort(received: 0, expected: nil))
            }
        }
        return false
    }

    /// Reads a line.
    ///
    /// - Returns: The change, or nil if the line reports none, and the cursor.
    /// - Throws: `HTTPError` if changes were missed.
    private func read(
        _ line: [UInt8]?, _ fetch: HTTPFetch<NoInspector>
    ) throws -> (RemoteChange?, cursor: String?) {
        guard let line else { throw fetch.secrets.error(at: url, .tooLarge(limit: lineByteCount)) }
        let document: JSONValue
        do { document = try JSONValue(parsing: line, exactDecimals: true) } catch {
            throw fetch.secrets.error(
                at: url, .unsuitableJSON("\(error)", firstLine: PrintableText.firstLine(of: Array(line.prefix(200)))))
        }
        func value(_ keyPath: String?) -> JSONValue? {
            keyPath.flatMap { JSONKeyPath.keys(of: $0).reduce(document as JSONValue?) { $0?[$1] } }
        }
        let type = value(typeKeyPath)?.token ?? ""
        if gaps.contains(type) {
            throw fetch.secrets.error(at: url, .refused("a line reports missed changes", text: ""))
        }
        let cursor = value(cursorKeyPath)?.token
        if ignored.contains(type) { return (nil, cursor) }
        if let cursorKeyPath, cursor == nil {
            if let end = value(endCursorKeyPath)?.token { return (nil, end) }
            let found = value(cursorKeyPath)?.kindName ?? "nothing"
            throw fetch.secrets.error(at: url, .unsuitablePointer(keyPath: cursorKeyPath, found: found))
        }
        let json = JSONSource.value(document)
        return removals.contains(type)
            ? (.removals(json, of: entity, keyPath: keyPath), cursor)
            : (.objects(json, of: entity, keyPath: keyPath, tombstones: tombstones), cursor)
    }
}
