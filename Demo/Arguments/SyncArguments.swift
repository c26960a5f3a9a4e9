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
    var inference = ModelInferenceOptions()
    var dialect = JSONDialect.sync
    var operations = StoreSyncOptions.Operations.all
    /// The scope of the JSON: only objects that match it are deleted.
    var scope = RecordPredicate.constant(true)
    /// The number or share of deletions above which the sync fails; nil for no limit.
    var removalLimit: RemovalLimit?
    /// Whether to show the planned changes without making them.
    var isPlan = false
    /// Whether JSON that differs from the model makes the sync fail.
    var isStrict = false
    /// Whether to print one JSON object to standard output.
    var printsJSON = false

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .sync, repeatable: ["--header", "--header-env"])
        var server = ServerArguments()
        var operands: [String] = []
        var entity: String?
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                operands.append(text)
            case .option("--entity"):
                entity = try scanner.text(of: "--entity", as: "the name of an entity")
            case .option("--model"):
                model = URL(filePath: try scanner.text(of: "--model", as: "a model file"))
            case .option("--store"):
                store = try scanner.store(of: "--store")
            case .option("--key-path"):
                keyPath = try scanner.text(of: "--key-path", as: "keys such as data.items")
            case .option("--key"):
                inference.key = try scanner.names(of: "--key", as: "keys such as title,year")
            case .option("--sample"):
                inference.sampleCount = try scanner.count(of: "--sample")
            case .option("--dialect"):
                dialect = try scanner.choice(of: "--dialect", among: ["sync": .sync, "groot": .groot])
            case .option("--operations"):
                operations = try scanner.value(
                    of: "--operations", as: "some of \(Self.operationNames.map(\.key).joined(separator: ","))",
                    Self.operations)
            case .option("--where"):
                scope = try scanner.predicate(of: "--where")
            case .option("--max-removals"):
                removalLimit = try scanner.removalLimit(of: "--max-removals")
            case .option("--plan"):
                try scanner.noValue(of: "--plan")
                isPlan = true
            case .option("--strict"):
                try scanner.noValue(of: "--strict")
                isStrict = true
            case .option("--json"):
                try scanner.noValue(of: "--json")
                printsJSON = true
            case .option(let name):
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
        guard let entity else { throw scanner.error("--entity is missing") }
        guard model == nil || inference == ModelInferenceOptions() else {
            throw scanner.error("--model excludes --key and --sample")
        }
        guard dialect == .sync || model != nil else { throw scanner.error("--dialect groot needs --model") }
        input = address.map { .server($0, server) } ?? .file(file)
        self.entity = entity
    }

    private static let operationNames: KeyValuePairs<String, StoreSyncOptions.Operations> = [
        "insert": .insert, "update": .update, "delete": .delete, "insertRelationships": .insertRelationships,
        "updateRelationships": .updateRelationships, "deleteRelationships": .deleteRelationships,
    ]

    private static func operations(_ text: String) -> StoreSyncOptions.Operations? {
        var operations: StoreSyncOptions.Operations = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let found = operationNames.first(where: { $0.key == name }) else { return nil }
            operations.insert(found.value)
        }
        return operations
    }
}
