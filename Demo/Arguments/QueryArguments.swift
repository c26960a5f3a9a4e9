import Foundation
import JSONMapper
import SyncModel

/// The arguments of `query`.
struct QueryArguments: Equatable {
    /// The entity of the objects; nil to list the entities.
    var entity: String?
    var store: StoreLocation
    /// The model file; nil for the model stored with the database.
    var model: URL?
    var dialect = JSONDialect.sync
    /// The predicate that selects the objects.
    var predicate = RecordPredicate.constant(true)
    var ordering: [Ordering] = []
    /// The maximum number of objects; nil for the default.
    var limit: Int?
    /// The properties to show; nil for all.
    var properties: [String]?
    /// The layout of JSON; nil for a table.
    var json: JSONOutput.Layout?

    init(_ arguments: [String]) throws(UsageError) {
        var scanner = ArgumentScanner(arguments, topic: .query)
        var store: StoreLocation?
        var layout = JSONOutput.Layout.array
        var printsJSON = false
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text):
                throw scanner.error("query takes only options; got '\(text)'")
            case .option("--entity"):
                entity = try scanner.text(of: "--entity", as: "the name of an entity")
            case .option("--store"):
                store = try scanner.store(of: "--store")
            case .option("--model"):
                model = URL(filePath: try scanner.text(of: "--model", as: "a model file"))
            case .option("--dialect"):
                dialect = try scanner.choice(of: "--dialect", among: ["sync": .sync, "groot": .groot])
            case .option("--where"):
                predicate = try scanner.predicate(of: "--where")
            case .option("--order"):
                ordering = try scanner.ordering(of: "--order")
            case .option("--limit"):
                limit = try scanner.count(of: "--limit")
            case .option("--columns"):
                properties = try scanner.names(of: "--columns", as: "properties such as id,title")
            case .option("--json"):
                try scanner.noValue(of: "--json")
                printsJSON = true
            case .option(let name) where JSONOutput.Layout.options.contains(name):
                try scanner.takeLayout(name, into: &layout)
                printsJSON = true
            case .option(let name):
                throw scanner.unknownOption(name)
            }
        }
        guard let store else { throw scanner.error("--store is missing") }
        guard store != .memory else { throw scanner.error("a store in memory has no objects to show") }
        guard entity != nil || Self.isPlain(predicate, ordering, limit, properties, printsJSON) else {
            throw scanner.error("--entity is missing")
        }
        guard properties == nil || !printsJSON else { throw scanner.error("--columns and JSON exclude each other") }
        self.store = store
        json = printsJSON ? layout : nil
    }

    /// Returns whether no option needs an entity.
    private static func isPlain(
        _ predicate: RecordPredicate, _ ordering: [Ordering], _ limit: Int?, _ properties: [String]?, _ printsJSON: Bool
    ) -> Bool {
        predicate == .constant(true) && ordering.isEmpty && limit == nil && properties == nil && !printsJSON
    }
}
