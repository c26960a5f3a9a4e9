import Foundation
import HTTPTransfer
import OneWayLoopbackServer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Signed requests.
@Suite(.endsInTime) struct AWSSignatureTests {
    private static let signature = AWSSignature(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1")
    /// 2013-05-24T00:00:00Z
    private static let date = Date(timeIntervalSince1970: 1_369_353_600)

    /// The examples of the documentation of Amazon S3, "Signature Calculations for the
    /// Authorization Header".
    static let examples: [(path: String, headers: HTTPHeaders, names: String, code: String)] = [
        (
            "/test.txt", ["Range": "bytes=0-9"], "host;range;x-amz-content-sha256;x-amz-date",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            "/?lifecycle", [:], "host;x-amz-content-sha256;x-amz-date",
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        (
            "/?prefix=J&max-keys=2", [:], "host;x-amz-content-sha256;x-amz-date",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    @Test(arguments: examples)
    func thePublishedExamplesAreSigned(path: String, headers: HTTPHeaders, names: String, code: String) throws {
        let url = try #require(URL(string: "https://examplebucket.s3.amazonaws.com\(path)"))
        var request = HTTPRequest(url, headers: headers)
        for _ in 0..<2 {
            request.headers["User-Agent"] = "any"
            Self.signature.sign(&request, at: Self.date)
            #expect(
                request.headers["Authorization"]
                    == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                    + "SignedHeaders=\(names), Signature=\(code)")
            #expect(request.headers["X-Amz-Date"] == "20130524T000000Z")
        }
    }

    /// The example of an object with a dollar sign in its name and a body.
    @Test func anUploadIsSigned() throws {
        let url = try #require(URL(string: "https://examplebucket.s3.amazonaws.com/test$file.text"))
        var request = HTTPRequest(
            url, headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"])
        request.method = "PUT"
        request.body = Array("Welcome to Amazon S3.".utf8)
        Self.signature.sign(&request, at: Self.date)
        #expect(
            request.headers["Authorization"]?.hasSuffix(
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd") == true)
    }

    /// The port is signed as it is sent: not if it is that of the scheme.
    @Test(arguments: [
        ("https://host:443/a", "https://host/a", true), ("http://host:80/a", "http://host/a", true),
        ("HTTPS://host:443/a", "https://host/a", true), ("https://host:80/a", "https://host/a", false),
        ("http://host:443/a", "http://host/a", false), ("http://host:9000/a", "http://host/a", false),
    ])
    func thePortIsSignedAsItIsSent(one: String, other: String, areEqual: Bool) throws {
        func signed(_ address: String) throws -> String? {
            var request = HTTPRequest(try #require(URL(string: address)))
            Self.signature.sign(&request, at: Self.date)
            return request.headers["Authorization"]
        }
        #expect(try (signed(one) == signed(other)) == areEqual)
    }

    /// An international name is sent in ASCII, and an IPv6 address in brackets.
    @Test(arguments: [
        ("https://bücher.example/a", "60ec5c52cb647a7f960e0649d63a0c4c9a77895b81fe17975e2c8f161d304241"),
        ("https://xn--bcher-kva.example/a", "60ec5c52cb647a7f960e0649d63a0c4c9a77895b81fe17975e2c8f161d304241"),
        ("http://[::1]:9000/a", "4744c6d72e5481fc9298bd524a06b8b58155e70276c016cbd46e3f58abca93c4"),
    ])
    func theHostIsSignedAsItIsSent(address: String, code: String) throws {
        var request = HTTPRequest(try #require(URL(string: address)))
        Self.signature.sign(&request, at: Self.date)
        #expect(request.headers["Authorization"]?.hasSuffix("Signature=\(code)") == true)
    }

    @Test func theDescriptionHasNoSecret() {
        #expect("\(Self.signature)" == "AKIAIOSFODNN7EXAMPLE/us-east-1/s3")
        #expect(!String(reflecting: Self.signature).contains("wJalr"))
    }

    /// The signer gets what is sent, for each request of its origin.
    @Test func theClientSignsWhatItSends() async throws {
        let seen = EventLog<String>()
        let client = HTTPClient(sign: { request in
            seen.append("\(request.method) \(request.url.path) \(request.headers["Range"] ?? "-")")
            request.headers["Authorization"] = "Signed \(request.headers["X-Mine"] ?? "")"
        })
        try await LoopbackHTTPServer.serving({ _ in .status(500) }) { other in
            try await LoopbackHTTPServer.serving({ request in
                guard request.header("authorization") == "Signed me" else { return .text("who?", status: 403) }
                switch request.path {
                case "/a": return .status(302, headers: [("Location", "/b")])
                case "/away": return .status(302, headers: [("Location", other.baseURL + "/c")])
                default: return .text("secret Signed me", status: request.path == "/d" ? 400 : 200)
                }
            }) { server in
                func url(_ path: String) throws -> URL { try #require(URL(string: server.baseURL + path)) }
                let bytes = try await client.data(from: url("/a"), headers: ["X-Mine": "me"])
                #expect(String(decoding: bytes, as: UTF8.self) == "secret Signed me")
                _ = try await client.data(from: url("/b"), range: 0..<3, headers: ["X-Mine": "me"])
                #expect(seen.events == ["GET /a -", "GET /b -", "GET /b bytes=0-2"])
                // Another origin gets no signature.
                await #expect(throws: HTTPError.self) {
                    _ = try await client.data(from: url("/away"), headers: ["X-Mine": "me"])
                }
                #expect(seen.events.count == 4)
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await client.data(from: url("/d"), headers: ["X-Mine": "me"])
                }
                #expect(
                    error?.debugDescription.contains("secret [redacted]") == true,
                    "\(String(describing: error))")
            }
        }
    }
}
