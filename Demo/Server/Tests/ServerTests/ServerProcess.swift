import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server in a process of its own.
final class ServerProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Process
    /// The status page, with the token in its fragment; the users for a played API.
    let page: URL
    /// The token for `POST` requests; empty for a played API.
    let token: String

    /// Starts a server, or with the command `upstream` a played API, and waits until it listens.
    init(_ arguments: [String], command: String = "run", environment: [String: String] = [:]) async throws {
        let process = Process()
        let output = Pipe()
        // The test bundle lies beside the programs.
        let folder =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
            .deletingLastPathComponent() ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = folder.appending(path: "Server")
        process.arguments = [command, "--port", "0"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        for await line in Self.lines(of: output.fileHandleForReading) {
            guard let address = line.split(separator: " ").last, let url = URL(string: String(address)),
                url.scheme == "http"
            else { continue }
            page = url
            token = url.fragment()?.split(separator: "=").last.map(String.init) ?? ""
            return
        }
        process.terminate()
        throw Failure(description: "the server ended before it listened")
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    /// The lines of an output, which is read to its end in any case.
    private static func lines(of output: FileHandle) -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let data = output.availableData
                guard !data.isEmpty else { break }
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
        }
        return lines
    }

    /// Kills the process, and returns when it is gone.
    func kill() async {
        Foundation.kill(process.processIdentifier, SIGKILL)
        _ = await exitStatus()
    }

    /// Asks the process to end, and returns its exit status; that of a kill if it has not ended
    /// after a minute.
    func stop() async -> Int32 {
        process.terminate()
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { [process] in
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }
        return await exitStatus()
    }

    /// Waits for the exit on a thread of its own, because those of the tests are few.
    ///
    /// On Linux, Foundation notices an exit by a socket that closes with the process. A process
    /// that is started at the same time inherits this socket and keeps it open for as long as it
    /// runs, so that the system is asked first.
    private func exitStatus() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in
                #if os(Linux)
                var info = siginfo_t()
                var result: Int32
                repeat {
                    result = waitid(P_PID, id_t(process.processIdentifier), &info, WEXITED | WNOWAIT)
                } while result == -1 && errno == EINTR
                if result == 0 { return continuation.resume(returning: info._sifields._sigchld.si_status) }
                #endif
                // On Linux, Foundation was faster.
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }

    /// Sends a request, and returns the status and the body.
    func request(_ path: String, method: String = "GET", isAuthorized: Bool = false) async throws -> (Int, Data) {
        let (response, data) = try await response(to: path, method: method, isAuthorized: isAuthorized)
        return (response.statusCode, data)
    }

    /// Sends a request, and returns the head and the body of the response.
    func response(
        to path: String, method: String = "GET", isAuthorized: Bool = false, fields: [String: String] = [:],
        body: Data? = nil
    ) async throws -> (HTTPURLResponse, Data) {
        guard let url = URL(string: path, relativeTo: page) else { throw Failure(description: path) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        if isAuthorized { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw Failure(description: "no HTTP response") }
        return (response, data)
    }

    /// The states that the server sends to the status page.
    func statuses() -> AsyncThrowingStream<Status, any Error> {
        AsyncThrowingStream { continuation in
            let session = URLSession(
                configuration: .ephemeral, delegate: StatusReader(continuation), delegateQueue: nil)
            guard let url = URL(string: "status/events", relativeTo: page) else {
                return continuation.finish(throwing: Failure(description: "\(page)"))
            }
            session.dataTask(with: url).resume()
            continuation.onTermination = { _ in session.invalidateAndCancel() }
        }
    }

    /// Waits for the first state that fulfils a condition.
    @discardableResult
    func status(where condition: (Status) -> Bool) async throws -> Status {
        for try await status in statuses() where condition(status) { return status }
        throw Failure(description: "the server ended")
    }
}

/// What the tests read of a state.
struct Status: Decodable, Sendable {
    struct Health: Decodable, Sendable {
        struct Activity: Decodable, Sendable {
            var kind: String
        }

        var activity: Activity?
        var consecutiveFailures: Int
    }

    struct User: Decodable, Equatable, Sendable {
        var id: Int
        var name: String
        var role: String?
        var updatedAt: String?
    }

    struct Pass: Decodable, Sendable {
        var status: String
        var inserted: Int
    }

    var source: String
    var health: Health
    var counts: [String: Int]
    var latest: [User]
    var passes: [Pass]
}

/// Decodes server-sent events.
private final class StatusReader: NSObject, URLSessionDataDelegate, Sendable {
    private let continuation: AsyncThrowingStream<Status, any Error>.Continuation
    private let rest = Mutex(Data())

    init(_ continuation: AsyncThrowingStream<Status, any Error>.Continuation) {
        self.continuation = continuation
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let events = rest.withLock { rest in
            rest.append(data)
            var events: [Data] = []
            while let end = rest.firstRange(of: Data("\n\n".utf8)) {
                events.append(rest[rest.startIndex..<end.lowerBound].dropFirst("data: ".utf8.count))
                rest = Data(rest[end.upperBound...])
            }
            return events
        }
        for event in events {
            do { continuation.yield(try JSONDecoder().decode(Status.self, from: event)) } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error)
    }
}
