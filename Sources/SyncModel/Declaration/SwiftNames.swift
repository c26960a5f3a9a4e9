/// The Swift names of the entities and properties of a model, each unique in its scope.
struct SwiftNames {
    private var types: [String: String] = [:]
    private var properties: [String: [String: String]] = [:]

    init(_ layouts: [EntityLayout]) {
        var taken = Self.usedTypes
        for layout in layouts {
            let plain = Self.plain(layout.name)
            let isFree = !taken.contains(plain) && !Self.keywords.contains(plain)
            types[layout.name] = Self.unused(isFree ? plain : "\(plain)Object", &taken)
        }
        // A property with the name of a type hides that type. The other names have a meaning of
        // their own after a type or in a key path.
        let reserved = taken.union(["self", "init", "CodingKeys"])
        for layout in layouts {
            var identifiers: [String: String] = [:]
            var known = reserved
            for name in layout.attributes.map(\.name) + layout.relationships.map(\.name) {
                let identifier = Self.unused(Self.plain(name), &known)
                identifiers[name] = Self.keywords.contains(identifier) ? "`\(identifier)`" : identifier
            }
            properties[layout.name] = identifiers
        }
    }

    /// The name of the type of an entity.
    func type(of entity: String) -> String { types[entity] ?? entity }

    /// The identifiers of an entity's properties, inherited ones included.
    func properties(of entity: String) -> [String: String] { properties[entity] ?? [:] }

    /// An identifier without backticks.
    static func unquoted(_ identifier: String) -> String {
        identifier.hasPrefix("`") ? String(identifier.dropFirst().dropLast()) : identifier
    }

    /// A name without characters that an identifier cannot have.
    private static func plain(_ name: String) -> String {
        var plain = String(name.unicodeScalars.map { $0.properties.isXIDContinue ? Character($0) : "_" })
        if plain.unicodeScalars.first.map({ !$0.properties.isXIDStart && $0 != "_" }) ?? true { plain = "_" + plain }
        // An identifier cannot consist of underscores alone.
        return plain.allSatisfy { $0 == "_" } ? plain + "value" : plain
    }

    private static func unused(_ name: String, _ taken: inout Set<String>) -> String {
        var unique = name
        var number = 2
        while !taken.insert(unique).inserted {
            unique = "\(name)\(number)"
            number += 1
        }
        return unique
    }

    /// The types that the source of a model uses.
    private static let usedTypes: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "CanonicalJSON", "CodingKey", "CodingKeys", "Data", "DataModel", "Date",
        "Decimal", "Decodable", "Decoder", "Double", "Encodable", "Encoder", "Float", "Foundation", "Int", "Int16",
        "Int32", "Int64", "Optional", "Protocol", "Related", "Self", "String", "SyncDeclaration", "SyncModel",
        "SyncObject", "Timestamp", "Type", "URL", "UUID",
    ]

    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}
