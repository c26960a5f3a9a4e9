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
    /// How it ended, and all that it wrote.
    package struct End: Sendable {
        /// The exit code, or the number of the signal that ended it.
        package let code: Int32
        /// Whether a signal ended it.
        package let wasKilled: Bool
        package let output: String
        /// What it wrote to its standard error; empty where the tests' own standard error took it.
        package let errors: String
    }

    /// What it writes, and what others do where it is shared.
    package let output: ChildOutput
    private let errors: ChildOutput?
    private let process = Process()
    private let input = Pipe()
    private let ending = Watched<(code: Int32, wasKilled: Bool)?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The program's file.
    ///   - arguments: Its arguments.
    ///   - environment: Variables beside those of this process.
    ///   - input: Its standard input; a pipe for ``send(_:)`` where it is not said.
    ///   - output: Takes its standard output. One that takes that of several keeps the order in
    ///     which they wrote their lines.
    ///   - errors: Takes its standard error; nil, where it is not said, for the tests' own.
    package init(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:], input: FileHandle? = nil,
        output: ChildOutput = ChildOutput(), errors: ChildOutput? = nil
    ) throws {
        // A child that is gone is an error to who writes to it, not the end of the tests.
        brokenPipesAreErrors
        self.output = output
        self.errors = errors
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input ?? self.input
        process.standardOutput = output.pipe.fileHandleForWriting
        if let errors { process.standardError = errors.pipe.fileHandleForWriting }
        process.terminationHandler = { [ending] process in
            let end = (process.terminationStatus, process.terminationReason == .uncaughtSignal)
            ending.update { $0 = end }
        }
        try process.run()
        output.hasWriter()
        errors?.hasWriter()
    }

    deinit {
        // One that has to tidy up ignores it, and ends with its input.
        signal(SIGTERM)
    }

    /// A program of this package, which lies beside the tests.
    package static func product(_ name: String) -> URL {
        // On Linux the tests are one program; on macOS they are a bundle, run by a program of
        // Xcode's.
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
        await waitForEnding()
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
        await waitForEnding()
    }

    /// Waits until it has ended and all that it wrote was read; it must not share its output.
    package func end() async throws -> End {
        try await ending.wait { $0 != nil }
        try await output.waitForEnd()
        try await errors?.waitForEnd()
        let (code, wasKilled) = ending.value ?? (-1, false)
        return End(code: code, wasKilled: wasKilled, output: output.text, errors: errors?.text ?? "")
    }

    /// Also where the task is cancelled.
    private func waitForEnding() async {
        await Task { [ending] in try? await ending.wait { $0 != nil } }.value
    }
}

/// What programs wrote, line by line.
package final class ChildOutput: Sendable {
    fileprivate let pipe = Pipe()
    private let received = Watched(Received())

    private struct Received {
        var data = Data()
        /// Where the lines begin that are not whole yet.
        var tail = 0
        var lines: [String] = []
        /// How many of the lines were taken away.
        var takenCount = 0
        var isAtEnd = false

        mutating func append(_ new: Data) {
            data += new
            isAtEnd = new.isEmpty
            while let end = data[tail...].firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(String(decoding: data[tail..<end], as: UTF8.self))
                tail = end + 1
            }
        }

        mutating func take() -> String? {
            guard takenCount < lines.count else { return nil }
            defer { takenCount += 1 }
            return lines[takenCount]
        }
    }

    private let isShared: Bool

    /// - Parameter isShared: Whether several programs write it, one after the other or side by
    ///   side.
    package init(isShared: Bool = false) {
        self.isShared = isShared
        // A thread of its own, since a dispatch source of a file handle may outlive its descriptor.
        // It ends with the last of those that write.
        Thread.detachNewThread { [received, input = pipe.fileHandleForReading] in
            while true {
                let data = input.availableData
                received.update { $0.append(data) }
                guard !data.isEmpty else { return }
            }
        }
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
    }

    /// The end is seen when nobody is left who could write.
    fileprivate func hasWriter() {
        if !isShared { try? pipe.fileHandleForWriting.close() }
    }

    /// All lines so far.
    package var lines: [String] { received.value.lines }

    /// All of it so far.
    package var text: String { String(decoding: received.value.data, as: UTF8.self) }

    /// Waits until the lines satisfy a condition.
    package func wait(until isMet: @escaping @Sendable ([String]) -> Bool) async throws {
        try await received.wait { isMet($0.lines) }
    }

    /// Waits for the next line, and takes it away; nil after the last. Whoever uses this should be
    /// the only reader.
    package func next() async throws -> String? {
        try await received.wait { $0.takenCount < $0.lines.count || $0.isAtEnd }
        return received.update { $0.take() }
    }

    fileprivate func waitForEnd() async throws {
        try await received.wait { $0.isAtEnd }
    }
}

/// `kill`, by a name that a method of a class does not hide.
private func raiseSignal(_ process: Int32, _ number: Int32) -> Int32 {
    kill(process, number)
}

/// Turned off once, by `signal` under such a name.
private let brokenPipesAreErrors: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
}()
#endif
