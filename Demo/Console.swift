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

    private let write: @Sendable (String, Stream) throws -> Void
    /// The first failure of a write to standard output.
    private let failure = Locked<(any Error)?>(nil)
    /// When a line of progress was printed last, where output is not a terminal.
    private let lastProgress = Locked(ContinuousClock.now)
    private let isQuiet = Locked(false)
    private let progressInterval: Duration

    /// Whether the cursor is on the live line.
    private let hasLiveLine = Locked(false)

    /// Creates a console.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether a line can be rewritten.
    ///   - progressInterval: The pause between lines of progress if output is not a terminal.
    ///   - write: Receives texts unchanged, one at a time.
    init(
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1, progressInterval: Duration = .seconds(10),
        write: @escaping @Sendable (String, Stream) throws -> Void = Console.writeToProcess
    ) {
        self.isTerminal = isTerminal
        self.write = write
        self.progressInterval = progressInterval
    }

    /// Writes permanent text, without a newline of its own.
    func write(_ text: String) {
        hasLiveLine.withLock { hasLiveLine in
            put((hasLiveLine ? Self.clearLine : "") + text, .output)
            hasLiveLine = false
        }
    }

    /// Prints a permanent line.
    func print(_ line: String = "") {
        write(line + "\n")
    }

    /// Shows a live line that later output replaces.
    ///
    /// If output is not a terminal, a line goes to standard error once per progress interval.
    func show(_ line: String) {
        guard isTerminal else {
            let isDue = lastProgress.withLock { last in
                let now = ContinuousClock.now
                guard now - last >= progressInterval else { return false }
                last = now
                return true
            }
            if isDue, !isQuiet.withLock({ $0 }) { printError(line) }
            return
        }
        hasLiveLine.withLock { hasLiveLine in
            put(Self.clearLine + line.prefix(Self.width - 1), .output)
            hasLiveLine = true
        }
    }

    /// Removes the live line, if there is one.
    func clear() {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { put(Self.clearLine, .output) }
            hasLiveLine = false
        }
    }

    /// Prints a line to standard error.
    func printError(_ line: String) {
        hasLiveLine.withLock { hasLiveLine in
            if hasLiveLine { put(Self.clearLine, .output) }
            hasLiveLine = false
            put(line + "\n", .error)
        }
    }

    private static let clearLine = "\r\u{1B}[K"

    /// Writes to this process's own streams.
    static let writeToProcess: @Sendable (String, Stream) throws -> Void = { text, stream in
        let handle = stream == .output ? FileHandle.standardOutput : FileHandle.standardError
        try handle.write(contentsOf: Data(text.utf8))
    }

    /// Writes a text, and keeps the first failure of standard output.
    private func put(_ text: String, _ stream: Stream) {
        do {
            try write(text, stream)
        } catch {
            // Without standard error there is nobody to tell.
            if stream == .output { failure.withLock { $0 = $0 ?? error } }
        }
    }

    /// Shows no progress where output is not a terminal.
    func keepProgressQuiet() {
        isQuiet.withLock { $0 = true }
    }

    /// Throws if a write to standard output has failed.
    func checkOutput() throws(ConsoleError) {
        if let failure = failure.withLock({ $0 }) { throw ConsoleError(failure) }
    }

    /// The width of the terminal in characters; 80 if it is unknown.
    private static var width: Int {
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) : 80
    }
}

/// A failure to write to standard output.
struct ConsoleError: Error, CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code
        let reason = code.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription
        description = "cannot write to standard output: \(reason)"
    }
}
