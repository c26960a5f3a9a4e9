import Foundation
import HTTPTransfer
import JSONMapper
import ModelInference
import OneWaySynchronizer
import StoreSync
import SyncModel

/// The arguments of `sync`.
struct SyncArguments: Equatable {
    /// The origin of the JSON.
    enum Input: Equatable {
        case file(InputFile)
        case server(URL, ServerArguments)
    }

    var input: Input
    var entity: String
    /// The model file; nil to use the store's model, or to infer one from the JSON.
    var model: URL?
    var store = StoreLocation.memory
    /// The keys on the path to the array, separated by dots.
    var keyPath = ""
    /// The key of the objects and the size of the sample, for an inferred model.
    var inference = InferredModel.Options()
    var dialect = JSONDialect.sync
    var operations = StoreSyncOptions.Operations.all
    /// The scope of the JSON: only objects that match it are deleted.
    var scope = RecordPredicate.constant(true)
    /// The number or share of deletions above which the sync fails; nil for no limit.
    var removalLimit: RemovalLimit?
    /// Whether to show the planned changes without making them.
    var isPlan = false
    /// The findings that give a sync an exit code of its own.
    var failingFindings: Set<SyncSummary.Finding> = [.rejected, .obstacles]
    /// Whether JSON that differs from the model makes the sync fail.
    var isStrict = false
    /// Whether the model of the database takes over what is new in the JSON.
    var isEvolving = false
    /// Whether the database is filled anew, by a new model.
    var isRebuilding = false
    /// The size of the page cache of an SQLite database in bytes; nil for the usual size.
    var cacheByteCount: Int?
    /// Whether to print one JSON object to standard output.
    var printsJSON = false

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .sync, repeatable: ["--header", "--header-env"])
        var server = ServerArguments()
        var common = CommonArguments(
            "--entity", "--store", "--model", "--dialect", "--key-path", "--key", "--sample", "--as-json",
            "--tables", "--where")
        var operands: [String] = []
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): operands.append(text)
            case .option("--operations"):
                operations = try scanner.value(
                    of: "--operations", as: "some of \(Self.operationNames.map(\.key).joined(separator: ","))",
                    Self.operations)
            case .option("--max-removals"):
                removalLimit = try scanner.removalLimit(of: "--max-removals")
            case .option("--fail-on"):
                failingFindings = try scanner.value(
                    of: "--fail-on",
                    as: "some of \(SyncSummary.Finding.allCases.map(\.rawValue).joined(separator: ","))", Self.findings)
            case .option("--plan"): isPlan = try scanner.flag("--plan")
            case .option("--strict"): isStrict = try scanner.flag("--strict")
            case .option("--evolve"): isEvolving = try scanner.flag("--evolve")
            case .option("--rebuild"): isRebuilding = try scanner.flag("--rebuild")
            case .option("--cache"):
                let byteCount: Int = try scanner.value(of: "--cache", as: "a whole number of MiB, 1 to 1048576") {
                    Int($0).flatMap { (1...1_048_576).contains($0) ? $0 << 20 : nil }
                }
                cacheByteCount = byteCount
            case .option("--json"): printsJSON = try scanner.flag("--json")
            case .option(let name):
                if try common.take(name, &scanner) { continue }
                guard try server.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        guard operands.count == 1 else { throw scanner.error("expected one FILE or URL, got \(operands.count)") }
        guard let file = InputFile(operand: operands[0]) else { throw scanner.error("FILE is empty") }
        let scheme = operands[0].prefix(6).lowercased()
        var address: URL?
        if scheme.hasPrefix("http:") || scheme == "https:" {
            do throws(HTTPAddressError) {
                address = try HTTPAddress.parse(operands[0])
            } catch {
                throw scanner.error("\(error)")
            }
        }
        if address == nil, let option = server.options.first { throw scanner.error("\(option) needs a URL") }
        guard !isPlan || server.interval == nil else { throw scanner.error("--plan and --every exclude each other") }
        guard !printsJSON || server.interval == nil else {
            throw scanner.error("--json and --every exclude each other")
        }
        entity = try common.requiredEntity(scanner)
        model = common.model
        store = common.store ?? .memory
        keyPath = common.keyPath
        inference = common.inference
        dialect = common.dialect
        scope = common.predicate
        input = address.map { .server($0, server) } ?? .file(file)
        guard model == nil || inference == InferredModel.Options(key: inference.key) else {
            throw scanner.error("--model excludes --sample, --as-json and --tables")
        }
        guard dialect == .sync || model != nil else { throw scanner.error("--dialect groot needs --model") }
        if cacheByteCount != nil {
            guard case .sqlite = store else { throw scanner.error("--cache needs an SQLite database") }
        }
        try check(scanner, isRepeated: server.interval != nil)
    }

    /// Checks the options that change the model of a database.
    private func check(_ scanner: ArgumentScanner, isRepeated: Bool) throws(UsageError) {
        let others = [
            "--plan": isPlan && isRebuilding, "--model": model != nil && isEvolving,
            "--rebuild": isRebuilding && isEvolving, "--every": isRepeated && isRebuilding,
        ]
        guard isEvolving || isRebuilding else { return }
        let option = isEvolving ? "--evolve" : "--rebuild"
        if let other = others.filter(\.value).keys.min() {
            throw scanner.error("\(option) and \(other) exclude each other")
        }
        guard store != .memory else { throw scanner.error("\(option) needs a database; --store names one") }
        if isEvolving, isPlan, case .postgres = store {
            throw scanner.error("--plan with --evolve needs an SQLite database")
        }
        if isRebuilding, case .postgres = store { throw scanner.error("--rebuild needs an SQLite database") }
    }

    private static let operationNames: KeyValuePairs<String, StoreSyncOptions.Operations> = [
        "insert": .insert, "update": .update, "delete": .delete, "insertRelationships": .insertRelationships,
        "updateRelationships": .updateRelationships, "deleteRelationships": .deleteRelationships,
    ]

    private static func findings(_ text: String) -> Set<SyncSummary.Finding>? {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        let findings = names.compactMap { SyncSummary.Finding(rawValue: String($0)) }
        return findings.count == names.count ? Set(findings) : nil
    }

    private static func operations(_ text: String) -> StoreSyncOptions.Operations? {
        var operations: StoreSyncOptions.Operations = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let found = operationNames.first(where: { $0.key == name }) else { return nil }
            operations.insert(found.value)
        }
        return operations
    }
}
