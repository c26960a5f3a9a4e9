import SyncBase
import Foundation
import OneWaySynchronizer

/// Standard output and standard error; keeps a line that is rewritten in place apart from those that stay.
final class Console: Sendable {
    /// Where a text goes.
    enum Stream: Sendable {
        case output
        case error
    }

    /// Whether a person looks at standard output, so that a line can be rewritten.
    let isTerminal: Bool

    private let write: @Sendable (String, Stream) -> Void

    /// Whether the cursor is on a line that is rewritten.
    private let hasLiveLine = Locked(false)

    /// - Parameters:
    ///   - isTerminal: Whether a line can be rewritten.
    ///   - write: Takes texts as they are, one at a time.
    init(
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1,
        write: @escaping @Sendable (String, Stream) -> Void = Console.writeToProcess
    ) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Writes a text that stays as it is, without a line end of its own.
    func write(_ text: String) {
        hasLiveLine.withLock { hasLiveLine in
            write((hasLiveLine ? Self.clearLine : "") + text, .output)
            hasLiveLine = false
        }
    }

    /// Prints a line that stays.
    func print(_ line: String = "") {
        write(line + "\n")
    }

    /// Shows a line that the next one replaces; nothing when nobody looks.
    func show(_ line: String) {
        guard isTerminal else { return }
        hasLiveLine.withLock { hasLiveLine in
            write(Self.clearLine + line, .output)
            hasLiveLine = true
        }
    }

    /// Takes away the line that is rewritten, if there is one.
    func clear() {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { write(Self.clearLine, .output) }
            hasLiveLine = false
        }
    }

    /// Prints a line on standard error.
    func printError(_ line: String) {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { write(Self.clearLine, .output) }
            hasLiveLine = false
            write(line + "\n", .error)
        }
    }

    private static let clearLine = "\r\u{1B}[K"

    /// Writes to this process's own streams.
    static let writeToProcess: @Sendable (String, Stream) -> Void = { text, stream in
        let handle = stream == .output ? FileHandle.standardOutput : FileHandle.standardError
        // A reader that has gone is no reason to fail: there is nobody left to tell.
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
