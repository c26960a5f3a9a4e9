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
        /// Stored with the database, and extended by the JSON.
        case evolved
    }

    var model: DataModel
    let origin: Origin
    /// What a person should know about an inferred model, most important first.
    var notes: [String] = []
    /// The changes of an evolved model, each as one line.
    var changes: [String] = []
    /// Whether the changes drop entities or properties.
    var hasDrops = false
    /// What an evolved model cannot take over from the JSON, each as one line.
    var obstacles: [String] = []
    /// The sample that decided about the model; nil if it had the whole list, or if there was none.
    var sample: SampleExtent?

    private static let shownWarningCount = 10

    /// Reads the model of a file.
    ///
    /// - Parameter warn: Called with each kind of part of the file that the model does not contain.
    static func given(_ file: URL, warn: (String) -> Void) throws(ModelFile.Failure) -> ModelChoice {
        let file = try ModelFile(contentsOf: file)
        report(file.warnings, warn)
        return ModelChoice(model: file.model, origin: .given)
    }

    /// Infers a model from JSON.
    static func inferred(
        from reader: JSONReader, entity: String, options: InferredModel.Options
    ) throws -> ModelChoice {
        let inferred = try InferredModel(from: reader, entity: entity, options: options)
        return ModelChoice(
            model: inferred.model, origin: .inferred, notes: InferredModel.notes(inferred.findings),
            sample: inferred.isPartial ? SampleExtent(objectCount: inferred.elementCount, limit: .objects) : nil)
    }

    /// Returns the model with other keys that identify the objects of an entity.
    ///
    /// - Throws: ``KeyError`` for a key that no attribute has; `ModelError` if the attributes
    ///   cannot identify objects.
    func identified(by keys: [String], entity: String, dialect: JSONDialect) throws -> ModelChoice {
        guard let layout = model[entity] else { return self }
        let known = EntityKeys(layout, in: model, dialect: dialect)
        let identity = try keys.map { key in
            let found = known.attributes.first { $0.spellings.contains([key]) || $0.attribute.name == key }
            guard let found else { throw KeyError.unknownKey(entity: entity, key: key) }
            return found.attribute.name
        }
        let entities = model.layouts.map { layout in
            var declared = layout.entity
            guard declared.name == entity else { return declared }
            declared.identity = identity
            // Annotations take precedence over the declared identity.
            declared.userInfo.removeValue(forKey: "identityAttributes")
            for index in declared.attributes.indices {
                declared.attributes[index].userInfo = declared.attributes[index].userInfo.filter {
                    !$0.key.hasSuffix(".isPrimaryKey")
                }
            }
            return declared
        }
        var choice = self
        choice.model = try DataModel(entities)
        return choice
    }

    /// Returns the model of a database for a list of the entity's own: objects that an inferred
    /// model gave to the objects that contain them stay without those.
    func listing(_ entity: String) throws -> ModelChoice {
        var choice = self
        var entities = model.entities
        for layout in model.layouts where layout.entity.isInferred {
            for relationship in layout.relationships
            where relationship.sharesTargets && relationship.declaration.destination == entity {
                entities[layout.index].relationships[relationship.index].ownsTargets = false
                entities[layout.index].relationships[relationship.index].deleteRule = .nullify
                choice.changes.append("\(entity) is a list of its own now: its objects stay without \(layout.name)")
            }
        }
        choice.model = try DataModel(entities)
        return choice
    }

    /// Extends the model of a database by what JSON has.
    ///
    /// - Throws: ``EvolutionError`` if the model was given by a file, and if the model cannot take
    ///   over everything but must.
    func evolved(
        with reader: JSONReader, entity: String, options: InferredModel.Options, isStrict: Bool
    ) throws -> ModelChoice {
        let known = model[entity].map { [$0.entity] } ?? model.dataEntities
        guard known.allSatisfy(\.isInferred) else { throw EvolutionError.givenModel }
        let evolved = try InferredModel.Evolution(model, with: reader, entity: entity, options: options)
        let obstacles = evolved.obstacles.map(Self.text)
        if isStrict, !obstacles.isEmpty { throw EvolutionError.obstacles(obstacles) }
        // The reader has then passed the object after the sample.
        let sample = options.sampleCount.flatMap { count in
            reader.elementCount > count ? SampleExtent(objectCount: count, limit: .objects) : nil
        }
        return ModelChoice(
            model: evolved.model, origin: evolved.changes.isEmpty ? .kept : .evolved,
            notes: InferredModel.notes(evolved.findings), changes: changes + evolved.changes.map(\.description),
            obstacles: obstacles, sample: sample)
    }

    private static func text(_ obstacle: InferredModel.Evolution.Obstacle) -> String {
        if obstacle.kind == .noKnownKey {
            return "\(obstacle.reason): if the list is inside, give its --key-path, or use --rebuild"
        }
        let json = obstacle.canBecomeJSON ? "keep the key as JSON from now on with --as-json, " : ""
        return "\(obstacle.reason): keep the model as it is, \(json)drop the property with --model, or use --rebuild"
    }

    /// Reports warnings, equal ones together. Files of apps have hundreds of index declarations.
    static func report(_ warnings: [ModelFile.Warning], _ warn: (String) -> Void) {
        let groups = Dictionary(grouping: warnings.enumerated(), by: \.element.reason)
            .values.sorted { ($0.first?.offset ?? 0) < ($1.first?.offset ?? 0) }
        for group in groups.prefix(shownWarningCount) {
            guard let first = group.first else { continue }
            warn("\(first.element)" + (group.count > 1 ? " (\(group.count) times)" : ""))
        }
        let surplus = groups.dropFirst(shownWarningCount).reduce(0) { $0 + $1.count }
        if surplus > 0 { warn("and \(Quantity.count(surplus, "more warning")) about the model file") }
    }

    // MARK: The list within a document

    /// The annotation of an entity whose list was found within the only object of a document. Its
    /// value is the key path.
    private static let listAnnotation = "demo.listKeyPath"

    /// The key path at which the list of an entity was found when the model was inferred; nil if
    /// it was not within an object. Objects of the entity can have a list at the same key path.
    func listKeyPath(of entity: String) -> String? {
        model[entity]?.entity.userInfo[Self.listAnnotation]
    }

    /// Returns the model with the key path at which the list of an entity was found, for the next
    /// document; the same model for nil.
    func remembering(listKeyPath: String?, of entity: String) throws -> ModelChoice {
        guard let listKeyPath else { return self }
        var choice = self
        choice.model = try DataModel(
            model.layouts.map { layout in
                var declared = layout.entity
                if declared.name == entity { declared.userInfo[Self.listAnnotation] = listKeyPath }
                return declared
            })
        return choice
    }

    /// Returns a mapper for a model.
    ///
    /// Transformers are code of an app, so the command has none. A value with a transformer is read
    /// without it, and kept as its JSON by an attribute without a type.
    ///
    /// - Parameter warn: Called for each transformer.
    static func mapper(_ model: DataModel, dialect: JSONDialect, warn: (String) -> Void) throws -> RecordMapper {
        var transformers = RecordMapper.Transformers()
        while true {
            do {
                return try RecordMapper(model, JSONMapping(dialect: dialect, transformers: transformers))
            } catch MappingError.unknownTransformer(let entity, let attribute?, let name)
                where transformers.transformer(name) == nil
            {
                warn("\(entity).\(attribute): the transformer \(name) is not available; values are read without it")
                transformers.register(
                    name, forward: { try AttributeValue(kept: $0) },
                    reverse: { value in
                        if case .binary(let data) = value {
                            return try JSONValue(parsing: String(decoding: data, as: UTF8.self))
                        }
                        var writer = JSONWriter()
                        try writer.value(value)
                        return try JSONValue(parsing: String(decoding: writer.bytes, as: UTF8.self))
                    })
            }
        }
    }
}

