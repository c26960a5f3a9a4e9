import Foundation
import OneWayLoopbackServer
import OneWayTestLimits
import Testing

@Suite(.endsInTime) struct LoopbackHTTPServerTests {
    /// Sends a text to a server, and returns everything that comes until the connection closes.
    private func exchange(
        _ text: String, limits: LoopbackHTTPServer.Limits = LoopbackHTTPServer.Limits(),
        _ handler: @escaping LoopbackHTTPServer.Handler
    ) async throws -> String {
        try await LoopbackHTTPServer.serving(limits: limits, handler) { server in
            let client = try #require(RawClient(port: server.port))
            client.send(text)
            return client.readToEnd()
        }
    }

    private let closingGet = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    @Test func aReplyHasItsLength() async throws {
        let reply = try await exchange(closingGet) { request in .text("hello \(request.path)") }
        #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(reply.contains("\r\nContent-Length: 8\r\n"))
        #expect(reply.hasSuffix("\r\n\r\nhello /a"))
    }

    @Test func aConnectionServesOneRequestAfterTheOther() async throws {
        try await LoopbackHTTPServer.serving({ .text("<\($0.path)>") }) { server in
            let client = try #require(RawClient(port: server.port))
            client.send("GET /1 HTTP/1.1\r\n\r\n")
            #expect(client.read(until: ">").hasSuffix("</1>"))
            client.send("GET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n")
            #expect(client.read(until: ">").hasSuffix("</2>"))
            #expect(client.read(until: ">").hasSuffix("</3>"))
        }
    }

    @Test func headGetsTheFieldsAlone() async throws {
        let reply = try await exchange("HEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n") { _ in .text("hello") }
        #expect(reply.contains("\r\nContent-Length: 5\r\n"))
        #expect(reply.hasSuffix("\r\n\r\n"))
    }

    @Test func aStreamWithoutALengthIsChunked() async throws {
        let reply = try await exchange(closingGet) { _ in
            .stream { writer in
                try writer.write(Array("hello".utf8))
                try writer.write([])
                try writer.write(Array(repeating: 0x61, count: 16))
            }
        }
        #expect(reply.contains("\r\nTransfer-Encoding: chunked\r\n"))
        #expect(reply.hasSuffix("\r\n\r\n5\r\nhello\r\n10\r\naaaaaaaaaaaaaaaa\r\n0\r\n\r\n"))
    }

    @Test func aRequestIsTakenApart() async throws {
        let body =
            "POST /a%20b?q=%C3%A9&empty HTTP/1.1\r\nX-One:  1 \r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
        let reply = try await exchange(body) { request in
            let parts = [
                request.method, request.path, request.query("q"), request.query("empty"), request.query("none"),
                request.header("x-ONE"), String(decoding: request.body, as: UTF8.self),
            ]
            return .text(parts.map { $0 ?? "nil" }.joined(separator: "|"))
        }
        #expect(reply.hasSuffix("POST|/a b|é||nil|1|body"))
    }

    @Test(arguments: [
        ("hello\r\n\r\n", "400"),
        ("GET a HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nContent-Length: 11\r\n\r\n", "413"),
        ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "501"),
        ("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 300), "431"),
    ])
    func aBadRequestIsRefused(request: String, status: String) async throws {
        let limits = LoopbackHTTPServer.Limits(headByteCount: 256, bodyByteCount: 10)
        let reply = try await exchange(request, limits: limits) { _ in .text("never") }
        #expect(reply.hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test func aConnectionTooManyIsClosed() async throws {
        let limits = LoopbackHTTPServer.Limits(connectionCount: 1)
        try await LoopbackHTTPServer.serving(limits: limits, { _ in .text("<hello>") }) { server in
            let first = try #require(RawClient(port: server.port))
            first.send("GET / HTTP/1.1\r\n\r\n")
            #expect(first.read(until: ">").hasSuffix("<hello>"))
            let second = try #require(RawClient(port: server.port))
            #expect(second.readToEnd() == "")
        }
    }

    // MARK: Misbehaviour

