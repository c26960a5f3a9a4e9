import Foundation
import HTTPTransfer
import OneWaySynchronizer

/// A parsed command line.
enum Invocation: Equatable {
    case tour
    case mirror(MirrorArguments)
    case sync(SyncArguments)
    case export(ExportArguments)
    case model(ModelArguments)
    case help(Usage.Topic)

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
        case _ where first.hasPrefix("-"):
            throw UsageError("unknown option '\(first)'", topic: .general)
        default:
            throw UsageError("unknown command '\(first)'", topic: .general)
        }
    }

    private static func asksForHelp(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "-h" || $0 == "--help" }
    }

    private static func topic(_ arguments: [String]) throws(UsageError) -> Usage.Topic {
        guard let name = arguments.first else { return .general }
        guard arguments.count == 1, let topic = Usage.Topic(rawValue: name) else {
            throw UsageError("no help about '\(arguments.joined(separator: " "))'", topic: .general)
        }
        return topic
    }
}

/// The arguments of `mirror`.
struct MirrorArguments: Equatable {
    var listURL: URL
    var folder: URL
    /// The maximum number of simultaneous downloads, at least 1.
    var concurrency = 8
    /// Whether the pass continues after an item fails.
    var keepsGoing = false
    /// Whether to show the plan without changing anything.
    var isDryRun = false
    /// The number or share of removals above which a pass fails; nil for no limit.
    var removalLimit: RemovalLimit?
    /// The pause between two passes; nil for a single pass.
    var interval: Duration?

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .mirror)
        var operands: [String] = []
        var concurrency = 8
        var keepsGoing = false
        var isDryRun = false
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                operands.append(text)
            case .option("--concurrency"):
                concurrency = try scanner.value(of: "--concurrency", as: "a whole number from 1 to 1000") { text in
                    Int(text).flatMap { (1...1_000).contains($0) ? $0 : nil }
                }
            case .option("--max-removals"):
                removalLimit = try scanner.removalLimit(of: "--max-removals")
            case .option("--every"):
                interval = try scanner.interval(of: "--every")
            case .option("--keep-going"):
                try scanner.noValue(of: "--keep-going")
                keepsGoing = true
            case .option("--dry-run"):
                try scanner.noValue(of: "--dry-run")
                isDryRun = true
            case .option(let name):
                throw scanner.error("unknown option '\(name)'")
            }
        }
        guard operands.count == 2 else {
            throw scanner.error("expected LIST_URL and FOLDER, got \(operands.count) of them")
        }
        guard let listURL = URL(string: operands[0]), listURL.isHTTP else {
            throw scanner.error("'\(operands[0])' is not an address with http or https")
        }
        guard !operands[1].isEmpty else { throw scanner.error("FOLDER is empty") }
        guard !isDryRun || interval == nil else { throw scanner.error("--dry-run and --every exclude each other") }
        self.listURL = listURL
        self.folder = URL(filePath: operands[1], directoryHint: .isDirectory)
        self.concurrency = concurrency
        self.keepsGoing = keepsGoing
        self.isDryRun = isDryRun
    }
}
