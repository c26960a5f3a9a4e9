package import Foundation
import OneWaySynchronizer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An executable of this package in a process of its own, whose standard streams are held by the test; killed with the last reference.
package final class ChildProcess: Sendable {
    /// How it ended, and all that it wrote.
    package struct End: Sendable {
        /// The exit code, or the number of the signal that ended it.
        package let code: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        package let output: String
        package let errors: String
    }

    /// What has come out of one stream.
    private struct Received {
        var data = Data()
        /// Where the first line starts that nobody has taken.
        var lineStart = 0
        var isAtEnd = false

        var text: String { String(decoding: data, as: UTF8.self) }

        mutating func nextLine() -> String? {
            guard let end = data[lineStart...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { lineStart = end + 1 }
            return String(decoding: data[lineStart..<end], as: UTF8.self)
        }

        var holdsLine: Bool { data[lineStart...].contains(UInt8(ascii: "\n")) }
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Watched(Received())
    private let errors = Watched(Received())
    private let ending = Watched<(code: Int32, wasKilled: Bool)?>(nil)

    /// Starts an executable.
    ///
    /// - Parameters:
    ///   - name: An executable product or target of the package, built beside the tests.
    ///   - arguments: Its arguments.
    ///   - input: Its standard input; a pipe for ``send(_:)`` where it is not said.
    package init(_ name: String, _ arguments: [String] = [], input: FileHandle? = nil) throws {
        // A child that is gone is an error to who writes to it, not the end of the tests.
        _ = signal(SIGPIPE, SIG_IGN)
        process.executableURL = try Self.executable(name)
        process.arguments = arguments
        process.standardInput = input ?? self.input
        let pipes = [Pipe(), Pipe()]
        process.standardOutput = pipes[0]
        process.standardError = pipes[1]
        process.terminationHandler = { [ending] process in
            let end = (process.terminationStatus, process.terminationReason == .uncaughtSignal)
            ending.update { $0 = end }
        }
        try process.run()
        for (pipe, received) in zip(pipes, [output, errors]) {
            let reading = pipe.fileHandleForReading
            // Reads block, so they are made on a thread that nothing else needs.
            Thread.detachNewThread {
                while true {
                    let data = reading.availableData
                    received.update { received in
                        received.data += data
                        received.isAtEnd = data.isEmpty
                    }
                    if data.isEmpty { return }
                }
            }
        }
    }

    deinit {
        kill()
    }

    /// Starts an executable, and waits for its end.
    package static func run(_ name: String, _ arguments: [String], input: FileHandle = .nullDevice) async throws -> End
    {
        try await ChildProcess(name, arguments, input: input).end()
    }

    package var id: Int32 { process.processIdentifier }

    /// Writes a line to its standard input.
    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Waits for the next line of its standard output; nil after the last.
    package func line() async throws -> String? {
        try await output.wait { $0.holdsLine || $0.isAtEnd }
        return output.update { $0.nextLine() }
    }

    /// Asks it to end, as Ctrl-C does.
    package func interrupt() {
        if ending.value == nil { process.interrupt() }
    }

    /// Ends it at once, whatever it does.
    package func kill() {
        guard ending.value == nil else { return }
        #if canImport(Glibc)
        _ = Glibc.kill(id, SIGKILL)
        #elseif canImport(Musl)
        _ = Musl.kill(id, SIGKILL)
        #elseif canImport(Darwin)
        _ = Darwin.kill(id, SIGKILL)
        #endif
    }

    /// Waits until it has ended and all that it wrote was read.
    package func end() async throws -> End {
        try await ending.wait { $0 != nil }
        try await output.wait { $0.isAtEnd }
        try await errors.wait { $0.isAtEnd }
        let (code, wasKilled) = ending.value ?? (-1, false)
        return End(code: code, wasKilled: wasKilled, output: output.value.text, errors: errors.value.text)
    }

    /// Where an executable is: beside the test runner, or beside the bundle that the runner loads.
    private static func executable(_ name: String) throws -> URL {
        let bundles = CommandLine.arguments.filter { $0.contains(".xctest") }.map { URL(filePath: $0) }
        let runner = [Bundle.main.executableURL, Bundle(for: ChildProcess.self).bundleURL].compactMap(\.self)
        for var folder in runner + bundles {
            while folder.pathComponents.count > 1 {
                folder.deleteLastPathComponent()
                let found = folder.appending(path: name)
                let values = try? found.resourceValues(forKeys: [.isRegularFileKey])
                if values?.isRegularFile == true { return found }
            }
        }
        throw TestError("\(name) is not built beside the tests")
    }
}