extension AttributeValue {
    /// Creates the value of a JSON text, number or Boolean, or the binary value that holds the text
    /// of an array or object.
    fileprivate init(kept json: JSONValue) throws {
        switch json {
        case .string(let text): self = .string(text)
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .int(number)
        case .double(let number): self = .double(number)
        default: self = try Self.text(of: json)
        }
    }

    private static func text(of json: JSONValue) throws -> AttributeValue {
        var writer = JSONWriter()
        try writer.value(json)
        return .binary(Data(writer.bytes))
    }
}

extension InferredModel {
    private static let listedCount = 4

    /// Returns findings as sentences for a person, most important first.
    static func notes(_ findings: [Finding]) -> [String] {
        var notes: [String] = []
        var unknown: [String] = []
        var kept: [String] = []
        let isMap = findings.contains { $0.kind == .json(.map) && $0.key.isEmpty }
        for finding in findings {
            let place = finding.key.isEmpty ? finding.entity : "\(finding.entity).\(finding.key)"
            switch finding.kind {
            case .noKey where isMap: break
            case .noKey:
                notes.append(
                    "no key identifies a \(finding.entity), so a changed one is deleted and inserted; --key names one")
            case .partlyComparedKey: notes.append(finding.description)
            case .onlyNulls: unknown.append(place)
            case .json(.map) where finding.key.isEmpty:
                notes.append("the keys of the JSON are data, so it is one JSON value, which SQL reads with json_each")
            case .json where finding.key.isEmpty: kept.append("some keys of \(place)")
            case .json: kept.append(place)
            }
        }
        if !kept.isEmpty { notes.append("kept as JSON: \(list(kept))") }
        if !unknown.isEmpty { notes.append("always null, so the type is unknown: \(list(unknown))") }
        return notes
    }

    private static func list(_ places: [String]) -> String {
        let surplus = places.count - listedCount
        return places.prefix(listedCount).joined(separator: ", ") + (surplus > 0 ? " and \(surplus) more" : "")
    }
}

/// A reason why the model of a database is not extended.
enum EvolutionError: Error, CustomStringConvertible {
    /// The model was given by a file.
    case givenModel
    /// The model cannot take over everything; each reason as one line.
    case obstacles([String])

    var description: String {
        switch self {
        case .givenModel: "the model of the database comes from a file; change the file, and name it with --model"
        case .obstacles(let reasons): reasons.joined(separator: "; ")
        }
    }
}
