import SyncBase
import Foundation
import OneWaySynchronizer

/// Standard output and standard error, with a live line that can be rewritten in place.
final class Console: Sendable {
    /// The destination of a text.
    enum Stream: Sendable {
        case output
        case error
    }

    /// Whether standard output is a terminal, so that a line can be rewritten.
    let isTerminal: Bool

    private let write: @Sendable (String, Stream) -> Void

    /// Whether the cursor is on the live line.
    private let hasLiveLine = Locked(false)

    /// Creates a console.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether a line can be rewritten.
    ///   - write: Receives texts unchanged, one at a time.
    init(
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1,
        write: @escaping @Sendable (String, Stream) -> Void = Console.writeToProcess
    ) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Writes permanent text, without a newline of its own.
    func write(_ text: String) {
        hasLiveLine.withLock { hasLiveLine in
            write((hasLiveLine ? Self.clearLine : "") + text, .output)
            hasLiveLine = false
        }
    }

    /// Prints a permanent line.
    func print(_ line: String = "") {
        write(line + "\n")
    }

    /// Shows a live line that later output replaces; does nothing if there is no terminal.
    func show(_ line: String) {
        guard isTerminal else { return }
        hasLiveLine.withLock { hasLiveLine in
            write(Self.clearLine + line, .output)
            hasLiveLine = true
        }
    }

    /// Removes the live line, if there is one.
    func clear() {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { write(Self.clearLine, .output) }
            hasLiveLine = false
        }
    }

    /// Prints a line to standard error.
    func printError(_ line: String) {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { write(Self.clearLine, .output) }
            hasLiveLine = false
            write(line + "\n", .error)
        }
    }

    private static let clearLine = "\r\u{1B}[K"

    /// Writes to the streams of this process.
    static let writeToProcess: @Sendable (String, Stream) -> Void = { text, stream in
        let handle = stream == .output ? FileHandle.standardOutput : FileHandle.standardError
        // A closed pipe is ignored, because there is no reader left to inform.
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
