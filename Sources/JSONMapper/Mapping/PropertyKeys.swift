package import SyncModel

/// Under which keys of JSON an attribute is found and written, and what else its annotations say.
package struct AttributeKeys: Sendable {
    /// The attribute.
    package let attribute: SyncAttribute
    /// Its index in the entity's attributes.
    package let slot: Int
    /// The key path that an annotation gives it, one key per level; nil where there is none.
    package let customPath: [String]?
    /// The key paths under which it is found, the preferred one first; empty for one that is never
    /// read.
    ///
    /// Where two attributes claim one key, `EntityKeys` says who gets it.
    package let spellings: [[String]]
    /// The name of its transformer; nil where it has none.
    package let transformerName: String?
    /// Whether it is written; false for one marked non-exportable and for one without a key.
    package let isExportable: Bool

    let snakeCasePath: [String]
    let camelCasePath: [String]

    /// The key path it is written under, one key per level: the custom one, else its name by
    /// convention; nil for an attribute that has no key at all, which only the Groot dialect knows.
    package func path(_ style: ExportOptions.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }
}

/// Under which keys of JSON a relationship is found and written.
package struct RelationshipKeys: Sendable {
    /// The relationship.
    package let relationship: RelationshipLayout
    /// The key path that an annotation gives it, one key per level; nil where there is none.
    package let customPath: [String]?
    /// The key paths under which related objects are found (or bare identifiers, where
    /// ``customPath`` is one of them), the preferred one first; empty for a relationship that is
    /// never read.
    package let spellings: [[String]]
    /// The keys under which identifiers of related objects are found, such as `company_id` and
    /// `notes_ids`; empty with a custom key, which then serves for both.
    package let identifierSpellings: [[String]]
    /// Whether it is written; false for one marked non-exportable and for one without a key.
    package let isExportable: Bool

    /// The key path it is written under, one key per level: the custom one, else its name by
    /// convention; nil for a relationship that has no key at all, which only the Groot dialect
    /// knows.
    package func path(_ style: ExportOptions.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }

    let snakeCasePath: [String]
    let camelCasePath: [String]
}
