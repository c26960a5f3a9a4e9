import JSONMapper

/// One step of a scenario.
enum Step: Sendable {
    /// What a step does, named as scenarios name it.
    enum Kind: String, CaseIterable, Sendable {
        case sync, remote, importJSON, insert, update, delete, insertOrUpdate, updateByID, deleteByID, fill
        case expectCount, expectObject, expectByID, expectOrder, expectExport, expectModel, expectInflection, expectDate
    }

    /// JSON that stands in the scenario, or in a file.
    enum Payload: Sendable {
        case file(String)
        case inline(JSONValue)
    }

    struct Sync: Sendable {
        var entity: String
        /// One payload, or the pages of one.
        var pages: [Payload]
        var operations: [String]?
        var filter: JSONValue.Object?
        var parent: (entity: String, filter: JSONValue.Object)?
        var relationship: String?
        var willInsert: JSONValue.Object?
        var keyPath: String
        var removalLimit: JSONValue?
        var fails: Bool
        var expected: ExpectedResult?
    }

    /// A sync from a source that answers as it is told.
    struct Remote: Sendable {
        var sync: Sync
        var source: ScriptedSource
    }

    struct Export: Sendable {
        var entity: String
        var filter: JSONValue.Object
        var options: JSONValue
        var equals: JSONValue?
        var contains: JSONValue.Object?
        var keys: [String]?
        var absentKeys: [String]?
    }

    case sync(Sync)
    case remote(Remote)
    case importJSON(entity: String, json: Payload, fails: Bool, expected: ExpectedResult?)
    case insert(entity: String, values: JSONValue.Object, relationships: JSONValue.Object)
    case update(entity: String, filter: JSONValue.Object, values: JSONValue.Object)
    case delete(entity: String, filter: JSONValue.Object)
    case insertOrUpdate(entity: String, json: Payload, expected: ExpectedResult?)
    case updateByID(entity: String, id: JSONValue, json: Payload, isFound: Bool, expected: ExpectedResult?)
    case deleteByID(entity: String, id: JSONValue)
    case fill(entity: String, json: Payload, filter: JSONValue.Object?, changes: Bool)
    case expectCount(entity: String, filter: JSONValue.Object, count: Int)
    case expectObject(entity: String, filter: JSONValue.Object, values: JSONValue.Object)
    case expectByID(entity: String, id: JSONValue, values: JSONValue.Object?)
    case expectOrder(
        entity: String, filter: JSONValue.Object, relationship: String, attribute: String, equals: [JSONValue])
    case expectExport(Export)
    case expectModel(
        entity: String, localPrimaryKey: String??, remotePrimaryKey: String??, remoteKeys: JSONValue.Object)
    case expectInflection(function: String, input: String, equals: String?)
    case expectDate(input: JSONValue, equals: String?)

    static func kind(of value: JSONValue) throws -> Kind {
        let fields = JSONFields(value, of: "a step")
        guard fields.entries.count == 1, let key = fields.entries.first?.key, let kind = Kind(rawValue: key) else {
            throw fields.failure("with the keys \(fields.entries.map(\.key)), of which none or several are steps")
        }
        return kind
    }

