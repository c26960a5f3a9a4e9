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
    var relationships = RecordMapper.Exporter.Options.Relationships.array
    var keyStyle = RecordMapper.Exporter.Options.KeyStyle.snakeCase
    /// The predicate that selects the exported objects.
    var predicate = RecordPredicate.constant(true)
    var layout = JSONOutput.Layout.array

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .export)
        var common = CommonArguments("--entity", "--store", "--model", "--dialect", "--where")
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): throw scanner.unexpectedOperand(text)
            case .option("--relationships"):
                relationships = try scanner.choice(
                    of: "--relationships", among: ["array": .array, "nested": .nested, "none": .none])
            case .option("--inflection"):
                keyStyle = try scanner.choice(
                    of: "--inflection", among: ["snakeCase": .snakeCase, "camelCase": .camelCase])
            case .option(let name) where JSONOutput.Layout.options.contains(name):
                try scanner.takeLayout(name, into: &layout)
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        entity = try common.requiredEntity(scanner)
        store = try common.database(with: "objects to export", scanner)
        model = common.model
        dialect = common.dialect
        predicate = common.predicate
    }
}
