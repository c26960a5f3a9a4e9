import JSONMapper
import OneWaySynchronizer
import StoreSync
import SyncModel
import SyncStore
import SyncStoreTesting

/// Runs the steps of a scenario on a store, up to the first expectation that does not hold.
struct ScenarioRunner {
    private let scenario: StoreScenario
    private let world: ScenarioWorld?

    init(_ scenario: StoreScenario) throws {
        self.scenario = scenario
        world = try scenario.modelName.map { name in
            ScenarioWorld(
                model: try scenario.dialect.identified(try scenario.folder.model(name)), dialect: scenario.dialect,
                transformers: scenario.transformers)
        }
    }

    func run(_ makeStore: StoreConformance.MakeStore) async throws {
        let steps = try scenario.steps.map { try Step($0) }
        var subject: StoreSubject?
        if let world { subject = try StoreSubject(world, try await makeStore(world.model)) }
        for (index, step) in steps.enumerated() {
            do {
                try await run(step, on: subject)
            } catch {
                throw ScenarioFailed(description: "step \(index + 1): \(error)")
            }
        }
    }

    private func run(_ step: Step, on subject: StoreSubject?) async throws {
        switch step {
        case .expectInflection(let function, let input, let equals):
            try expect(try Self.inflect(input, function), equals, "\(function) of \(input)")
        case .expectDate(let input, let equals):
            try expect(Self.milliseconds(input), try equals.flatMap { try Self.milliseconds(.string($0)) }, "\(input)")
        default:
            let subject = try found(subject, "a model, which the scenario must name")
            try await run(step, on: subject, ScenarioValues(model: subject.world.model))
        }
    }

