#if os(Linux)
import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Trusted authorities, certificates and proxies of the transport on Linux.
@Suite(.endsInTime) struct ConnectionOptionsTests {
    private func error(_ options: HTTPClient.ConnectionOptions, _ address: String) async throws -> HTTPError {
        let client = HTTPClient(transport: try #require(HTTPClient.CurlTransport(options)))
        let url = try #require(URL(string: address))
        return try await #require(throws: HTTPError.self) { _ = try await client.data(from: url) }
    }

    /// The server of these tests refuses the address in the form for proxies.
    @Test func requestsGoToTheProxy() async throws {
        try await LoopbackHTTPServer.serving({ _ in .text("no proxy") }) { server in
            let options = HTTPClient.ConnectionOptions(proxy: URL(string: server.baseURL))
            let error = try await error(options, "http://host.invalid/a")
            #expect(error.problem == .status(400, firstLine: "", retryAfter: nil))
        }
    }

    @Test func aProxyThatIsGoneIsNamed() async throws {
        let refusal = try LoopbackRefusal()
        let options = HTTPClient.ConnectionOptions(proxy: URL(string: refusal.baseURL))
        let error = try await error(options, "http://host.invalid/a")
        #expect(error.problem == .unreachable("cannot connect", isLasting: false))
        withExtendedLifetime(refusal) {}
    }

    @Test(arguments: ["authorities", "certificate", "key"])
    func aFileThatIsMissingIsALastingError(name: String) async throws {
        let missing = URL(filePath: "/nowhere/\(name).pem")
        var options = HTTPClient.ConnectionOptions()
        switch name {
        case "authorities": options.authorities = missing
        case "certificate": options.certificate = missing
        default: options.privateKey = missing
        }
        if name == "key" { options.certificate = missing }
        try await LoopbackHTTPServer.serving({ _ in .text("plain") }) { server in
            let error = try await error(options, server.baseURL.replacing("http:", with: "https:"))
            guard case .unreachable(let reason, isLasting: true) = error.problem else { throw error }
            #expect(reason.hasPrefix("no secure connection: "))
            #expect(!error.isRetryable)
        }
    }

    @Test func optionsShowNoSecret() {
        let options = HTTPClient.ConnectionOptions(
            privateKeyPassword: "hidden", proxy: URL(string: "http://user:hidden@proxy"))
        #expect("\(options)" == "password, proxy")
        #expect(!String(reflecting: options).contains("hidden"))
    }

    @Test func aSessionRefusesWhatItDoesNotHave() async throws {
        let transport = HTTPClient.URLSessionTransport(
            HTTPClient.ConnectionOptions(authorities: URL(filePath: "/ca.pem")))
        let url = try #require(URL(string: "https://host.invalid/"))
        let error = await #expect(throws: HTTPError.self) {
            _ = try await HTTPClient(transport: transport).data(from: url)
        }
        guard case .unsuitableSettings? = error?.problem else { throw try #require(error) }
    }
}
#endif
