import JSONMapper

/// One step of a scenario.
enum Step: Sendable {
    /// What a step does, named as scenarios name it.
    enum Kind: String, CaseIterable, Sendable {
        case sync, importJSON, insert, update, delete, insertOrUpdate, updateByID, deleteByID, fill
        case expectCount, expectObject, expectByID, expectOrder, expectExport, expectModel, expectInflection, expectDate
    }

    /// JSON that stands in the scenario, or in a file.
    enum Payload: Sendable {
        case file(String)
        case inline(JSONValue)
    }

    struct Sync: Sendable {
        var entity: String
        var json: Payload
        var operations: [String]?
        var filter: JSONObject?
        var parent: (entity: String, filter: JSONObject)?
        var relationship: String?
        var willInsert: JSONObject?
        var fails: Bool
    }

    struct Export: Sendable {
        var entity: String
        var filter: JSONObject
        var options: JSONValue
        var equals: JSONValue?
        var contains: JSONObject?
        var keys: [String]?
        var absentKeys: [String]?
    }

    case sync(Sync)
    case importJSON(entity: String, json: Payload, fails: Bool)
    case insert(entity: String, values: JSONObject, relationships: JSONObject)
    case update(entity: String, filter: JSONObject, values: JSONObject)
    case delete(entity: String, filter: JSONObject)
    case insertOrUpdate(entity: String, json: Payload)
    case updateByID(entity: String, id: JSONValue, json: Payload, isFound: Bool)
    case deleteByID(entity: String, id: JSONValue)
    case fill(entity: String, json: Payload, filter: JSONObject?, changes: Bool)
    case expectCount(entity: String, filter: JSONObject, count: Int)
    case expectObject(entity: String, filter: JSONObject, values: JSONObject)
    case expectByID(entity: String, id: JSONValue, values: JSONObject?)
    case expectOrder(entity: String, filter: JSONObject, relationship: String, attribute: String, equals: [JSONValue])
    case expectExport(Export)
    case expectModel(
        entity: String, localPrimaryKey: String??, remotePrimaryKey: String??, remoteKeys: JSONObject)
    case expectInflection(function: String, input: String, equals: String?)
    case expectDate(input: JSONValue, equals: String?)

    /// The JSON that it maps.
    var payload: Payload? {
        switch self {
        case .sync(let sync): sync.json
        case .importJSON(_, let json, _), .insertOrUpdate(_, let json), .updateByID(_, _, let json, _),
            .fill(_, let json, _, _):
            json
        default: nil
        }
    }

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
        switch kind {
        case .sync:
            try fields.allow(
                "entity", "json", "operations", "where", "parent", "relationship", "willInsert", "fails")
            self = .sync(
                Sync(
                    entity: try entity(), json: try Payload(fields.value("json")),
                    operations: try fields.strings("operations"), filter: try optionalFilter(),
                    parent: try fields.optional("parent") { parent in
                        let parent = JSONFields(parent, of: "parent")
                        return (try parent.string("entity"), try parent.object("where"))
                    }, relationship: try fields.optional("relationship") { _ in try fields.string("relationship") },
                    willInsert: try fields.optional("willInsert") { _ in try fields.object("willInsert") },
                    fails: try fields.bool("fails", default: false)))
        case .importJSON:
            try fields.allow("entity", "json", "fails")
            self = .importJSON(
                entity: try entity(), json: try Payload(fields.value("json")),
                fails: try fields.bool("fails", default: false))
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
            try fields.allow("entity", "json")
            self = .insertOrUpdate(entity: try entity(), json: try Payload(fields.value("json")))
        case .updateByID:
            try fields.allow("entity", "id", "json", "found")
            self = .updateByID(
                entity: try entity(), id: try fields.value("id"), json: try Payload(fields.value("json")),
                isFound: try fields.bool("found", default: true))
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

extension Step.Payload {
    fileprivate init(_ value: JSONValue) {
        if case .string(let name) = value { self = .file(name) } else { self = .inline(value) }
    }
}

extension JSONFields {
    /// Nil where nothing is expected, nil inside where null is.
    fileprivate func expectedText(_ key: String) throws -> String?? {
        try optional(key) { value in value == .null ? nil : try string(key) }
    }
}
