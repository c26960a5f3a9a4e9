#if Postgres
import Foundation
import TestSupport

/// A child process that takes a command a line and answers each by a line; it ends with its input, and so with this process.
final class CommandShell: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let received = Watched(Received())

    private struct Received {
        var lines: [String] = []
        var tail = Data()
        var hasEnded = false

        mutating func append(_ data: Data) {
            hasEnded = data.isEmpty
            tail += data
            while let end = tail.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(String(decoding: tail[..<end], as: UTF8.self))
                tail = Data(tail[(end + 1)...])
            }
        }
    }

    /// Starts the process.
    init(_ command: [String], environment: [String: String]) throws {
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [received] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            received.update { $0.append(data) }
        }
        try process.run()
        try output.fileHandleForWriting.close()
    }

    /// Sends a command, and waits until it was done.
    func run(_ command: String) async throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        let answer = try await answer()
        guard answer == "ok" else { throw PostgresServerError("\(command): \(answer)") }
    }

    /// Waits for the next line; empty at the end.
    func answer() async throws -> String {
        try await received.wait { !$0.lines.isEmpty || $0.hasEnded }
        return received.update { $0.lines.isEmpty ? "" : $0.lines.removeFirst() }
    }

    /// Ends the input, and waits for the process to end.
    func close() async {
        try? input.fileHandleForWriting.close()
        try? await received.wait { $0.hasEnded }
    }
}
#endif
