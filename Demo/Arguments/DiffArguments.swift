import Foundation
import JSONMapper

/// The arguments of `diff`.
struct DiffArguments: Equatable {
    /// The state before the sync.
    enum Base: Equatable {
        case store(StoreLocation)
        case file(InputFile)
    }

    var base: Base
    /// The JSON whose sync is shown.
    var input: InputFile
    var entity: String
    /// The model file; nil for the model of the store, or one inferred from both files.
    var model: URL?
    var dialect = JSONDialect.sync
    /// The keys on the path to the array, separated by dots.
    var keyPath = ""
    /// The maximum number of objects to show.
    var limit = 50

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .diff)
        var common = CommonArguments("--entity", "--model", "--dialect", "--key-path")
        var operands: [String] = []
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): operands.append(text)
            case .option("--limit"): limit = try scanner.count(of: "--limit")
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        guard operands.count == 2 else { throw scanner.error("expected A and B, got \(operands.count) of them") }
        guard let input = InputFile(operand: operands[1]) else { throw scanner.error("B is empty") }
        if let store = StoreLocation(operands[0]) {
            guard store != .memory else { throw scanner.error("a store in memory has no objects to compare") }
            base = .store(store)
        } else {
            guard let file = InputFile(operand: operands[0]) else { throw scanner.error("A is empty") }
            guard file != .standardInput || input != .standardInput else {
                throw scanner.error("A and B cannot both be standard input")
            }
            base = .file(file)
        }
        if case .store = base { _ = try common.requiredEntity(scanner) }
        self.input = input
        entity = common.entity ?? "Item"
        model = common.model
        dialect = common.dialect
        keyPath = common.keyPath
    }
}
