import Foundation
import JSONMapper
import SyncModel
import Testing

/// Runs the steps of a scenario on a store, up to the first expectation that does not hold.
struct ScenarioRunner {
    let corpus: Corpus
    let scenario: Scenario
    private let kind: StoreKind
    private let world: ScenarioWorld?

    init(_ scenario: Scenario, of corpus: Corpus, on kind: StoreKind) throws {
        self.corpus = corpus
        self.scenario = scenario
        self.kind = kind
        let model = try scenario.modelName.map { try corpus.model($0) }
        world = try model.map { model in
            ScenarioWorld(
                model: try scenario.dialect.identified(model), dialect: scenario.dialect,
                transformers: scenario.transformers)
        }
    }

    func run() async throws {
        let steps = try scenario.steps.map { try Step($0) }
        var subject: StoreSubject?
        if let world { subject = try StoreSubject(world, try await kind.make(world.model)) }
        for (index, step) in steps.enumerated() {
            do {
                try await run(step, on: subject)
            } catch let error as ExpectationFailedError {
                throw error
            } catch {
                Issue.record(error, "step \(index + 1) of \(scenario.testDescription)")
                return
            }
        }
    }

    private func run(_ step: Step, on subject: StoreSubject?) async throws {
        switch step {
        case .expectInflection(let function, let input, let equals):
            try #require(try Self.inflect(input, function) == equals, "\(function) of \(input)")
        case .expectDate(let input, let equals):
            try #require(Self.milliseconds(input) == equals.flatMap { DateParser.milliseconds($0) }, "\(input)")
        default:
            let subject = try #require(subject, "the scenario names no model")
            let values = ScenarioValues(model: try #require(world).model)
            try await run(step, on: subject, values)
        }
    }

    private func run(_ step: Step, on subject: StoreSubject, _ values: ScenarioValues) async throws {
        switch step {
        case .sync(let sync):
            let request = SyncRequest(
                entity: sync.entity, json: try bytes(sync.json), operations: sync.operations,
                filter: try sync.filter.map { try values.predicate($0, of: sync.entity) },
                parent: try sync.parent.map { ($0.entity, try values.predicate($0.filter, of: $0.entity)) },
                relationship: sync.relationship, willInsert: sync.willInsert)
            try await Self.run(fails: sync.fails) { try await subject.sync(request) }
        case .importJSON(let entity, let json, let fails):
            let json = try bytes(json)
            try await Self.run(fails: fails) { try await subject.importJSON(entity, json: json) }
        case .insert(let entity, let attributes, let relationships):
            let layout = try values.model.layout(of: entity)
            var targets: [String: [RecordPredicate]] = [:]
            for (name, filter) in relationships.entries {
                let relationship = try #require(layout.relationship(name), "\(entity).\(name)")
                let destination = values.model.layouts[relationship.destination].name
                targets[name] = try filter.asObjects.map { try values.predicate($0, of: destination) }
            }
            try await subject.insert(
                entity, values: try local(attributes, of: entity, values), relationships: targets)
        case .update(let entity, let filter, let attributes):
            try await subject.update(
                entity, where: try values.predicate(filter, of: entity),
                values: try local(attributes, of: entity, values))
        case .delete(let entity, let filter):
            try await subject.delete(entity, where: try values.predicate(filter, of: entity))
        case .insertOrUpdate(let entity, let json):
            try await subject.insertOrUpdate(entity, json: try bytes(json))
        case .updateByID(let entity, let id, let json, let isFound):
            let found = try await subject.update(entity, id: try key(id, of: entity, values), json: try bytes(json))
            try #require(found == isFound, "an object of the key was found: \(found)")
        case .deleteByID(let entity, let id):
            try await subject.delete(entity, id: try key(id, of: entity, values))
        case .fill(let entity, let json, let filter, let changes):
            let isChanged = try await subject.fill(
                entity, where: try filter.map { try values.predicate($0, of: entity) }, json: try bytes(json))
            try #require(changes || !isChanged, "something counts as modified")
        default:
            try await expect(step, of: subject, values)
        }
    }

    // MARK: Expectations

    private func expect(_ step: Step, of subject: StoreSubject, _ values: ScenarioValues) async throws {
        switch step {
        case .expectCount(let entity, let filter, let count):
            let found = try await subject.count(entity, where: try values.predicate(filter, of: entity))
            try #require(found == count, "\(entity) where \(filter.entries)")
        case .expectObject(let entity, let filter, let expected):
            try await expect(expected, where: try values.predicate(filter, of: entity), of: entity, subject, values)
        case .expectByID(let entity, let id, let expected):
            let layout = try values.model.layout(of: entity)
            let slot = try #require(layout.identitySlots.first, "\(entity) has no primary key")
            let predicate = Key(layout.attributes[slot].name) == (try key(id, of: entity, values))
            guard let expected else {
                let count = try await subject.count(entity, where: predicate)
                return try #require(count == 0, "\(entity) \(id)")
            }
            try await expect(expected, where: predicate, of: entity, subject, values)
        case .expectOrder(let entity, let filter, let relationship, let attribute, let expected):
            let layout = try values.model.layout(of: entity)
            let destination = values.model.layouts[try #require(layout.relationship(relationship)).destination]
            let found = try await subject.members(
                entity, where: try values.predicate(filter, of: entity), relationship: relationship,
                attribute: attribute)
            let type = destination.attributes[try #require(destination.slot(of: attribute))].type
            try #require(found == (try expected.map { try values.value($0, for: type) }))
        case .expectExport(let export):
            try await expect(export, of: subject, values)
        case .expectModel(let entity, let localPrimaryKey, let remotePrimaryKey, let remoteKeys):
            let layout = try values.model.layout(of: entity)
            let keys = EntityKeys(layout, in: values.model, dialect: scenario.dialect)
            if let localPrimaryKey { try #require(keys.localPrimaryKey == localPrimaryKey, "\(entity)") }
            if let remotePrimaryKey { try #require(keys.remotePrimaryKey == remotePrimaryKey, "\(entity)") }
            for (attribute, key) in remoteKeys.entries {
                let path = keys.attribute(attribute)?.path()?.joined(separator: ".")
                try #require(path.map { .string($0) } == key, "\(entity).\(attribute)")
            }
        default:
            // Steps without a model have been run before.
            break
        }
    }

    private func expect(
        _ expected: JSONObject, where predicate: RecordPredicate, of entity: String, _ subject: StoreSubject,
        _ values: ScenarioValues
    ) async throws {
        let keys = expected.entries.map(\.key)
        let rows = try await subject.values(entity, where: predicate, at: keys)
        try #require(rows.count == 1, "there are \(rows.count) \(entity) where \(predicate)")
        for (found, (key, value)) in zip(rows[0], expected.entries) {
            try #require(
                try values.isEqual(found, to: value, at: key, of: entity), "\(entity).\(key) is \(found), not \(value)")
        }
    }

    private func expect(_ export: Step.Export, of subject: StoreSubject, _ values: ScenarioValues) async throws {
        let bytes = try await subject.export(
            export.entity, where: try values.predicate(export.filter, of: export.entity),
            options: try ExportOptions(scenario: export.options, dialect: scenario.dialect))
        let text = String(decoding: bytes, as: UTF8.self)
        let json = try JSONValue(parsing: bytes)
        guard case .object(let object) = json else {
            Issue.record("the export is no object: \(text)")
            return
        }
        if let equals = export.equals {
            try #require(json.isEquivalent(to: equals), "\(text)")
        }
        for (key, value) in export.contains?.entries ?? [] {
            let found = try #require(object[key], "\(key) is missing in \(text)")
            try #require(found.isEquivalent(to: value), "\(key) is \(found), not \(value)")
        }
        if let keys = export.keys {
            try #require(object.entries.map(\.key).sorted() == keys.sorted(), "\(text)")
        }
        for key in export.absentKeys ?? [] {
            try #require(object[key] == nil, "\(key) is in \(text)")
        }
    }

    // MARK: Terms of a scenario

    private func bytes(_ payload: Step.Payload) throws -> [UInt8] {
        switch payload {
        case .file(let name): try corpus.bytes(of: "json/\(name)")
        case .inline(let value): try value.bytes
        }
    }

    private func local(
        _ attributes: JSONObject, of entity: String, _ values: ScenarioValues
    ) throws -> [String: Value] {
        let layout = try values.model.layout(of: entity)
        var result: [String: Value] = [:]
        for (name, value) in attributes.entries {
            let slot = try #require(layout.slot(of: name), "\(entity).\(name)")
            result[name] = try values.value(value, for: layout.attributes[slot].type)
        }
        return result
    }

    private func key(_ id: JSONValue, of entity: String, _ values: ScenarioValues) throws -> Value {
        let layout = try values.model.layout(of: entity)
        let slot = try #require(layout.identitySlots.first, "\(entity) has no primary key")
        return try values.value(id, for: layout.attributes[slot].type)
    }

    private static func run(fails: Bool, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard fails else { throw error }
            return
        }
        try #require(!fails, "the step did not fail")
    }

    private static func inflect(_ input: String, _ function: String) throws -> String? {
        switch function {
        case "camelCase": JSONKey.camelCase(input)
        case "snakeCase": JSONKey.snakeCase(input)
        default: throw JSONFields.Malformed(description: "unknown inflection \(function)")
        }
    }

    private static func milliseconds(_ input: JSONValue) -> Int64? {
        switch input {
        case .string(let text): DateParser.milliseconds(text)
        case .integer(let number): DateParser.milliseconds(number)
        case .double(let number): DateParser.milliseconds(number)
        default: nil
        }
    }
}

extension JSONValue {
    /// An object, or the objects of an array.
    fileprivate var asObjects: [JSONObject] {
        switch self {
        case .object(let object): [object]
        case .array(let elements): elements.flatMap(\.asObjects)
        default: []
        }
    }
}

extension ExportOptions {
    /// The options of an `expectExport` step.
    fileprivate init(scenario options: JSONValue, dialect: JSONDialect) throws {
        let fields = JSONFields(options, of: "options")
        try fields.allow("inflection", "relationships", "dateFormat")
        self.init()
        switch try fields.optional("inflection", { _ in try fields.string("inflection") }) {
        case nil, "snakeCase": keyStyle = .snakeCase
        case "camelCase": keyStyle = .camelCase
        case .some(let other): throw fields.failure("unknown inflection \(other)")
        }
        switch try fields.optional("relationships", { _ in try fields.string("relationships") }) {
        case nil, "array": relationships = .array
        case "nested": relationships = .nested
        case "none": relationships = .none
        case .some(let other): throw fields.failure("unknown form of relationships \(other)")
        }
        if let pattern = try fields.optional("dateFormat", { _ in try fields.string("dateFormat") }) {
            dateFormat = .pattern(pattern)
        }
    }
}
