import HTTPTypes
import Hummingbird

/// Decides who may use the server's API.
///
/// Reading needs no token if only this computer can reach the server, and if the request names this
/// computer. A web page could otherwise read the data through a name of its own that leads here.
/// Everything else needs the token.
struct ServerAccess: RouterMiddleware {
    /// What requests must send as a bearer token.
    let token: String
    /// Whether the server listens only on this computer.
    let isLocal: Bool

    typealias Context = BasicRequestContext

    /// Creates the rules of a server.
    ///
    /// - Parameter host: The address on which the server listens.
    init(token: String, host: String) {
        self.token = token
        isLocal = Self.localNames.contains(host.lowercased())
    }

    private static let localNames: Set<String> = ["127.0.0.1", "::1", "[::1]", "localhost"]

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard isOpen(to: request) || isAuthorized(request) else {
            throw HTTPError(.unauthorized, message: "send the token: Authorization: Bearer …")
        }
        return try await next(request, context)
    }

    private func isOpen(to request: Request) -> Bool {
        guard isLocal, request.method == .get, let authority = request.head.authority else { return false }
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let port = authority[(end ?? authority.startIndex)...].firstIndex(of: ":") ?? authority.endIndex
        return Self.localNames.contains(authority[..<port].lowercased())
    }

    private func isAuthorized(_ request: Request) -> Bool {
        guard let sent = request.headers[.authorization] else { return false }
        return Self.areEqual(sent, "Bearer \(token)")
    }

    /// Compares without revealing by its time how much is equal.
    private static func areEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
