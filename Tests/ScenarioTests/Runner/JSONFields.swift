import JSONMapper

/// An object of a scenario file on its way into a type, with an account of the keys that were asked
/// for.
struct JSONFields {
    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    let context: String
    private let object: JSONValue.Object?

    init(_ value: JSONValue, of context: String) {
        self.context = context
        if case .object(let object) = value { self.object = object } else { object = nil }
    }

    var entries: [JSONValue.Object.Entry] {
        object?.entries ?? []
    }

    func failure(_ text: String) -> Malformed {
        Malformed(description: "\(context): \(text)")
    }

    func value(_ key: String) throws -> JSONValue {
        guard let object else { throw failure("is no object") }
        guard let value = object[key] else { throw failure("lacks \(key)") }
        return value
    }

    func optional<T>(_ key: String, _ read: (JSONValue) throws -> T) rethrows -> T? {
        try object?[key].map(read)
    }

    func string(_ key: String) throws -> String {
        guard case .string(let text) = try value(key) else { throw failure("\(key) is no string") }
        return text
    }

    func bool(_ key: String, default other: Bool) throws -> Bool {
        guard let value = object?[key] else { return other }
        guard case .bool(let flag) = value else { throw failure("\(key) is no boolean") }
        return flag
    }

    func array(_ key: String) throws -> [JSONValue] {
        guard case .array(let elements) = try value(key) else { throw failure("\(key) is no array") }
        return elements
    }

    func strings(_ key: String) throws -> [String]? {
        guard object?[key] != nil else { return nil }
        return try array(key).map { element in
            guard case .string(let text) = element else { throw failure("\(key) holds something else than strings") }
            return text
        }
    }

    func object(_ key: String) throws -> JSONValue.Object {
        guard case .object(let object) = try value(key) else { throw failure("\(key) is no object") }
        return object
    }

    /// Fails where the object has a key that is none of these, so that nothing a scenario asks for
    /// is passed over.
    func allow(_ keys: String...) throws {
        try allow(keys)
    }

    func allow(_ keys: [String]) throws {
        for (key, _) in entries where !keys.contains(key) {
            throw failure("has a key \(key) that the runner does not know")
        }
    }
}
