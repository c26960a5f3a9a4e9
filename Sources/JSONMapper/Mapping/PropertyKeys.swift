package import SyncModel

/// The JSON keys and annotations of an attribute.
package struct AttributeKeys: Sendable {
    /// The attribute.
    package let attribute: SyncAttribute
    /// The slot of the attribute in its entity.
    package let slot: Int
    /// The key path of the annotation, one key per level; nil without an annotation.
    package let customPath: [String]?
    /// The key paths that are read into the attribute, the preferred one first. Empty if it is
    /// never read.
    ///
    /// ``EntityKeys`` explains which attribute gets a key that several of them claim.
    package let spellings: [[String]]
    /// The name of the transformer; nil for none.
    package let transformerName: String?
    /// Whether the attribute is exported. False if it is annotated as non-exportable or has no key.
    package let isExportable: Bool

    let snakeCasePath: [String]
    let camelCasePath: [String]

    /// Returns the key path for export, one key per level.
    ///
    /// The key path of the annotation has priority over the name by convention. The result is nil
    /// if there is neither, which is possible only in a dialect that does not infer keys from
    /// names.
    package func path(_ style: ExportOptions.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }
}

/// The JSON keys and annotations of a relationship.
package struct RelationshipKeys: Sendable {
    /// The relationship.
    package let relationship: RelationshipLayout
    /// The key path of the annotation, one key per level; nil without an annotation.
    package let customPath: [String]?
    /// The key paths of related objects, the preferred one first. Empty if the relationship is
    /// never read.
    ///
    /// If ``customPath`` is not nil, it may hold identifiers too.
    package let spellings: [[String]]
    /// The key paths of identifiers of related objects, such as `company_id` and `notes_ids`. Empty
    /// if ``customPath`` is not nil.
    package let identifierSpellings: [[String]]
    /// Whether the relationship is exported. False if it is annotated as non-exportable or has no
    /// key.
    package let isExportable: Bool

    /// Returns the key path for export, one key per level.
    ///
    /// The key path of the annotation has priority over the name by convention. The result is nil
    /// if there is neither, which is possible only in a dialect that does not infer keys from
    /// names.
    package func path(_ style: ExportOptions.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }

    let snakeCasePath: [String]
    let camelCasePath: [String]
}
