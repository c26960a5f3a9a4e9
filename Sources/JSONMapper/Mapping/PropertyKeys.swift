package import SyncModel

/// The JSON keys and annotations of an attribute.
package struct AttributeKeys: Sendable {
    /// The attribute.
    package let attribute: SyncAttribute
    /// The column of the attribute in its entity.
    package let column: Int
    /// The key path of the annotation, one key per level; nil without an annotation.
    package let customPath: [String]?
    /// The key paths that are read into the attribute, the preferred one first. Empty if it is
    /// never read.
    ///
    /// If several attributes claim a key, ``EntityKeys`` defines which one gets it.
    package let spellings: [[String]]
    /// The name of the transformer; nil for none.
    package let transformerName: String?
    /// Whether the attribute is exported. False if it is annotated as non-exportable or has no key.
    package let isExportable: Bool

    let snakeCasePath: [String]
    let camelCasePath: [String]

    /// The annotated style of the attribute's dates; nil for any other attribute.
    var dateStyle: DateStyle? {
        guard attribute.type == .date else { return nil }
        return attribute.userInfo[JSONDialect.dateFormatAnnotation].flatMap(DateStyle.init(pattern:))
    }

    /// The form that an export writes if there is no value.
    var emptyStyle: EmptyStyle {
        attribute.userInfo[JSONDialect.emptyAnnotation].flatMap(EmptyStyle.init) == .omit ? .omit : .null
    }

    /// Returns the key path for export, one key per level.
    ///
    /// The key path of the annotation has priority over the name by convention. The result is nil
    /// if there is neither, which is possible only in a dialect that does not infer keys from
    /// names.
    package func path(_ style: RecordMapper.Exporter.Options.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }
}

/// The JSON keys and annotations of a relationship.
package struct RelationshipKeys: Sendable {
    /// The relationship.
    package let relationship: EntityLayout.Relationship
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
    package func path(_ style: RecordMapper.Exporter.Options.KeyStyle = .snakeCase) -> [String]? {
        let path = style == .snakeCase ? snakeCasePath : camelCasePath
        return path.isEmpty ? nil : path
    }

    let snakeCasePath: [String]
    let camelCasePath: [String]
    /// The attribute for the key that the relationship was read from; nil for none.
    package internal(set) var keyAttribute: AttributeKeys?

    /// The form that an export writes if there are no related objects.
    func emptyStyle(_ dialect: JSONDialect) -> EmptyStyle {
        let annotated = relationship.declaration.userInfo[JSONDialect.emptyAnnotation].flatMap(EmptyStyle.init)
        guard dialect.infersFromNames, let annotated, annotated != .list || relationship.isToMany else {
            return relationship.isToMany ? .list : dialect.writesNullRelationships ? .null : .omit
        }
        return annotated
    }
}

extension EntityKeys {
    /// The column of the JSON attribute for values that no other property can express; nil for
    /// none.
    var otherKeysColumn: Int? {
        column(marked: JSONDialect.otherKeysAnnotation, .json)
    }

    /// Whether keys without a property are expected, and not counted as drift.
    package var expectsOtherKeys: Bool {
        otherKeysColumn.map { layout.attributes[$0].userInfo[JSONDialect.otherKeysAnnotation] == "expected" } ?? false
    }

    /// The keys of an object that lead to a property, without a key that a reader adds.
    package func knownKeys(without added: String?) -> Set<String> {
        var known = Set(attributes.compactMap { $0.path()?.first } + relationships.compactMap { $0.path()?.first })
        if let added { known.remove(added) }
        return known
    }

    /// The column of the attribute with a type and an annotation; nil for none.
    func column(marked annotation: String, _ type: AttributeType) -> Int? {
        guard dialect.infersFromNames else { return nil }
        return layout.attributes.firstIndex { $0.type == type && $0.userInfo[annotation] != nil }
    }
}
