import Foundation
import HTTPSource
import HTTPTransfer
import OneWayLoopbackServer
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import Testing

/// Where a client's requests may go.
@Suite(.endsInTime) struct DestinationsTests {
    /// The beginning of a destination's refusal.
    private static let refusal = "no request may go to "

    private func client(
        _ destinations: HTTPClient.Destinations, _ transport: any HTTPClient.Transport = HTTPClient.systemTransport()
    ) -> HTTPClient {
        // A server in this process may wait long for its turn.
        HTTPClient(
            transport: transport, limits: HTTPClient.Limits(silence: .seconds(600)),
            retry: RetryPolicy(maxAttempts: 1), destinations: destinations)
    }

    private static func transports() -> [any HTTPClient.Transport] {
        #if os(Linux)
        return [HTTPClient.systemTransport(), HTTPClient.URLSessionTransport()]
        #else
        return [HTTPClient.URLSessionTransport()]
        #endif
    }

    /// Counts the requests that arrive at a server on this machine.
    private func withServer(_ body: (_ port: UInt16, _ count: @escaping @Sendable () -> Int) async throws -> Void)
        async throws
    {
        let requests = EventLog<String>()
        let handler: LoopbackHTTPServer.Handler = { request in
            requests.append(request.path)
            return .text("secret")
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            try await body(UInt16(server.port)) { requests.events.count }
        }
    }

    // MARK: Public addresses

