import FlyingFox
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Runs two servers of the guide on one database, and stops both with SIGTERM: the first in the
// middle of a sync, the second while it stands by.

/// A running server, whose log is read line by line.
struct RunningServer {
    let process = Process()
    let health: URL
    private let log = Pipe()
    private let metrics = Pipe()

    init(_ program: URL, api: URL, file: URL, port: UInt16) throws {
        health = URL(string: "http://127.0.0.1:\(port)/health") ?? api
        process.executableURL = program
        process.arguments = [api.absoluteString, file.path, "\(port)"]
        process.standardError = log
        process.standardOutput = metrics
        try process.run()
        let identifier = process.processIdentifier
        servers.withLock { $0.append(identifier) }
    }

    /// Reads the log up to a text.
    func waitForLog(_ text: String) {
        var lines = Data()
        while lines.range(of: Data(text.utf8)) == nil {
            let data = log.fileHandleForReading.availableData
            lines += data
            if data.isEmpty { fail("\(text) is not in the log: \(String(decoding: lines, as: UTF8.self))") }
        }
    }

    /// Waits for the end of the process.
    ///
    /// - Returns: What it printed.
    func end() -> String {
        let output = String(decoding: metrics.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        check(
            process.terminationReason == .exit && process.terminationStatus == 0,
            "ends with \(process.terminationStatus)")
        return output
    }
}

/// The servers that were started. A failure leaves none behind.
let servers = Mutex<[Int32]>([])

@Sendable func fail(_ reason: String) -> Never {
    print("failed: \(reason)")
    for server in servers.withLock(\.self) { kill(server, SIGTERM) }
    exit(1)
}

func check(_ condition: Bool, _ what: String) {
    if !condition { fail(what) }
}

let arguments = CommandLine.arguments
guard arguments.count == 2 else { fail("usage: ServiceCheck SERVER") }
let program = URL(filePath: arguments[1])
let folder = FileManager.default.temporaryDirectory.appending(path: "ows-service-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let watchdog = Task {
    try await Task.sleep(for: .seconds(60))
    fail("a server did not end within a minute")
}

// The list is sent when the gate opens.
let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
let (gate, opening) = AsyncStream.makeStream(of: Void.self)
let list = ClosureHTTPHandler { _ in
    arrival.yield()
    for await _ in gate {}
    return HTTPResponse(
        statusCode: .ok, headers: [.contentType: "application/json"],
        body: Data(#"[{"id": 1, "name": "Ada"}, {"id": 2, "name": "Alan"}]"#.utf8))
}
let upstream = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), handler: list)

func port(of server: HTTPServer) async throws -> UInt16 {
    try await server.waitUntilListening()
    switch await server.listeningAddress {
    case .ip4(_, let port), .ip6(_, let port): return port
    default: fail("the server has no port")
    }
}

/// A port that is free now.
func freePort() async throws -> UInt16 {
    let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0))
    let running = Task { try await server.run() }
    defer { running.cancel() }
    return try await port(of: server)
}

/// The health of a server, which may not listen yet.
func health(of server: RunningServer) async throws -> String {
    while true {
        do {
            let (data, _) = try await URLSession.shared.data(from: server.health)
            return String(decoding: data, as: UTF8.self)
        } catch let error as URLError where error.code == .cannotConnectToHost {
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

let serving = Task { try await upstream.run() }
guard let api = URL(string: "http://127.0.0.1:\(try await port(of: upstream))/users") else { fail("no address") }
let file = folder.appending(path: "users.sqlite")

let first = try RunningServer(program, api: api, file: file, port: try await freePort())
for await _ in arrivals { break }
let syncing = try await health(of: first)
print(syncing)
check(syncing.contains(#""kind":"syncing""#), "the first server is not syncing: \(syncing)")
let dates = try Regex(#""since":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ""#)
check(syncing.contains(dates), "dates are not ISO 8601: \(syncing)")

let second = try RunningServer(program, api: api, file: file, port: try await freePort())
second.waitForLog("standing by")
let standingBy = try await health(of: second)
print(standingBy)
check(standingBy.contains(#""kind":"standingBy""#), "the second server does not stand by: \(standingBy)")
second.process.terminate()
check(!second.end().contains("syncs_total"), "the second server has synced")

first.process.terminate()
first.waitForLog("stopping")
let stopping = try await health(of: first)
check(stopping.contains(#""isStopRequested":true"#), "the first server does not stop: \(stopping)")
opening.finish()
let output = first.end()
print(output)
check(output.contains("syncs_total") && output.contains("succeeded"), "the sync was not counted: \(output)")

serving.cancel()
watchdog.cancel()
try FileManager.default.removeItem(at: folder)
print("both servers ended cleanly")
