public import SyncModel

/// Under which keys of JSON an attribute is found and written, and what else its annotations say.
public struct AttributeKeys: Sendable {
    /// The attribute.
    public let attribute: SyncAttribute
    /// Its place in the entity's attributes.
    public let slot: Int
    /// The key path that an annotation gives it, one key per level; nil where there is none.
    public let customPath: [String]?
    /// The key paths under which it is found, the preferred one first; empty for one that is never read.
    ///
    /// Where two attributes claim one key, `EntityKeys` says who gets it.
    public let spellings: [[String]]
    /// The name of its transformer; nil where it has none.
    public let transformerName: String?
    /// Whether it is written; false for one marked non-exportable and for one without a key.
    public let isExportable: Bool

    let snakeCasePath: [String]
    let camelCasePath: [String]

    /// The key path it is written under, one key per level: the custom one, else its name by convention; nil for an attribute that
    /// has no key at all, which only the Groot dialect knows.
    public func path(_ style: JSONKeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }
}

/// Under which keys of JSON a relationship is found and written.
public struct RelationshipKeys: Sendable {
    /// The relationship.
    public let relationship: RelationshipLayout
    /// The key path that an annotation gives it, one key per level; nil where there is none.
    public let customPath: [String]?
    /// The key paths under which related objects are found (or bare identifiers, where ``customPath`` is one of them), the preferred one
    /// first; empty for a relationship that is never read.
    public let spellings: [[String]]
    /// The keys under which identifiers of related objects are found, such as `company_id` and `notes_ids`; empty with a custom key, which
    /// then serves for both.
    public let identifierSpellings: [[String]]
    /// Whether it is written; false for one marked non-exportable and for one without a key.
    public let isExportable: Bool

    /// The key path it is written under, one key per level: the custom one, else its name by convention; nil for a relationship that has
    /// no key at all, which only the Groot dialect knows.
    public func path(_ style: JSONKeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }

    let snakeCasePath: [String]
    let camelCasePath: [String]
}
