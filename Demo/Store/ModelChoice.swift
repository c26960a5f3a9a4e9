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
    /// What a person should know about an inferred model, most important first.
    var notes: [String] = []

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
    static func inferred(
        from reader: JSONReader, entity: String, options: ModelInferenceOptions = ModelInferenceOptions()
    ) throws -> ModelChoice {
        let inferred = try InferredModel(from: reader, entity: entity, options: options)
        return ModelChoice(model: inferred.model, origin: .inferred, notes: inferred.notes)
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
        var transformers = RecordMapper.Transformers()
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

extension InferredModel {
    private static let listedCount = 4

    /// The findings as sentences for a person, most important first.
    var notes: [String] {
        var notes: [String] = []
        var unknown: [String] = []
        var kept: [String] = []
        for finding in findings {
            let place = finding.key.isEmpty ? finding.entity : "\(finding.entity).\(finding.key)"
            switch finding.kind {
            case .noKey:
                notes.append(
                    "no key identifies a \(finding.entity), so a changed one is deleted and inserted; --key names one")
            case .onlyNulls: unknown.append(place)
            case .json: kept.append(place)
            }
        }
        if isPartial { notes.append("the model was inferred from the first \(Quantity.count(elementCount, "object"))") }
        if !kept.isEmpty { notes.append("kept as JSON: \(Self.list(kept))") }
        if !unknown.isEmpty { notes.append("always null, so the type is unknown: \(Self.list(unknown))") }
        return notes
    }

    private static func list(_ places: [String]) -> String {
        let surplus = places.count - listedCount
        return places.prefix(listedCount).joined(separator: ", ") + (surplus > 0 ? " and \(surplus) more" : "")
    }
}
