/// A parsed command line.
enum Invocation: Equatable {
    case tour
    case mirror(MirrorArguments)
    case sync(SyncArguments)
    case export(ExportArguments)
    case model(ModelArguments)
    case query(QueryArguments)
    case diff(DiffArguments)
    case history(HistoryArguments)
    case repair(RepairArguments)
    case help(Usage.Topic)
    case version

    /// Creates an invocation from command-line arguments.
    ///
    /// - Parameter arguments: The arguments without the name of the command.
    /// - Throws: ``UsageError`` for an argument that is unknown, missing, repeated or out of range.
    init(_ arguments: [String]) throws(UsageError) {
        guard let first = arguments.first else {
            self = .tour
            return
        }
        let rest = Array(arguments.dropFirst())
        switch first {
        case "-h", "--help", "help":
            self = try .help(Self.topic(rest))
        case "--version":
            self = .version
        case "tour":
            if Self.asksForHelp(rest) {
                self = .help(.tour)
            } else if let surplus = rest.first {
                throw UsageError("tour takes no arguments; got '\(surplus)'", topic: .tour)
            } else {
                self = .tour
            }
        case "mirror":
            self = Self.asksForHelp(rest) ? .help(.mirror) : .mirror(try MirrorArguments(rest))
        case "sync":
            self = Self.asksForHelp(rest) ? .help(.sync) : .sync(try SyncArguments(rest))
        case "export":
            self = Self.asksForHelp(rest) ? .help(.export) : .export(try ExportArguments(rest))
        case "model":
            self = Self.asksForHelp(rest) ? .help(.model) : .model(try ModelArguments(rest))
        case "query":
            self = Self.asksForHelp(rest) ? .help(.query) : .query(try QueryArguments(rest))
        case "diff":
            self = Self.asksForHelp(rest) ? .help(.diff) : .diff(try DiffArguments(rest))
        case "history":
            self = Self.asksForHelp(rest) ? .help(.history) : .history(try HistoryArguments(rest))
        case "repair":
            self = Self.asksForHelp(rest) ? .help(.repair) : .repair(try RepairArguments(rest))
        case _ where first.hasPrefix("-"):
            throw ArgumentScanner(rest, topic: .general).unknownOption(first)
        default:
            let suggestion = Suggestion.text(for: first, among: Usage.Topic.commands.map(\.rawValue))
            throw UsageError("unknown command '\(first)'\(suggestion)", topic: .general)
        }
    }

    private static func asksForHelp(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "-h" || $0 == "--help" }
    }

    private static func topic(_ arguments: [String]) throws(UsageError) -> Usage.Topic {
        guard let name = arguments.first else { return .general }
        guard arguments.count == 1, let topic = Usage.Topic(rawValue: name) else {
            let suggestion = Suggestion.text(for: name, among: Usage.Topic.commands.map(\.rawValue))
            throw UsageError("no help about '\(arguments.joined(separator: " "))'\(suggestion)", topic: .general)
        }
        return topic
    }
}
