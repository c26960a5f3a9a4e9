#if os(macOS) || os(Linux)
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A child process that tests can talk to line by line, and kill at any moment.
///
/// The program should exit at the end of its standard input, which it also reaches if the tests are
/// killed.
package final class ChildProcess: Sendable {
    /// The exit status and the complete output of a program.
    package struct End: Sendable {
        /// The exit code, or the number of the signal that terminated the program.
        package let code: Int32
        /// Whether a signal terminated the program.
        package let wasKilled: Bool
        /// The complete standard output.
        package let output: String
        /// The complete standard error; empty if it was inherited from the tests.
        package let errors: String
    }

    /// The standard output, which several programs may share.
    package let output: ChildOutput
    private let errors: ChildOutput?
    private let process = Process()
    private let input = Pipe()
    private let ending = Watched<(code: Int32, wasKilled: Bool)?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The file of the program.
    ///   - arguments: The arguments of the program.
    ///   - environment: Variables to add to the environment of this process.
    ///   - input: The standard input; nil, the default, for a pipe that ``send(_:)`` writes to.
    ///   - output: Receives the standard output. If several programs share it, it has their lines
    ///     in the order of writing.
    ///   - errors: Receives the standard error; nil, the default, to inherit the standard error of
    ///     the tests.
    /// - Throws: An error of `Process` if the program cannot be started.
    package init(
        _ executable: URL, _ arguments: [String] = [], environment: [String: String] = [:], input: FileHandle? = nil,
        output: ChildOutput = ChildOutput(), errors: ChildOutput? = nil
    ) throws {
        // Writing to a child that has exited throws an error and does not terminate the tests.
        brokenPipesAreErrors
        self.output = output
        self.errors = errors
        process.executableURL = executable
        process.arguments = arguments
        // Of a program that crashes on purpose, the tool that writes its backtrace can outlive the
        // program when that is killed, and keeps its output open.
        let inherited = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.environment = inherited.merging(environment) { $1 }
        process.standardInput = input ?? self.input
        process.standardOutput = output.pipe.fileHandleForWriting
        if let errors { process.standardError = errors.pipe.fileHandleForWriting }
        process.terminationHandler = { [ending] process in
            let end = (process.terminationStatus, process.terminationReason == .uncaughtSignal)
            ending.update { $0 = $0 ?? end }
        }
        try process.run()
        #if os(Linux)
        awaitExit(of: process.processIdentifier)
        #endif
        output.hasWriter()
        errors?.hasWriter()
    }

    #if os(Linux)
    /// Waits for the exit on a thread of its own.
    ///
    /// Foundation notices it by a socket that closes with the program. A program that is started at
    /// the same time inherits this socket, and keeps it open for as long as it runs.
    private func awaitExit(of identifier: pid_t) {
        Thread.detachNewThread { [ending] in
            var info = siginfo_t()
            var result: Int32
            repeat {
                result = waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT)
            } while result == -1 && errno == EINTR
            // Otherwise Foundation was faster, and calls its handler.
            guard result == 0 else { return }
            let end = (info._sifields._sigchld.si_status, info.si_code != Int32(CLD_EXITED))
            // First, because Foundation has no status of a program that it finds gone.
            ending.update { $0 = $0 ?? end }
            _ = waitpid(identifier, nil, WNOHANG)
        }
    }
    #endif

    deinit {
        // A program that has to clean up ignores the signal and exits at the end of its input.
        signal(SIGTERM)
        // Foundation may keep the process, and the pipe with it.
        try? input.fileHandleForWriting.close()
    }

    /// Returns the file of a program of this package, which is in the same folder as the tests.
    package static func product(_ name: String) -> URL {
        // On Linux, the tests are an executable. On macOS, they are a bundle that an executable of
        // Xcode loads.
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        let tests = bundle ?? Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        return tests.deletingLastPathComponent().appending(path: name)
    }

    /// Writes a line to the standard input.
    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Kills the program without notice, as a power failure would, and waits until it has exited.
    package func kill() async {
        signal(SIGKILL)
        await waitForEnding()
    }

    /// Sends a signal, such as `SIGSTOP`. Does nothing if the program has exited.
    package func signal(_ number: Int32) {
        // The process identifier may be reused once the program has exited.
        guard ending.value == nil else { return }
        _ = raiseSignal(process.processIdentifier, number)
    }

    /// Closes the standard input and waits until the program has exited.
    package func close() async {
        try? input.fileHandleForWriting.close()
        await waitForEnding()
    }

    /// Waits until the program has exited and all its output has been read. The output must not be
    /// shared.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func end() async throws -> End {
        try await ending.wait { $0 != nil }
        try await output.waitForEnd()
        try await errors?.waitForEnd()
        let (code, wasKilled) = ending.value ?? (-1, false)
        return End(code: code, wasKilled: wasKilled, output: output.text, errors: errors?.text ?? "")
    }

    /// Waits until the program has exited, even if the task is cancelled.
    private func waitForEnding() async {
        await Task { [ending] in try? await ending.wait { $0 != nil } }.value
    }
}

/// The output of one or more programs, line by line.
package final class ChildOutput: Sendable {
    fileprivate let pipe = Pipe()
    private let received = Watched(Received())

    private struct Received {
        var data = Data()
        /// The offset of the first byte that is not part of a complete line.
        var tail = 0
        var lines: [String] = []
        /// The number of lines that ``take()`` has returned.
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

    /// Creates an empty output.
    ///
    /// - Parameter isShared: Whether several programs write to it, in turn or concurrently; false
    ///   by default.
    package init(isShared: Bool = false) {
        self.isShared = isShared
        // Reads on a thread, because a dispatch source of a file handle may outlive its descriptor.
        // The thread exits when the last writer closes the pipe.
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

    /// Closes this process's copy of the writing end, so that the end of the output is detected.
    ///
    /// A shared output keeps it open for further programs.
    fileprivate func hasWriter() {
        if !isShared { try? pipe.fileHandleForWriting.close() }
    }

    /// The complete lines received so far.
    package var lines: [String] { received.value.lines }

    /// All text received so far.
    package var text: String { String(decoding: received.value.data, as: UTF8.self) }

    /// Waits until the lines satisfy a condition.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func wait(until isMet: @escaping @Sendable ([String]) -> Bool) async throws {
        try await received.wait { isMet($0.lines) }
    }

    /// Waits for the next line and consumes it; nil after the last line. Only one task may call it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first.
    package func next() async throws -> String? {
        try await received.wait { $0.takenCount < $0.lines.count || $0.isAtEnd }
        return received.update { $0.take() }
    }

    fileprivate func waitForEnd() async throws {
        try await received.wait { $0.isAtEnd }
    }
}

/// The `kill` function, under a name that no method of a class hides.
private func raiseSignal(_ process: Int32, _ number: Int32) -> Int32 {
    kill(process, number)
}

/// Ignores `SIGPIPE` when first used. A global, because a method of the class hides the `signal`
/// function.
private let brokenPipesAreErrors: Void = {
    _ = signal(SIGPIPE, SIG_IGN)
}()
#endif
