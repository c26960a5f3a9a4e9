import HTTPTransfer

/// The help texts of the command.
enum Usage {
    /// The topic of a help text.
    enum Topic: String, Equatable, CaseIterable {
        case general
        case tour
        case mirror
        case sync
        case diff
        case query
        case export
        case history
        case repair
        case model

        /// The topics that are commands.
        static var commands: [Topic] { allCases.filter { $0 != .general } }

        /// The command line that shows this help.
        var command: String { self == .general ? "Demo --help" : "Demo \(rawValue) --help" }
    }

    /// Returns a help text, without a final newline.
    static func text(_ topic: Topic) -> String {
        switch topic {
        case .general: general
        case .tour: tour
        case .mirror: mirror
        case .sync: sync
        case .diff: diff
        case .query: query
        case .export: export
        case .history: history
        case .repair: repair
        case .model: model
        }
    }

    /// Returns the options that a help text describes, such as `--store`.
    static func options(of topic: Topic) -> [String] {
        let words = text(topic).split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")) }
        var options: [String] = []
        for word in words where word.hasPrefix("--") && word.count > 3 && !options.contains(String(word)) {
            options.append(String(word))
        }
        return options
    }

    /// Returns the command lines among the examples of a help text, without the name `Demo`.
    static func examples(of topic: Topic) -> [String] {
        let lines = text(topic).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != "Examples:" }.dropFirst().prefix { !$0.isEmpty }
            .map { $0.trimmingPrefix { $0.isWhitespace } }
            .compactMap { $0.hasPrefix("Demo ") ? String($0.dropFirst("Demo ".count)) : nil }
    }

    static let syncExitCodes = """
        Exit codes: 0 done, 1 failed, 2 done with findings that --fail-on names, 64 wrong
        arguments, 130 stopped by Ctrl-C.
        """

    static let exitCodes = "Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C."
}

/// An error for an invalid command line. Its description is one line.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let topic: Usage.Topic

    init(_ message: String, topic: Usage.Topic) {
        self.message = message
        self.topic = topic
    }

    var description: String { "\(PrintableText.line(message, limit: 200)) (see \(topic.command))" }
}
