public import Foundation
public import HTTPTransfer
import JSONMapper
public import StoreSync

/// A stream of JSON lines that does not end, as a feed of changes.
///
///     let pods = HTTPLineStream.kubernetes(url) { ["Authorization": "Bearer \(token)"] }
///     let live = LiveSync(store, "Pod", from: list, feed: pods, schedule: schedule)
///
/// If lines have a cursor, a connection that is lost or silent for too long is opened again behind
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
    /// A line of no listed type without a cursor has no object.
    public var cursorKeyPath: String?
    /// The query parameter that receives the cursor.
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
        feed.parameter = "since"
        feed.initialCursor = cursor
        return feed
    }

    /// Delivers changes until the task is cancelled or the server responds with status 204.
    ///
    /// - Throws: `HTTPError` if another connection cannot help; the errors of `receive` and of
    ///   ``headers``; `CancellationError` if the task is cancelled.
    public func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
        var pause = ConnectionPause(pause, client: client)
        var cursor: String?
        while true {
            do {
                if try await connect(&cursor, &pause, receive) { return }
                try await receive(.interrupted(nil))
                try await pause.wait(after: nil)
            } catch let error as HTTPError {
                try await receive(.interrupted(error))
                if case .status(410, _, _) = error.problem, cursor != nil {
                    cursor = nil
                    try await pause.wait(after: nil)
                } else {
                    try await pause.wait(after: error)
                }
            }
        }
    }

    /// Reads one connection to its end, or to a line that reports missed changes.
    ///
    /// - Returns: Whether the server ended the feed permanently.
    private func connect(
        _ cursor: inout String?, _ pause: inout ConnectionPause,
        _ receive: (RemoteChange.Event) async throws -> Void
    ) async throws -> Bool {
        guard url.isHTTP else {
            throw HTTPError(
                url: url,
                problem: .forbiddenAddress("cannot be requested", target: HTTPAddress.displayName(url.absoluteString)))
        }
        let address = (cursor ?? initialCursor).map { url.setting(parameter, to: $0) } ?? url
        let request = HTTPRequest(
            address, headers: ["Accept": "application/json, application/x-ndjson", "Cache-Control": "no-cache"])
        let fetch = HTTPFetch(
            HTTPOrder(stream: request, secrets: headers, source: url, silence: silence), by: client)
        let head = try await fetch.head()
        if head.status == 204 { return true }
        try await receive(.connected(isContinuous: cursor != nil))
        var lines = LineBuffer(limit: lineByteCount)
        while let piece = try await fetch.nextPiece() {
            var changes: [RemoteChange] = []
            var latest = cursor
            var gap: (any Error)?
            for line in lines.append(piece) {
                pause.noteSuccess()
                do {
                    guard let (change, position) = try read(line, fetch) else { continue }
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
                return false
            }
        }
        return false
    }

    /// Reads a line.
    ///
    /// - Returns: The change and the cursor; nil for a line that reports nothing.
    /// - Throws: `HTTPError` if changes were missed.
    private func read(
        _ line: [UInt8]?, _ fetch: HTTPFetch<NoInspector>
    ) throws -> (RemoteChange?, cursor: String?)? {
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
        guard cursorKeyPath == nil || cursor != nil else { return nil }
        let json = JSONSource.value(document)
        return removals.contains(type)
            ? (.removals(json, of: entity, keyPath: keyPath), cursor)
            : (.objects(json, of: entity, keyPath: keyPath, tombstones: tombstones), cursor)
    }
}

/// Divides bytes into lines of a limited length.
private struct LineBuffer {
    let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// The lines that end in a piece, without blank ones; nil for one that is too long.
    mutating func append(_ piece: [UInt8]) -> [[UInt8]?] {
        var lines: [[UInt8]?] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            extend(by: rest[..<end])
            rest = rest[(end + 1)...]
            if isTooLong {
                lines.append(nil)
            } else if line.contains(where: { $0 > 0x20 }) {
                lines.append(line)
            }
            (line, isTooLong) = ([], false)
        }
        extend(by: rest)
        return lines
    }

    private mutating func extend(by bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if line.count + bytes.count > limit { (line, isTooLong) = ([], true) } else { line += bytes }
    }
}