    @Test(arguments: [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "0177.0.0.1", "017700000001",
        "0x7f.1", "127.0.0.1.", "0", "0.0.0.0", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[::127.0.0.1]", "localhost", "LOCALHOST", "localhost.", "a.localhost", "127%2E0.0.1",
        "loc%61lhost",
    ])
    func noSpellingOfThisMachineIsPublic(host: String) async throws {
        try await withServer { port, count in
            let url = try #require(URL(string: "http://\(host):\(port)/"))
            for transport in Self.transports() {
                let error = await #expect(throws: HTTPError.self) {
                    try await client(.publicAddresses, transport).data(from: url)
                }
                #expect(error?.description.contains(Self.refusal) == true, "\(String(describing: error))")
                #expect(error?.isRetryable == false)
            }
            #expect(count() == 0)
        }
    }

    @Test func withoutTheOptionTheSameRequestArrives() async throws {
        try await withServer { port, count in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
            for transport in Self.transports() {
                #expect(try await client(.anywhere, transport).data(from: url) == Array("secret".utf8), "\(transport)")
            }
            #expect(count() == Self.transports().count)
        }
    }

    /// The client refuses this name itself; here it stands for any name that resolves to a private
    /// address.
    @Test func aNameThatResolvesToAPrivateAddressIsRefusedByTheTransport() async throws {
        try await withServer { port, count in
            var request = HTTPRequest(try #require(URL(string: "http://localhost:\(port)/")))
            request.requiresPublicAddress = true
            for transport in Self.transports() {
                let problem = await #expect(throws: HTTPError.Problem.self) { try await transport.send(request) }
                guard case .forbiddenDestination(let text) = problem else {
                    Issue.record("\(transport): \(String(describing: problem))")
                    continue
                }
                #expect(["127.0.0.1", "::1"].contains { text == "\($0), which is not a public address" })
            }
            #expect(count() == 0)
        }
    }

    #if os(Linux)
    @Test func aConnectionOfAnotherClientIsNotReused() async throws {
        try await withServer { port, count in
            let transport = HTTPClient.systemTransport()
            var request = HTTPRequest(try #require(URL(string: "http://localhost:\(port)/")))
            for try await _ in try await transport.send(request).body {}
            request.requiresPublicAddress = true
            await #expect(throws: HTTPError.Problem.self) { try await transport.send(request) }
            #expect(count() == 1)
        }
    }

    /// A transport that calls this machine public connects to it, with and without a connection of
    /// its own.
    @Test func anAllowedAddressIsConnectedTo() async throws {
        try await withServer { port, count in
            let transport = try #require(HTTPClient.CurlTransport { "\($0)" == "127.0.0.1" })
            var request = HTTPRequest(try #require(URL(string: "http://127.0.0.1:\(port)/")))
            request.requiresPublicAddress = true
            for _ in 0..<2 {
                var body: [UInt8] = []
                for try await piece in try await transport.send(request).body { body += piece }
                #expect(body == Array("secret".utf8))
            }
            #expect(count() == 2)
        }
    }
    #endif

    @Test(arguments: [
        ("1.1.1.1", true), ("8.8.8.8", true), ("172.15.255.255", true), ("172.32.0.0", true), ("100.63.0.1", true),
        ("100.128.0.1", true), ("192.0.1.1", true), ("198.17.0.1", true), ("223.255.255.255", true),
        ("0.0.0.0", false), ("0.1.2.3", false), ("10.0.0.1", false), ("100.64.0.1", false),
        ("100.127.255.255", false), ("100.100.100.200", false), ("127.255.255.255", false),
        ("169.254.169.254", false), ("172.16.0.1", false), ("172.31.255.255", false), ("192.0.0.192", false),
        ("192.0.2.1", false), ("192.168.0.1", false), ("198.18.0.1", false), ("198.19.255.255", false),
        ("198.51.100.1", false), ("203.0.113.1", false), ("224.0.0.1", false), ("240.0.0.1", false),
        ("255.255.255.255", false), ("168.63.129.16", false), ("168.63.129.17", true),
        ("2606:4700:4700::1111", true), ("2a00:1450:4001:81b::200e", true), ("2001:4860:4860::8888", true),
        ("::", false), ("::1", false), ("::ffff:10.0.0.1", false), ("::ffff:8.8.8.8", true),
        ("::8.8.8.8", false), ("64:ff9b::8.8.8.8", true), ("64:ff9b::169.254.169.254", false),
        ("64:ff9b:1::8.8.8.8", false), ("fc00::1", false), ("fd00:ec2::254", false), ("fe80::1", false),
        ("fec0::1", false), ("ff02::1", false), ("2001::1", false), ("2001:1ff::1", false), ("2001:200::1", true),
        ("2001:db8::1", false), ("2002:7f00:1::", false), ("3fff::1", false), ("3fff:1000::1", true),
        ("4000::1", false),
    ])
    func anAddressIsPublicOrNot(text: String, isPublic: Bool) {
        #expect(IPAddress(host: text)?.isPublic == isPublic)
    }

    @Test(arguments: ["example.com", "1.2.3.4.5", "a1", "", "1.2.3.256", "[1.2.3.4]x"])
    func aNameIsNotAnAddress(text: String) {
        #expect(IPAddress(host: text) == nil)
    }

    // MARK: Redirects and pointers

    @Test(arguments: [
        ("http://169.254.169.254/latest/meta-data", "http://169.254.169.254:80, which is not a public address"),
        ("http://[fd00:ec2::254]/", "which is not a public address"),
        ("//localhost/admin", "http://localhost:80, which is not a public address"),
        ("http://0xA9FEA9FE/", "which is not a public address"),
    ])
    func aRedirectOrLinkToAPrivateAddressIsRefused(target: String, says: String) async throws {
        for isLink in [true, false] {
            let server = ScriptedServer { _, _ in
                isLink
                    ? .json("[]", headers: ["Link": "<\(target)>; rel=next"])
                    : HTTPResponse(status: 302, headers: ["Location": target])
            }
            let source = HTTPJSONSource.url(
                try #require(URL(string: "http://api.test/users")), pages: .link,
                client: client(.publicAddresses, server))
            let error = await #expect(throws: HTTPError.self) { try await SourceWorld().sync(source) }
            #expect(error?.description.contains(Self.refusal) == true)
            #expect(error?.description.contains(says) == true, "\(String(describing: error))")
            #expect(server.requests.count == 1)
            #expect(server.requests.allSatisfy { $0.requiresPublicAddress })
        }
    }

    @Test(arguments: [
        ("/2", true), ("https://api.test:443/2", true), ("https://API.test/2", true), ("https://me@api.test/2", true),
        ("https://api.test:444/2", false), ("https://b.api.test/2", false), ("https://api.test.evil.test/2", false),
        ("https://api.test@evil.test/2", false), ("https://evil.test/api.test", false), ("//evil.test/2", false),
        (#"https://evil.test\@api.test/2"#, true), ("https://api.test%2eevil.test/2", false),
    ])
    func onlyTheSameOriginIsAsked(target: String, isSame: Bool) async throws {
        for isLink in [true, false] {
            let server = ScriptedServer { _, index in
                guard index == 0 else { return .json("[]") }
                return isLink
                    ? .json("[]", headers: ["Link": "<\(target)>; rel=next"])
                    : HTTPResponse(status: 307, headers: ["Location": target])
            }
            let source = HTTPJSONSource.url(
                try #require(URL(string: "https://api.test/users")), pages: .link, client: client(.sameOrigin, server))
            let world = try await SourceWorld()
            if isSame {
                try await world.sync(source)
                #expect(server.requests.count > 1)
                #expect(server.requests.allSatisfy { $0.url.origin == "https://api.test:443" })
            } else {
                await #expect(throws: HTTPError.self) { try await world.sync(source) }
                #expect(server.requests.count == 1)
            }
        }
    }

    // MARK: Hosts

    @Test(arguments: [
        ("https://api.test/", true), ("http://api.test:8080/a?b#c", true), ("https://API.TEST./", true),
        ("https://user:pw@api.test/", true), ("https://[2606:4700::1]/", true), ("https://b%C3%BCcher.test/", false),
        ("https://xn--bcher-kva.test/", true), ("https://cdn.test/", false), ("https://a.api.test/", false),
        ("https://api.test.cdn.test/", false), ("https://api.test@cdn.test/", false),
    ])
    func onlyTheNamedHostsAreAsked(address: String, isAllowed: Bool) async throws {
        let server = ScriptedServer { _, _ in .json("[]") }
        let client = client(.hosts(["API.test", "bücher.test", "[2606:4700::1]"]), server)
        let url = try #require(URL(string: address))
        if isAllowed {
            _ = try await client.data(from: url)
        } else {
            await #expect(throws: HTTPError.self) { try await client.data(from: url) }
        }
        #expect(server.requests.count == (isAllowed ? 1 : 0))
    }

    @Test func whatTwoValuesAllowIsAllowed() async throws {
        let server = ScriptedServer { _, _ in .json("[]") }
        let both = HTTPClient.Destinations.hosts(["a.test", "10.0.0.1"]).and(.publicAddresses)
        let fewer = both.and(.hosts(["a.test", "b.test"])).and(.anywhere)
        for (destinations, host, isAllowed) in [
            (both, "a.test", true), (both, "10.0.0.1", false), (both, "b.test", false),
            (fewer, "a.test", true), (fewer, "b.test", false),
        ] {
            let url = try #require(URL(string: "https://\(host)/"))
            let client = client(destinations, server)
            let body = try? await client.data(from: url)
            #expect((body != nil) == isAllowed, "\(host)")
        }
    }
}