    @Test func aBodyCanBeCutShort() async throws {
        let reply = try await exchange("GET / HTTP/1.1\r\n\r\n") { _ in .cutShort(Array("half".utf8), promising: 100) }
        #expect(reply.contains("\r\nContent-Length: 100\r\n"))
        #expect(reply.hasSuffix("\r\n\r\nhalf"))
    }

    @Test func aChunkedBodyCanBeCutShort() async throws {
        let reply = try await exchange("GET / HTTP/1.1\r\n\r\n") { _ in .cutShortChunked(Array("half".utf8)) }
        #expect(reply.hasSuffix("\r\n\r\n4\r\nhalf\r\n"))
    }

    @Test func aServerCanCloseOrTalkNonsense() async throws {
        #expect(try await exchange(closingGet) { _ in .closing } == "")
        #expect(try await exchange(closingGet) { _ in .garbage(Array("SSH-2.0".utf8)) } == "SSH-2.0")
    }

    @Test func aGateLetsPiecesThroughOneByOne() async throws {
        let gate = try LoopbackGate()
        let handler: LoopbackHTTPServer.Handler = { _ in
            .stream(byteCount: 3) { writer in
                for piece in ["a", "b", "c"] {
                    try writer.wait(at: gate)
                    try writer.write(Array(piece.utf8))
                }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            let client = try #require(RawClient(port: server.port))
            client.send(closingGet)
            #expect(client.read(until: "\r\n\r\n").hasSuffix("\r\n\r\n"))
            gate.letThrough()
            #expect(client.read(until: "a") == "a")
            gate.letThrough()
            #expect(client.read(until: "b") == "b")
            gate.open()
            #expect(client.readToEnd() == "c")
        }
    }

    @Test func aGateNoticesThatTheClientHasGone() async throws {
        let gate = try LoopbackGate()
        let (ends, end) = AsyncStream.makeStream(of: LoopbackInterruption.self)
        let handler: LoopbackHTTPServer.Handler = { _ in
            .stream { writer in
                do {
                    try writer.wait(at: gate)
                } catch let interruption as LoopbackInterruption {
                    end.yield(interruption)
                }
            }
        }
        try await LoopbackHTTPServer.serving(handler) { server in
            do {
                let client = try #require(RawClient(port: server.port))
                client.send(closingGet)
                _ = client.read(until: "\r\n\r\n")
            }
            for await interruption in ends {
                #expect(interruption == .disconnected)
                break
            }
        }
    }

    // MARK: The end

    @Test(arguments: [LoopbackResponse.hanging, .endless(), .stream { try $0.hang() }])
    func stopEndsEveryReply(response: LoopbackResponse) async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackHTTPServer { _ in
            arrival.yield()
            return response
        }
        let client = try #require(RawClient(port: server.port))
        let idle = try #require(RawClient(port: server.port))
        client.send(closingGet)
        for await _ in arrivals { break }
        await server.stop()
        await server.stop()
        _ = client.readToEnd()
        #expect(idle.readToEnd() == "")
    }

    @Test func aRefusalRefuses() throws {
        let refusal = try LoopbackRefusal()
        withExtendedLifetime(refusal) {
            #expect(RawClient(port: refusal.port) == nil)
        }
    }

    #if os(Linux)
    @Test func nothingIsLeftBehind() async {
        await #expect(processExitsWith: .success) {
            func census() throws -> [Int] {
                try ["fd", "task"].map {
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\($0)").count
                }
            }
            func round() async throws {
                try await LoopbackHTTPServer.serving({ _ in .text("<hello>") }) { server in
                    for _ in 0..<5 {
                        let client = try #require(RawClient(port: server.port))
                        client.send("GET / HTTP/1.1\r\n\r\n")
                        _ = client.read(until: ">")
                    }
                }
            }
            try await round()
            let before = try census()
            for _ in 0..<20 { try await round() }
            // The runtime may add a thread of its own; a hundred connections would have added many.
            let after = try census()
            guard after[0] == before[0], after[1] <= before[1] + 2 else { exit(1) }
        }
    }
    #endif
}
