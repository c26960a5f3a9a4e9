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
        var common = CommonArguments("--entity", "--store", "--model", "--dialect", "--where")
        var layout = JSONOutput.Layout.array
        var printsJSON = false
        while let argument = try scanner.next() {
            switch argument {
            case .operand(let text): throw scanner.unexpectedOperand(text)
            case .option("--order"): ordering = try scanner.ordering(of: "--order")
            case .option("--limit"): limit = try scanner.count(of: "--limit")
            case .option("--columns"):
                properties = try scanner.names(of: "--columns", as: "properties such as id,title")
            case .option("--json"): printsJSON = try scanner.flag("--json")
            case .option(let name) where JSONOutput.Layout.options.contains(name):
                try scanner.takeLayout(name, into: &layout)
                printsJSON = true
            case .option(let name):
                guard try common.take(name, &scanner) else { throw scanner.unknownOption(name) }
            }
        }
        store = try common.database(with: "objects to show", scanner)
        entity = common.entity
        model = common.model
        dialect = common.dialect
        predicate = common.predicate
        guard entity != nil || Self.isPlain(predicate, ordering, limit, properties, printsJSON) else {
            throw scanner.error("--entity is missing")
        }
        guard properties == nil || !printsJSON else { throw scanner.error("--columns and JSON exclude each other") }
        json = printsJSON ? layout : nil
    }

    /// Returns whether no option needs an entity.
    private static func isPlain(
        _ predicate: RecordPredicate, _ ordering: [Ordering], _ limit: Int?, _ properties: [String]?, _ printsJSON: Bool
    ) -> Bool {
        predicate == .constant(true) && ordering.isEmpty && limit == nil && properties == nil && !printsJSON
    }
}
