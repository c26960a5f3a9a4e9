import Foundation
import HTTPTransfer
import StoreSync

/// The connections of a feed, one after another.
struct FeedConnections: Sendable {
    let url: URL
    let client: HTTPClient
    /// The header fields of each connection, sent only to the origin of the address.
    let headers: @Sendable () async throws -> HTTPHeaders
    /// The longest time without any data.
    let silence: Duration
    /// The pause before the next connection.
    let pause: Duration

    /// Sends a request whose response is a stream.
    ///
    /// - Throws: `HTTPError` for an address that cannot be requested.
    func open(_ request: HTTPRequest) throws -> HTTPFetch<NoInspector> {
        guard url.isHTTP else {
            throw HTTPError(
                url: url,
                problem: .forbiddenAddress("cannot be requested", target: HTTPAddress.displayName(url.absoluteString)))
        }
        return HTTPFetch(HTTPOrder(stream: request, secrets: headers, source: url, silence: silence), by: client)
    }

    /// Connects again and again, until the feed ends or another connection cannot help.
    ///
    /// - Parameters:
    ///   - receive: Receives interruptions.
    ///   - forget: Forgets the cursor, which the server no longer knows (status 410), and returns
    ///     whether there was one.
    ///   - connect: Reads one connection to its end, and returns whether the feed has ended.
    /// - Throws: `HTTPError` if another connection cannot help; any other error of `receive` and
    ///   `connect`; `CancellationError`.
    func run(
        _ receive: (RemoteChange.Event) async throws -> Void, forgetting forget: () -> Bool = { false },
        connect: (inout ConnectionPause) async throws -> Bool
    ) async throws {
        var pause = ConnectionPause(pause, client: client)
        while true {
            do {
                if try await connect(&pause) { return }
                try await receive(.interrupted(nil))
                try await pause.wait(after: nil)
            } catch let error as HTTPError {
                try await receive(.interrupted(error))
                if case .status(410, _, _) = error.problem, forget() {
                    try await pause.wait(after: nil)
                } else {
                    try await pause.wait(after: error)
                }
            }
        }
    }
}
