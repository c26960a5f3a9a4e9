import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server in a process of its own.
final class ServerProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Only started and ended, by one task.
    private nonisolated(unsafe) let process: Process
    /// The status page, with the token in its fragment.
    let page: URL
    let token: String

    /// Starts a server and waits until it listens.
    init(_ arguments: String...) async throws {
        let process = Process()
        let output = Pipe()
        // The test bundle lies beside the programs.
        let folder =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
            .deletingLastPathComponent() ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = folder.appending(path: "Server")
        process.arguments = ["run", "--port", "0"] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        for try await line in output.fileHandleForReading.bytes.lines {
            guard let address = line.split(separator: " ").last, let url = URL(string: String(address)),
                let token = url.fragment()?.split(separator: "=").last
            else { continue }
            page = url
            self.token = String(token)
            return
        }
        throw Failure(description: "the server ended before it listened")
    }

    deinit { process.terminate() }

    /// Kills the process, and returns when it is gone.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks the process to end, and returns its exit status.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Sends a request, and returns the status and the body.
    func request(_ path: String, method: String = "GET", isAuthorized: Bool = false) async throws -> (Int, Data) {
        guard let url = URL(string: path, relativeTo: page) else { throw Failure(description: path) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        if isAuthorized { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
    }
}
