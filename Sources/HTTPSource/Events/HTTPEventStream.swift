public import Foundation
public import HTTPTransfer
public import StoreSync

/// A stream of server-sent events, as a feed of changes.
///
///     let reading = HTTPEventStream.Event.objects(removals: ["deleted"])
///     let events = HTTPEventStream(url, reading: reading) { ["Authorization": "Bearer \(token)"] }
///     let live = LiveSync(store, "User", from: users, feed: events, schedule: schedule)
///
/// A connection that is lost or silent for too long is opened again with `Last-Event-ID`, after the
/// pause that the server requests (`retry`), which grows with each failure. Status 204 ends the
/// feed permanently. An event that is too large is omitted and reported as a gap. Memory is
/// bounded: while changes are applied, no more events are read.
public struct HTTPEventStream: RemoteFeed {
    /// The address, http or https.
    public var url: URL
    /// Whether the server repeats all events after `Last-Event-ID`; false by default.
    ///
    /// If false, each connection after the first is a gap, and a pass is needed.
    public var isResumable = false
    /// The longest time without any data, including comments; 90 s by default.
    public var silence: Duration = .seconds(90)
    /// The maximum number of bytes of an event; 1 MiB by default.
    public var eventByteCount = 1 << 20
    /// The pause before the next connection, until the server requests another one; 3 s by default.
    /// It is at least the `baseDelay` of the client's retry policy. The server can request at most
    /// an hour.
    public var pause: Duration = .seconds(3)
    /// The types of events that report missed changes. Empty by default.
    public var gapTypes: Set<String> = []
    /// Returns the change in an event; nil if there is none. An error counts as a gap.
    public var reading: @Sendable (HTTPEventStream.Event) throws -> RemoteChange?
    /// The header fields of each connection, such as an access token. They are sent only to the
    /// origin of the address.
    public var headers: @Sendable () async throws -> HTTPHeaders
    /// The client that connects. A stream does not count as one of its connections.
    public let client: HTTPClient

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - url: The address, http or https.
    ///   - reading: Returns the change in an event; nil if there is none. By default, the data of
    ///     each event are new or changed objects.
    ///   - client: The client that connects.
    ///   - headers: The header fields of each connection; none by default.
    public init(
        _ url: URL,
        reading: @escaping @Sendable (HTTPEventStream.Event) throws -> RemoteChange? = HTTPEventStream.Event.objects(),
        client: HTTPClient = HTTPClient(),
        headers: @escaping @Sendable () async throws -> HTTPHeaders = { HTTPHeaders() }
    ) {
        self.url = url
        self.reading = reading
        self.client = client
        self.headers = headers
    }

    /// Delivers events until the task is cancelled or the server responds with status 204.
    ///
    /// - Throws: `HTTPError` if another connection cannot help; the errors of `receive` and of
    ///   ``headers``; `CancellationError` if the task is cancelled.
    public func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws {
        var lastID: String?
        try await connections.run(receive) { pause in try await connect(&lastID, &pause, receive) }
    }

    private var connections: FeedConnections {
        FeedConnections(url: url, client: client, headers: headers, silence: silence, pause: pause)
    }

    /// Reads one connection to its end.
    ///
    /// - Returns: Whether the server ended the feed permanently.
    private func connect(
        _ lastID: inout String?, _ pause: inout ConnectionPause,
        _ receive: (RemoteChange.Event) async throws -> Void
    ) async throws -> Bool {
        var request = HTTPRequest(url, headers: ["Accept": "text/event-stream", "Cache-Control": "no-cache"])
        request.headers["Last-Event-ID"] = lastID
        let fetch = try connections.open(request)
        let head = try await fetch.head()
        if head.status == 204 { return true }
        let type = head.headers["Content-Type"] ?? "no type"
        guard head.status == 200, type.lowercased().hasPrefix("text/event-stream") else {
            throw fetch.secrets.error(
                at: url,
                .malformed("status \(head.status) and \(PrintableText.line(type)) instead of text/event-stream"))
        }
        try await receive(.connected(isContinuous: isResumable && lastID != nil))
        var parser = EventParser(limit: eventByteCount, lastID: lastID)
        while let piece = try await fetch.nextPiece() {
            let items: [EventParser.Item]
            do { items = try parser.append(piece) } catch {
                // A new connection may avoid the event.
                try await receive(.gap(fetch.secrets.error(at: url, .tooLarge(limit: eventByteCount))))
                throw HTTPError(url: url, problem: .cutShort(received: eventByteCount, expected: nil))
            }
            try await deliver(items, &pause, fetch, receive)
            // Received events are not requested again.
            lastID = parser.lastID
        }
        return false
    }

    private func deliver(
        _ items: [EventParser.Item], _ pause: inout ConnectionPause, _ fetch: HTTPFetch<NoInspector>,
        _ receive: (RemoteChange.Event) async throws -> Void
    ) async throws {
        var changes: [RemoteChange] = []
        func flush() async throws {
            guard !changes.isEmpty else { return }
            try await receive(.changes(changes))
            changes = []
        }
        for item in items {
            switch item {
            case .retry(let duration): pause.set(duration)
            case .tooLarge:
                try await flush()
                try await receive(.gap(fetch.secrets.error(at: url, .tooLarge(limit: eventByteCount))))
            case .event(let event):
                pause.noteSuccess()
                if gapTypes.contains(event.type) {
                    try await flush()
                    let error = fetch.secrets.error(at: url, .refused("an event reports missed changes", text: ""))
                    try await receive(.gap(error))
                    continue
                }
                do {
                    if let change = try reading(event) { changes.append(change) }
                } catch {
                    try await flush()
                    try await receive(.gap(error))
                }
            }
        }
        try await flush()
    }
}
