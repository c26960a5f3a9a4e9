import Foundation
import JSONMapper
import SyncModel

/// The arguments of `export`.
struct ExportArguments: Equatable {
    var entity: String
    var store: StoreLocation
    /// The model file; nil for the model stored with the database.
    var model: URL?
    var dialect = JSONDialect.sync
    var relationships = RecordExporter.Options.Relationships.array
    var keyStyle = RecordExporter.Options.KeyStyle.snakeCase
    /// The predicate that selects the exported objects.
    var predicate = RecordPredicate.constant(true)
    var layout = JSONOutput.Layout.array

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .export)
        var entity: String?
        var store: StoreLocation?
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                throw scanner.error("export takes only options; got '\(text)'")
            case .option("--entity"):
                entity = try scanner.text(of: "--entity", as: "the name of an entity")
            case .option("--store"):
                store = try scanner.store(of: "--store")
            case .option("--model"):
                model = URL(filePath: try scanner.text(of: "--model", as: "a model file"))
            case .option("--dialect"):
                dialect = try scanner.choice(of: "--dialect", among: ["sync": .sync, "groot": .groot])
            case .option("--relationships"):
                relationships = try scanner.choice(
                    of: "--relationships", among: ["array": .array, "nested": .nested, "none": .none])
            case .option("--inflection"):
                keyStyle = try scanner.choice(
                    of: "--inflection", among: ["snakeCase": .snakeCase, "camelCase": .camelCase])
            case .option("--where"):
                predicate = try scanner.predicate(of: "--where")
            case .option(let name) where JSONOutput.Layout.options.contains(name):
                try scanner.takeLayout(name, into: &layout)
            case .option(let name):
                throw scanner.unknownOption(name)
            }
        }
        guard let entity else { throw scanner.error("--entity is missing") }
        guard let store else { throw scanner.error("--store is missing") }
        guard store != .memory else { throw scanner.error("a store in memory has no objects to export") }
        self.entity = entity
        self.store = store
    }
}
