#if os(macOS) || os(Linux)
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program that runs beside the tests, that can be spoken to by lines, and killed at any moment.
///
/// It should end at the end of its standard input, which comes also when the tests are killed.
package final class ChildProcess: Sendable {
    /// What it writes, and possibly what others do.
    package let output: ChildOutput
    private let process = Process()
    private let input = Pipe()
    private let hasEnded = Gate()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: Its arguments.
    ///   - environment: Variables beside those of this process.
    ///   - output: Takes its standard output. One that takes that of several keeps the order in which they wrote their lines.
    package init(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:],
        output: ChildOutput = ChildOutput()
    ) throws {
        self.output = output
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output.pipe
        process.terminationHandler = { [hasEnded] _ in hasEnded.open() }
        try process.run()
    }

    /// A program of this package, which lies beside the tests.
    package static func product(_ name: String) -> URL {
        // On Linux the tests are one program; on macOS they are a bundle, run by a program of Xcode's.
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appending(path: name)
    }

    /// Sends a line to its standard input.
    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends it at once, as a power failure would, and waits until it is gone.
    package func kill() async {
        signal(SIGKILL)
        await hasEnded.passUncancelled()
    }

    /// Sends it a signal, such as `SIGSTOP`.
    package func signal(_ number: Int32) {
        // After its end the number may be another process's.
        guard process.isRunning else { return }
        _ = raiseSignal(process.processIdentifier, number)
    }

    /// Ends its standard input, and waits for it to end.
    package func close() async {
        try? input.fileHandleForWriting.close()
        await hasEnded.passUncancelled()
    }
}

/// What programs wrote, line by line.
package final class ChildOutput: Sendable {
    fileprivate let pipe = Pipe()
    private let received = Watched(Received())

    private struct Received {
        var lines: [String] = []
        var tail = Data()

        mutating func append(_ data: Data) {
            tail += data
            while let end = tail.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(String(decoding: tail[..<end], as: UTF8.self))
                tail = Data(tail[(end + 1)...])
            }
        }
    }

    package init() {
        // A thread of its own, since a dispatch source of a file handle may outlive its descriptor. It ends with the last of those that write.
        Thread.detachNewThread { [received, input = pipe.fileHandleForReading] in
            while true {
                let data = input.availableData
                guard !data.isEmpty else { return }
                received.update { $0.append(data) }
            }
        }
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
    }

    /// All lines so far.
    package var lines: [String] { received.value.lines }

    /// Waits until the lines satisfy a condition.
    package func wait(until isMet: @escaping @Sendable ([String]) -> Bool) async throws {
        try await received.wait { isMet($0.lines) }
    }

    /// Waits for the next line, and takes it away; whoever uses this should be the only reader.
    package func next() async throws -> String {
        try await received.wait { !$0.lines.isEmpty }
        return received.update { $0.lines.removeFirst() }
    }
}

/// `kill`, by a name that a method of a class does not hide.
private func raiseSignal(_ process: Int32, _ number: Int32) -> Int32 {
    kill(process, number)
}
#endif
