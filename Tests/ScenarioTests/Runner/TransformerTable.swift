import JSONMapper

/// A named transformer as a table of examples: every input that the scenarios of its file feed it,
/// with the output.
struct TransformerTable: Sendable {
    let name: String
    let forward: [(input: JSONValue, output: JSONValue)]
    /// Nil for a one-way transformer.
    let reverse: [(input: JSONValue, output: JSONValue)]?

    static func tables(of value: JSONValue) throws -> [String: TransformerTable] {
        var tables: [String: TransformerTable] = [:]
        for (name, value) in JSONFields(value, of: "transformers").entries {
            let fields = JSONFields(value, of: name)
            try fields.allow("forward", "reverse", "note")
            let pairs = { (key: String) in
                try fields.array(key).map { pair in
                    guard let input = pair[0], let output = pair[1] else {
                        throw fields.failure("an example is no pair")
                    }
                    return (input: input, output: output)
                }
            }
            tables[name] = TransformerTable(
                name: name, forward: try pairs("forward"),
                reverse: try fields.optional("reverse") { _ in try pairs("reverse") })
        }
        return tables
    }

    struct Missing: Error {
        let transformer: String
        let input: JSONValue
    }

    func transform(_ input: JSONValue) throws -> JSONValue {
        try Self.find(input, in: forward, of: name)
    }

    func reverse(_ input: JSONValue) throws -> JSONValue {
        try Self.find(input, in: reverse ?? [], of: name)
    }

    private static func find(
        _ input: JSONValue, in examples: [(input: JSONValue, output: JSONValue)], of name: String
    ) throws -> JSONValue {
        guard let example = examples.first(where: { $0.input == input }) else {
            throw Missing(transformer: name, input: input)
        }
        return example.output
    }
}
