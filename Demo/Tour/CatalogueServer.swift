import SyncBase
import Foundation
import OneWayLoopbackServer
import OneWaySynchronizer

/// The tour's source: an in-process server with a catalogue of short texts that can change and
/// fail.
///
///     /catalogue.json    the list
///     /items/<key>       a content
///     /previews/<key>    a preview: the first word of the content
final class CatalogueServer: Sendable {
    /// An entry of the catalogue.
    struct Entry: Sendable, Equatable {
        var content: String
        var revision = 1
        var order = 0
        /// The number of requests for the content that are answered with 503 before it is served.
        var failureCount = 0
        /// Whether the content is sent in small pieces, over a third of a second.
        var isSlow = false
        /// Whether the content is listed but missing.
        var isMissing = false
        /// A gate that delays the content until it is opened.
        var gate: LoopbackGate?

        static func == (left: Entry, right: Entry) -> Bool {
            left.content == right.content && left.revision == right.revision
        }

        var preview: String { content.split(separator: " ").first.map(String.init) ?? "" }
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var isEmptied = false
        /// The paths of all successful replies except the list.
        var transfers: [String] = []
    }

    /// The shared state, in a class of its own so that the server's handler does not retain the
    /// server.
    private final class Catalogue: Sendable {
        let state = Locked(State())
    }

    private let catalogue = Catalogue()
    private let server: LoopbackHTTPServer

    /// The address of the list.
    let listURL: URL

    /// Creates and starts a server with an empty catalogue.
    init() throws {
        server = try LoopbackHTTPServer { [catalogue] request in Self.reply(to: request, from: catalogue) }
        guard let url = URL(string: server.baseURL + "/catalogue.json") else { throw URLError(.badURL) }
        listURL = url
    }

    /// Stops the server and closes all connections.
    func stop() async {
        await server.stop()
    }

    // MARK: The catalogue

    /// The entries of the catalogue, by key.
    var entries: [String: Entry] {
        get { catalogue.state.withLock { $0.entries } }
        set { catalogue.state.withLock { $0.entries = newValue } }
    }

    /// Whether the list is served as empty, as by a server with a broken database.
    var isEmptied: Bool {
        get { catalogue.state.withLock { $0.isEmptied } }
        set { catalogue.state.withLock { $0.isEmptied = newValue } }
    }

    /// Returns the paths transferred since the last call, in reply order.
    func takeTransfers() -> [String] {
        catalogue.state.withLock { state in
            defer { state.transfers = [] }
            return state.transfers
        }
    }

    // MARK: Replies

    private static func reply(to request: LoopbackRequest, from catalogue: Catalogue) -> LoopbackResponse {
        if request.path == "/catalogue.json" { return list(catalogue) }
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count == 2 else { return .text("no such page\n", status: 404) }
        return catalogue.state.withLock { state in
            guard var entry = state.entries[parts[1]], !entry.isMissing else {
                return .text("no such entry\n", status: 404)
            }
            if parts[0] == "previews" {
                state.transfers.append(request.path)
                return .text(entry.preview)
            }
            if entry.failureCount > 0 {
                entry.failureCount -= 1
                state.entries[parts[1]] = entry
                return .text("back in a moment\n", status: 503, headers: [("Retry-After", "0")])
            }
            state.transfers.append(request.path)
            return reply(with: entry)
        }
    }

    private static func reply(with entry: Entry) -> LoopbackResponse {
        let body = Array(entry.content.utf8)
        guard entry.isSlow || entry.gate != nil else { return .bytes(body) }
        return .stream(byteCount: body.count) { writer in
            if let gate = entry.gate { try writer.wait(at: gate) }
            let pieceCount = entry.isSlow ? 10 : 1
            let pieceByteCount = (body.count + pieceCount - 1) / pieceCount
            for start in stride(from: 0, to: body.count, by: max(1, pieceByteCount)) {
                if entry.isSlow { try writer.pause(milliseconds: 35) }
                try writer.write(Array(body[start..<min(body.count, start + pieceByteCount)]))
            }
        }
    }

    private static func list(_ catalogue: Catalogue) -> LoopbackResponse {
        let (entries, isEmptied) = catalogue.state.withLock { ($0.entries, $0.isEmptied) }
        let lines = entries.sorted { $0.key < $1.key }.map { key, entry in
            """
            {"key": "\(key)", "url": "/items/\(key)", "revision": \(entry.revision), "order": \(entry.order), \
            "preview_url": "/previews/\(key)"}
            """
        }
        return .json(isEmptied ? "[]" : "[\n\(lines.joined(separator: ",\n"))\n]")
    }
}
