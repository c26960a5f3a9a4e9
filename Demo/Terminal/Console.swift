import SyncBase
import Foundation
import HTTPTransfer

/// Standard output and standard error, with a live line that can be rewritten in place.
final class Console: Sendable {
    /// The destination of a text.
    enum Stream: Sendable {
        case output
        case error
    }

    /// Whether standard output is a terminal, so that a line can be rewritten.
    let isTerminal: Bool
    /// The colours of standard output.
    let style: TextStyle
    /// The colours of standard error.
    let errorStyle: TextStyle
    /// The width of the terminal if it is fixed, for tests.
    private let fixedWidth: Int?

    private let write: @Sendable (String, Stream) throws -> Void
    /// The first failure of a write to standard output.
    private let failure = Locked<(any Error)?>(nil)
    /// When a line of progress was printed last, where output is not a terminal.
    private let lastProgress = Locked(ContinuousClock.now)
    private let isQuiet = Locked(false)
    private let progressInterval: Duration

    /// Whether the cursor is on the live line.
    private let hasLiveLine = Locked(false)

    /// Creates a console for this process's own streams.
    convenience init() {
        self.init(
            isTerminal: isatty(STDOUT_FILENO) == 1, isErrorTerminal: isatty(STDERR_FILENO) == 1,
            environment: ProcessInfo.processInfo.environment, write: Self.writeToProcess)
    }

    /// Creates a console.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether standard output is a terminal.
    ///   - isErrorTerminal: Whether standard error is a terminal.
    ///   - width: The width of the terminal; nil to ask the terminal.
    ///   - environment: The environment variables, which can disable colours.
    ///   - progressInterval: The pause between lines of progress if output is not a terminal.
    ///   - write: Receives texts unchanged, one at a time.
    init(
        isTerminal: Bool, isErrorTerminal: Bool = false, width: Int? = nil, environment: [String: String] = [:],
        progressInterval: Duration = .seconds(10), write: @escaping @Sendable (String, Stream) throws -> Void
    ) {
        self.isTerminal = isTerminal
        style = TextStyle(isTerminal: isTerminal, environment: environment)
        errorStyle = TextStyle(isTerminal: isErrorTerminal, environment: environment)
        fixedWidth = width
        self.write = write
        self.progressInterval = progressInterval
    }

    /// The width of the terminal in columns; nil if output is not a terminal.
    var width: Int? {
        guard isTerminal else { return nil }
        if let fixedWidth { return fixedWidth }
        var size = winsize()
        return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) : 80
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
    func show(_ line: ProgressLine, indentation: String = "") {
        guard let width else {
            let isDue = lastProgress.withLock { last in
                let now = ContinuousClock.now
                guard now - last >= progressInterval else { return false }
                last = now
                return true
            }
            if isDue, !isQuiet.withLock({ $0 }) { printError(indentation + line.description) }
            return
        }
        hasLiveLine.withLock { hasLiveLine in
            let line = line.line(width: max(1, width - 1 - indentation.count))
            put(Self.clearLine + indentation + line, .output)
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

    /// Prints a failure to standard error, as one line.
    func printFailure(_ text: String, _ word: String = "failed") {
        printError("\(errorStyle("\(word):", .failure)) \(PrintableText.line(text, limit: 1_000))")
    }

    /// Prints a warning to standard error, as one line.
    func printWarning(_ text: String) {
        printError("\(errorStyle("warning:", .warning)) \(PrintableText.line(text, limit: 1_000))")
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
            // A failure of standard error cannot be reported.
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
}

/// A failure to write to standard output.
struct ConsoleError: Error, CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        description = "cannot write to standard output: \(FailureText.reason(error))"
    }
}