    init(_ value: JSONValue) throws {
        let kind = try Self.kind(of: value)
        let fields = JSONFields(try JSONFields(value, of: "a step").value(kind.rawValue), of: kind.rawValue)
        let entity = { try fields.string("entity") }
        let filter = { try fields.object("where") }
        let optionalFilter = { try fields.optional("where") { _ in try filter() } }
        let values = { try fields.object("values") }
        let expected = { try fields.optional("expect") { try ExpectedResult($0) } }
        switch kind {
        case .sync:
            self = .sync(try Sync(fields, in: []))
        case .remote:
            self = .remote(
                Remote(sync: try Sync(fields, in: ScriptedSource.keys), source: try ScriptedSource(fields)))
        case .importJSON:
            try fields.allow("entity", "json", "fails", "expect")
            self = .importJSON(
                entity: try entity(), json: try Payload(fields.value("json")),
                fails: try fields.bool("fails", default: false), expected: try expected())
        case .insert:
            try fields.allow("entity", "values", "relationships")
            self = .insert(
                entity: try entity(), values: try values(),
                relationships: try fields.optional("relationships") { _ in try fields.object("relationships") } ?? [:])
        case .update:
            try fields.allow("entity", "where", "values")
            self = .update(entity: try entity(), filter: try filter(), values: try values())
        case .delete:
            try fields.allow("entity", "where")
            self = .delete(entity: try entity(), filter: try filter())
        case .insertOrUpdate:
            try fields.allow("entity", "json", "expect")
            self = .insertOrUpdate(
                entity: try entity(), json: try Payload(fields.value("json")), expected: try expected())
        case .updateByID:
            try fields.allow("entity", "id", "json", "found", "expect")
            self = .updateByID(
                entity: try entity(), id: try fields.value("id"), json: try Payload(fields.value("json")),
                isFound: try fields.bool("found", default: true), expected: try expected())
        case .deleteByID:
            try fields.allow("entity", "id")
            self = .deleteByID(entity: try entity(), id: try fields.value("id"))
        case .fill:
            try fields.allow("entity", "json", "where", "changes")
            self = .fill(
                entity: try entity(), json: try Payload(fields.value("json")), filter: try optionalFilter(),
                changes: try fields.bool("changes", default: true))
        case .expectCount:
            try fields.allow("entity", "where", "count")
            guard case .integer(let count) = try fields.value("count") else {
                throw fields.failure("count is no number")
            }
            self = .expectCount(entity: try entity(), filter: try optionalFilter() ?? [:], count: Int(count))
        case .expectObject:
            try fields.allow("entity", "where", "values")
            self = .expectObject(entity: try entity(), filter: try filter(), values: try values())
        case .expectByID:
            try fields.allow("entity", "id", "values")
            self = .expectByID(
                entity: try entity(), id: try fields.value("id"),
                values: try fields.value("values") == .null ? nil : try values())
        case .expectOrder:
            try fields.allow("entity", "where", "relationship", "attribute", "equals")
            self = .expectOrder(
                entity: try entity(), filter: try filter(), relationship: try fields.string("relationship"),
                attribute: try fields.string("attribute"), equals: try fields.array("equals"))
        case .expectExport:
            try fields.allow("entity", "where", "options", "equals", "contains", "keys", "absentKeys")
            self = .expectExport(
                Export(
                    entity: try entity(), filter: try filter(),
                    options: fields.optional("options") { $0 } ?? .object([:]),
                    equals: fields.optional("equals") { $0 },
                    contains: try fields.optional("contains") { _ in try fields.object("contains") },
                    keys: try fields.strings("keys"), absentKeys: try fields.strings("absentKeys")))
        case .expectModel:
            try fields.allow("entity", "localPrimaryKey", "remotePrimaryKey", "remoteKeys")
            self = .expectModel(
                entity: try entity(), localPrimaryKey: try fields.expectedText("localPrimaryKey"),
                remotePrimaryKey: try fields.expectedText("remotePrimaryKey"),
                remoteKeys: try fields.optional("remoteKeys") { _ in try fields.object("remoteKeys") } ?? [:])
        case .expectInflection:
            try fields.allow("function", "input", "equals")
            self = .expectInflection(
                function: try fields.string("function"), input: try fields.string("input"),
                equals: try fields.expectedText("equals") ?? nil)
        case .expectDate:
            try fields.allow("input", "equals")
            self = .expectDate(input: try fields.value("input"), equals: try fields.expectedText("equals") ?? nil)
        }
    }
}

extension Step.Sync {
    /// - Parameter others: Keys of the step that are read elsewhere; a step that has them has no
    ///   payload of its own.
    fileprivate init(_ fields: JSONFields, in others: [String]) throws {
        try fields.allow(
            [
                "entity", "operations", "where", "parent", "relationship", "willInsert", "keyPath", "removalLimit",
                "fails", "expect",
            ] + (others.isEmpty ? ["json", "pages"] : others))
        entity = try fields.string("entity")
        pages =
            try !others.isEmpty
            ? []
            : fields.optional("pages") { _ in try fields.array("pages").map { Step.Payload($0) } }
                ?? [Step.Payload(fields.value("json"))]
        operations = try fields.strings("operations")
        filter = try fields.optional("where") { _ in try fields.object("where") }
        parent = try fields.optional("parent") { parent in
            let parent = JSONFields(parent, of: "parent")
            return (try parent.string("entity"), try parent.object("where"))
        }
        relationship = try fields.optional("relationship") { _ in try fields.string("relationship") }
        willInsert = try fields.optional("willInsert") { _ in try fields.object("willInsert") }
        keyPath = try fields.optional("keyPath") { _ in try fields.string("keyPath") } ?? ""
        removalLimit = fields.optional("removalLimit") { $0 }
        fails = try fields.bool("fails", default: false)
        expected = try fields.optional("expect") { try ExpectedResult($0) }
    }
}

extension Step.Payload {
    init(_ value: JSONValue) {
        if case .string(let name) = value { self = .file(name) } else { self = .inline(value) }
    }
}

extension JSONFields {
    /// Nil where nothing is expected, nil inside where null is.
    fileprivate func expectedText(_ key: String) throws -> String?? {
        try optional(key) { value in value == .null ? nil : try string(key) }
    }
}
