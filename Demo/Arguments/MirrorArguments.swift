import Foundation
import HTTPTransfer
import OneWaySynchronizer

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
    /// The header fields of each request to the list's origin.
    var headers = HTTPHeaders()
    /// The maximum number of requests per second; nil for any number.
    var requestsPerSecond: Double?
    /// How long each attempt to download an item may take; nil for any time.
    var itemTimeout: Duration?
    /// How long a server may be away; 30 s by default.
    var outage = Duration.seconds(30)
    /// Whether standard output is one JSON object.
    var printsJSON = false
    /// Whether a list that came by https may name items with http.
    var allowsHTTP = false
    /// Whether files whose date and size an index shows as before are unchanged.
    var trustsDates = true

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .mirror, repeatable: ["--header", "--header-env"])
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
            case .option("--rate"):
                requestsPerSecond = try scanner.rate(of: "--rate")
            case .option("--timeout"):
                itemTimeout = try scanner.interval(of: "--timeout")
            case .option("--outlast"):
                outage = try scanner.interval(of: "--outlast")
            case .option("--json"):
                try scanner.noValue(of: "--json")
                printsJSON = true
            case .option("--allow-http"):
                try scanner.noValue(of: "--allow-http")
                allowsHTTP = true
            case .option("--check-all"):
                try scanner.noValue(of: "--check-all")
                trustsDates = false
            case .option(let name):
                guard try scanner.takeHeaders(of: name, into: &headers) else {
                    throw scanner.unknownOption(name)
                }
            }
        }
        guard operands.count == 2 else {
            throw scanner.error("expected LIST_URL and FOLDER, got \(operands.count) of them")
        }
        do throws(HTTPAddressError) {
            listURL = try HTTPAddress.parse(operands[0])
        } catch {
            throw scanner.error("\(error)")
        }
        guard !operands[1].isEmpty else { throw scanner.error("FOLDER is empty") }
        guard !isDryRun || interval == nil else { throw scanner.error("--dry-run and --every exclude each other") }
        guard !printsJSON || interval == nil && !isDryRun else {
            throw scanner.error("--json excludes --every and --dry-run")
        }
        self.folder = URL(filePath: operands[1], directoryHint: .isDirectory)
        self.concurrency = concurrency
        self.keepsGoing = keepsGoing
        self.isDryRun = isDryRun
    }
}
