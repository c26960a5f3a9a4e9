import JSONMapper
import SyncModel
import Testing

/// A model, some JSON, a list of steps, and what must be true after them.
struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let file: String
    let area: String
    let modelName: String?
    let dialect: JSONDialect
    let transformers: [TransformerTable]
    /// As they are written: a step that the runner does not understand makes its own scenario fail, and no other.
    let steps: [JSONValue]

    init(_ value: JSONValue, file: String, tables: [String: TransformerTable]) throws {
        let fields = JSONFields(value, of: file)
        try fields.allow("name", "origin", "note", "area", "model", "dialect", "transformers", "steps")
        name = try fields.string("name")
        area = try fields.string("area")
        self.file = file
        modelName = try fields.optional("model") { _ in try fields.string("model") }
        switch try fields.optional("dialect", { _ in try fields.string("dialect") }) ?? "sync" {
        case "sync": dialect = .sync
        case "groot": dialect = .groot
        case let other: throw fields.failure("has the unknown dialect \(other)")
        }
        transformers = try (fields.strings("transformers") ?? []).map { name in
            guard let table = tables[name] else { throw fields.failure("has no table of the transformer \(name)") }
            return table
        }
        steps = try fields.array("steps")
    }

    var testDescription: String {
        "\(file): \(name)"
    }
}
