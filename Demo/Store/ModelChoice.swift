import CoreDataModel
import Foundation
import JSONMapper
import ModelInference
import SyncModel

/// The model that maps the JSON, and its origin.
struct ModelChoice {
    /// The origin of a model.
    enum Origin: String {
        case given
        /// Stored with the database.
        case kept
        case inferred
    }

    let model: DataModel
    let origin: Origin

    private static let shownWarningCount = 10

    /// Reads the model of a file.
    ///
    /// - Parameter warn: Called with each kind of part of the file that the model does not contain.
    static func given(_ file: URL, warn: (String) -> Void) throws(ModelFileError) -> ModelChoice {
        let file = try ModelFile(contentsOf: file)
        report(file.warnings, warn)
        return ModelChoice(model: file.model, origin: .given)
    }

    /// Infers a model from JSON.
    static func inferred(from reader: JSONReader, entity: String) throws -> ModelChoice {
        ModelChoice(model: try DataModel.inferred(from: reader, entity: entity), origin: .inferred)
    }

    /// Reports warnings, equal ones together. Files of apps have hundreds of index declarations.
    static func report(_ warnings: [ModelWarning], _ warn: (String) -> Void) {
        let groups = Dictionary(grouping: warnings.enumerated(), by: \.element.reason)
            .values.sorted { ($0.first?.offset ?? 0) < ($1.first?.offset ?? 0) }
        for group in groups.prefix(shownWarningCount) {
            guard let first = group.first else { continue }
            warn("\(first.element)" + (group.count > 1 ? " (\(group.count) times)" : ""))
        }
        let surplus = groups.dropFirst(shownWarningCount).reduce(0) { $0 + $1.count }
        if surplus > 0 { warn("and \(Quantity.count(surplus, "more warning")) about the model file") }
    }

    /// Returns a mapper for a model.
    ///
    /// Transformers are code of an app, so the command has none. A value with a transformer is kept
    /// as its JSON.
    ///
    /// - Parameter warn: Called for each transformer.
    static func mapper(_ model: DataModel, dialect: JSONDialect, warn: (String) -> Void) throws -> RecordMapper {
        var transformers = JSONTransformers()
        while true {
            do {
                return try RecordMapper(model, dialect: dialect, transformers: transformers)
            } catch MappingError.unknownTransformer(let entity, let attribute?, let name)
                where transformers.transformer(name) == nil
            {
                warn("\(entity).\(attribute): the transformer \(name) is not available; values are kept as their JSON")
                transformers.register(
                    name, forward: { try AttributeValue(kept: $0) },
                    reverse: { value in
                        guard case .binary(let data) = value else { return nil }
                        return try JSONValue(parsing: String(decoding: data, as: UTF8.self))
                    })
            }
        }
    }
}

extension AttributeValue {
    /// Creates the binary value that holds the text of a JSON value.
    fileprivate init(kept json: JSONValue) throws {
        var writer = JSONWriter()
        try writer.value(json)
        self = .binary(Data(writer.bytes))
    }
}
