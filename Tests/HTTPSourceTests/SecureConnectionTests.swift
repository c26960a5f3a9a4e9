#if os(Linux)
import Foundation
import HTTPTransfer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Trusted authorities and client certificates of the transport on Linux, at a server with TLS.
@Suite(.enabled("openssl is not installed") { TestCertificate.isPossible }, .endsInTime)
struct SecureConnectionTests {
    /// A server that shows what it knows of the connection, until the test ends.
    private struct Server {
        private let process: ChildProcess
        let url: URL

        /// - Parameters:
        ///   - host: The address that it listens on.
        ///   - authority: The authority of the client certificates that the server requires; nil if
        ///     it requires none.
        init(
            _ certificate: TestCertificate, on host: String = "127.0.0.1", requiring authority: TestCertificate? = nil,
            _ more: [String] = []
        ) async throws {
            let requirement =
                authority.map { ["-Verify", "1", "-verify_return_error", "-CAfile", $0.certificate] } ?? []
            let identity = ["-cert", certificate.certificate, "-key", certificate.key]
            process = try ChildProcess(
                TestCertificate.openssl, ["s_server", "-accept", "\(host):0", "-www"] + identity + requirement + more,
                errors: ChildOutput())
            var port: Substring?
            while port == nil, let line = try await process.output.next() {
                if line.hasPrefix("ACCEPT") { port = line.split(separator: ":").last }
            }
            let number = try #require(port)
            url = try #require(URL(string: "https://\(host):\(number)/"))
        }

        func stop() async { await process.kill() }
    }

    private struct Certificates {
        let authority, server, client: TestCertificate
        /// Another authority.
        let stranger: TestCertificate

        /// Options that trust the authority.
        var trusting: HTTPClient.ConnectionOptions {
            HTTPClient.ConnectionOptions(authorities: URL(filePath: authority.certificate))
        }
    }

    private func withCertificates(
        password: String? = nil, _ body: (Certificates) async throws -> Void
    ) async throws {
        let authority = try await TestCertificate.make()
        let certificates = Certificates(
            authority: authority, server: try await TestCertificate.make(signedBy: authority),
            client: try await TestCertificate.make(signedBy: authority, password: password),
            stranger: try await TestCertificate.make())
        defer {
            for certificate in [authority, certificates.server, certificates.client, certificates.stranger] {
                certificate.remove()
            }
        }
        try await body(certificates)
    }

    private func page(_ url: URL, _ options: HTTPClient.ConnectionOptions) async throws -> String {
        let client = HTTPClient(transport: try #require(HTTPClient.CurlTransport(options)))
        return String(decoding: try await client.data(from: url), as: UTF8.self)
    }

    /// Expects that no secure connection is made, and that no later attempt can make one.
    private func refusal(_ url: URL, _ options: HTTPClient.ConnectionOptions) async throws -> String {
        let error = try await #require(throws: HTTPError.self) { _ = try await page(url, options) }
        guard case .unreachable(let reason, isLasting: true) = error.problem else { throw error }
        #expect(reason.hasPrefix("no secure connection: "))
        #expect(!error.isRetryable)
        return reason
    }

    @Test func onlyTheGivenAuthorityIsTrusted() async throws {
        try await withCertificates { certificates in
            let server = try await Server(certificates.server)
            #expect(try await page(server.url, certificates.trusting).contains("no client certificate"))
            let strange = HTTPClient.ConnectionOptions(authorities: URL(filePath: certificates.stranger.certificate))
            // Without options, the authorities of the system.
            for options in [strange, HTTPClient.ConnectionOptions()] {
                #expect(try await refusal(server.url, options).contains("certificate"))
            }
            await server.stop()
        }
    }

    @Test func aCertificateForAnotherHostIsRefused() async throws {
        try await withCertificates { certificates in
            let server = try await Server(certificates.server, on: "127.0.0.2")
            #expect(try await refusal(server.url, certificates.trusting).contains("name"))
            await server.stop()
        }
    }

    /// A server of TLS 1.3 refuses a client after the handshake, an older one during it.
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aServerGetsTheCertificateThatItRequires(version: String) async throws {
        try await withCertificates { certificates in
            let server = try await Server(certificates.server, requiring: certificates.authority, [version])
            var options = certificates.trusting
            #expect(try await refusal(server.url, options).contains("alert"))
            options.certificate = URL(filePath: certificates.client.certificate)
            options.privateKey = URL(filePath: certificates.client.key)
            let text = try await page(server.url, options)
            #expect(text.contains("Client certificate") && !text.contains("no client certificate"))
            options.certificate = URL(filePath: certificates.stranger.certificate)
            options.privateKey = URL(filePath: certificates.stranger.key)
            #expect(try await refusal(server.url, options).contains("alert"))
            // A key that belongs to another certificate.
            options.privateKey = URL(filePath: certificates.client.key)
            #expect(try await refusal(server.url, options).contains("key"))
            await server.stop()
        }
    }

    /// A missing password is an error: nobody is there to type it at the terminal.
    @Test func aKeyIsReadWithItsPassword() async throws {
        try await withCertificates(password: "word") { certificates in
            let server = try await Server(certificates.server, requiring: certificates.authority)
            var options = certificates.trusting
            options.certificate = URL(filePath: certificates.client.certificate)
            options.privateKey = URL(filePath: certificates.client.key)
            for password in [nil, "other"] {
                options.privateKeyPassword = password
                #expect(try await refusal(server.url, options).contains("key"))
            }
            options.privateKeyPassword = "word"
            #expect(try await page(server.url, options).contains("Client certificate"))
            await server.stop()
        }
    }

    /// The server takes the request for a page of another host, as a proxy does.
    @Test func theAuthorityIsThatOfAProxyToo() async throws {
        try await withCertificates { certificates in
            let proxy = try await Server(certificates.server)
            let url = try #require(URL(string: "http://host.invalid/a"))
            var options = certificates.trusting
            options.proxy = proxy.url
            #expect(try await page(url, options).contains("no client certificate"))
            options.authorities = URL(filePath: certificates.stranger.certificate)
            #expect(try await refusal(url, options).contains("certificate"))
            await proxy.stop()
        }
    }
}
#endif