    private func run(_ step: Step, on subject: StoreSubject, _ values: ScenarioValues) async throws {
        switch step {
        case .sync(let sync):
            let request = try self.request(sync, values)
            try await run(fails: sync.fails, on: subject) {
                try check(try await subject.sync(request), sync.expected, of: sync.entity, values)
            }
        case .remote(let remote):
            let request = try self.request(remote.sync, values)
            try await run(fails: remote.sync.fails, on: subject) {
                let result = try await subject.sync(request, from: remote.source)
                try check(result, remote.sync.expected, of: request.entity, values)
                if let count = remote.sync.expected?.pageCount {
                    try expect(result.pageCount, count, "the number of pages read")
                }
            }
        case .importJSON(let entity, let json, let fails, let expected):
            let json = try bytes(json)
            try await run(fails: fails, on: subject) {
                try check(try await subject.importJSON(entity, json: json), expected, of: entity, values)
            }
        case .insert(let entity, let attributes, let relationships):
            let layout = try values.model.layout(of: entity)
            var targets: [String: [RecordPredicate]] = [:]
            for (name, filter) in relationships.entries {
                let relationship = try found(layout.relationship(name), "\(entity).\(name)")
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
        case .insertOrUpdate(let entity, let json, let expected):
            let result = try await subject.insertOrUpdate(entity, json: try bytes(json))
            try check(result, expected, of: entity, values)
        case .updateByID(let entity, let id, let json, let isFound, let expected):
            let result = try await subject.update(entity, id: try key(id, of: entity, values), json: try bytes(json))
            try expect(result != nil, isFound, "whether an object of the key was found")
            if let result { try check(result, expected, of: entity, values) }
        case .deleteByID(let entity, let id):
            try await subject.delete(entity, id: try key(id, of: entity, values))
        case .fill(let entity, let json, let filter, let changes):
            let isChanged = try await subject.fill(
                entity, where: try filter.map { try values.predicate($0, of: entity) }, json: try bytes(json))
            try expect(changes || !isChanged, true, "whether it changes nothing")
        default:
            try await examine(step, of: subject, values)
        }
    }

    // MARK: Expectations

    private func examine(_ step: Step, of subject: StoreSubject, _ values: ScenarioValues) async throws {
        switch step {
        case .expectCount(let entity, let filter, let count):
            let number = try await subject.count(entity, where: try values.predicate(filter, of: entity))
            try expect(number, count, "the number of \(entity) where \(filter.entries)")
        case .expectObject(let entity, let filter, let expected):
            try await examine(expected, where: try values.predicate(filter, of: entity), of: entity, subject, values)
        case .expectByID(let entity, let id, let expected):
            let layout = try values.model.layout(of: entity)
            let column = try found(layout.identityColumns.first, "a primary key of \(entity)")
            let predicate = PropertyPath(layout.attributes[column].name) == (try key(id, of: entity, values))
            guard let expected else {
                let count = try await subject.count(entity, where: predicate)
                return try expect(count, 0, "the number of \(entity) \(id)")
            }
            try await examine(expected, where: predicate, of: entity, subject, values)
        case .expectOrder(let entity, let filter, let relationship, let attribute, let expected):
            let layout = try values.model.layout(of: entity)
            let destination = values.model.layouts[
                try found(layout.relationship(relationship), "\(entity).\(relationship)").destination]
            let members = try await subject.members(
                entity, where: try values.predicate(filter, of: entity), relationship: relationship,
                attribute: attribute)
            let column = try found(destination.column(of: attribute), "\(destination.name).\(attribute)")
            let type = destination.attributes[column].type
            try expect(
                members, try expected.map { try values.value($0, for: type) },
                "\(entity).\(relationship) by \(attribute)")
        case .expectExport(let export):
            try await examine(export, of: subject, values)
        case .expectModel(let entity, let localPrimaryKey, let remotePrimaryKey, let remoteKeys):
            let layout = try values.model.layout(of: entity)
            let keys = EntityKeys(layout, in: values.model, dialect: scenario.dialect)
            if let localPrimaryKey { try expect(keys.localPrimaryKey, localPrimaryKey, "the primary key of \(entity)") }
            if let remotePrimaryKey {
                try expect(keys.remotePrimaryKey, remotePrimaryKey, "the remote key of \(entity)")
            }
            for (attribute, key) in remoteKeys.entries {
                let path = keys.attribute(attribute)?.path()?.joined(separator: ".")
                try expect(path.map { .string($0) }, key, "the remote key of \(entity).\(attribute)")
            }
        default:
            // Steps without a model have been run before.
            break
        }
    }

    private func examine(
        _ expected: JSONValue.Object, where predicate: RecordPredicate, of entity: String, _ subject: StoreSubject,
        _ values: ScenarioValues
    ) async throws {
        let keys = expected.entries.map(\.key)
        let rows = try await subject.values(entity, where: predicate, at: keys)
        try expect(rows.count, 1, "the number of \(entity) where \(predicate)")
        for (stored, (key, value)) in zip(rows[0], expected.entries) {
            guard try values.isEqual(stored, to: value, at: key, of: entity) else {
                throw ScenarioFailed(description: "\(entity).\(key): found \(stored), expected \(value)")
            }
        }
    }

    private func examine(_ export: Step.Export, of subject: StoreSubject, _ values: ScenarioValues) async throws {
        let bytes = try await subject.export(
            export.entity, where: try values.predicate(export.filter, of: export.entity),
            options: try RecordMapper.Exporter.Options(scenario: export.options, dialect: scenario.dialect))
        let text = String(decoding: bytes, as: UTF8.self)
        let json = try JSONValue(parsing: bytes)
        guard case .object(let object) = json else {
            throw ScenarioFailed(description: "the export is no object: \(text)")
        }
        if let equals = export.equals, !json.isEquivalent(to: equals) {
            throw ScenarioFailed(description: "the export: found \(text), expected \(equals)")
        }
        for (key, value) in export.contains?.entries ?? [] {
            let exported = try found(object[key], "\(key) in \(text)")
            guard exported.isEquivalent(to: value) else {
                throw ScenarioFailed(description: "\(key): found \(exported), expected \(value)")
            }
        }
        if let keys = export.keys {
            try expect(object.entries.map(\.key).sorted(), keys.sorted(), "the keys of \(text)")
        }
        for key in export.absentKeys ?? [] {
            try expect(object[key] == nil, true, "whether \(key) is absent in \(text)")
        }
    }

    // MARK: Terms of a scenario

    private func check(
        _ result: StoreSyncResult, _ expected: ExpectedResult?, of entity: String, _ values: ScenarioValues
    ) throws {
        guard let expected else { return }
        try expected.check(result, of: entity, values)
    }

    private func request(_ sync: Step.Sync, _ values: ScenarioValues) throws -> SyncRequest {
        var options = StoreSyncOptions(keyPath: sync.keyPath, reportsKeys: sync.expected?.keys != nil)
        if let names = sync.operations {
            options.operations = try names.reduce(into: []) {
                try $0.formUnion(StoreSyncOptions.Operations(scenario: $1))
            }
        }
        if let filter = sync.filter { options.scope = try values.predicate(filter, of: sync.entity) }
        options.removalLimit = try sync.removalLimit.map { try RemovalLimit(scenario: $0) }
        if let added = sync.willInsert {
            options.willInsert = { object, _ in
                var object = object
                for (key, value) in added.entries { object[key] = value }
                return object
            }
        }
        let parent = try sync.parent.map { parent in
            StoreSyncOptions.Parent(
                parent.entity, where: try values.predicate(parent.filter, of: parent.entity),
                relationship: sync.relationship)
        }
        return SyncRequest(
            entity: sync.entity, pages: try sync.pages.map { try bytes($0) }, options: options, parent: parent)
    }

    private func bytes(_ payload: Step.Payload) throws -> [UInt8] {
        switch payload {
        case .file(let name): try scenario.folder.bytes(of: "json/\(name)")
        case .inline(let value): try value.bytes
        }
    }

    private func local(
        _ attributes: JSONValue.Object, of entity: String, _ values: ScenarioValues
    ) throws -> [String: AttributeValue] {
        let layout = try values.model.layout(of: entity)
        var result: [String: AttributeValue] = [:]
        for (name, value) in attributes.entries {
            let column = try found(layout.column(of: name), "\(entity).\(name)")
            result[name] = try values.value(value, for: layout.attributes[column].type)
        }
        return result
    }

    private func key(_ id: JSONValue, of entity: String, _ values: ScenarioValues) throws -> AttributeValue {
        let layout = try values.model.layout(of: entity)
        let column = try found(layout.identityColumns.first, "a primary key of \(entity)")
        return try values.value(id, for: layout.attributes[column].type)
    }

    /// A step that must fail, if it says so, and then leave all as it was.
    private func run(fails: Bool, on subject: StoreSubject, _ body: () async throws -> Void) async throws {
        guard fails else { return try await body() }
        let before = try await subject.state()
        do {
            try await body()
        } catch {
            return try expect(try await subject.state(), before, "what the store holds after a failure")
        }
        throw ScenarioFailed(description: "nothing was thrown")
    }

    private func found<T>(_ value: T?, _ what: String) throws -> T {
        guard let value else { throw ScenarioFailed(description: "there is no \(what)") }
        return value
    }

    private static func inflect(_ input: String, _ function: String) throws -> String? {
        switch function {
        case "camelCase": JSONKey.camelCase(input)
        case "snakeCase": JSONKey.snakeCase(input)
        default: throw JSONFields.Malformed(description: "unknown inflection \(function)")
        }
    }

    private static func milliseconds(_ input: JSONValue) throws -> Int64? {
        let reader = JSONReader(bytes: try JSONValue.array([input]).bytes)
        let microseconds = try reader.next { cursor in
            switch try cursor.kind() {
            case .string: DateText.microseconds(try cursor.readString())
            case .number: DateText.microseconds(try cursor.readNumber())
            default: Int64?.none
            }
        }
        return microseconds?.map { ($0 - ($0 % 1000 + 1000) % 1000) / 1000 }
    }
}

extension JSONValue {
    /// An object, or the objects of an array.
    fileprivate var asObjects: [JSONValue.Object] {
        switch self {
        case .object(let object): [object]
        case .array(let elements): elements.flatMap(\.asObjects)
        default: []
        }
    }
}

extension StoreSyncOptions.Operations {
    fileprivate init(scenario name: String) throws {
        switch name {
        case "insert": self = .insert
        case "update": self = .update
        case "delete": self = .delete
        case "insertRelationships": self = .insertRelationships
        case "updateRelationships": self = .updateRelationships
        case "deleteRelationships": self = .deleteRelationships
        default: throw JSONFields.Malformed(description: "unknown operation \(name)")
        }
    }
}

extension RemovalLimit {
    fileprivate init(scenario limit: JSONValue) throws {
        let fields = JSONFields(limit, of: "removalLimit")
        try fields.allow("count", "fraction", "withholds")
        self.init(action: try fields.bool("withholds", default: false) ? .keep : .abort)
        if case .integer(let number)? = fields.optional("count", { $0 }) { count = Int(number) }
        if case .double(let share)? = fields.optional("fraction", { $0 }) { fraction = share }
    }
}

extension RecordMapper.Exporter.Options {
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
        } else {
            // The ancestors' default.
            dateFormat = .iso8601Seconds
        }
    }
}
