import SyncModel

/// The compiled export of one entity's objects, as a list of steps from the first key to the last.
///
/// A step is two plain values and a key, so that copying one is cheap. Its index refers to the
/// tables of the plan.
final class ExportPlan: Sendable {
    enum Kind: Sendable {
        /// An attribute. The index is its column.
        case attribute
        /// A date or float attribute, which has its own format. The index is its column.
        case dateAttribute, floatAttribute
        /// An attribute whose annotations determine how it is written. The index is its position in
        /// `styled`.
        case styledAttribute
        /// The attribute for values that no other property can express. The index is its column.
        /// The step has no key.
        case otherKeys
        /// An attribute with a transformer. The index is its position in `transformed`.
        case transformedAttribute
        /// A relationship. The index is its position in `relationships`.
        case relationship
        /// The beginning of an object that exists only as a level of key paths.
        case beginGroup
        /// The end of the innermost such object. The step has no key.
        case endGroup
    }

    struct Step: Sendable {
        let kind: Kind
        let index: Int
        /// The key with quotes and escapes.
        let key: [UInt8]
        /// Whether the key is in a group.
        var isGrouped = false
    }

    /// An attribute that a transformer converts back.
    struct Transformed: Sendable {
        let column: Int
        let name: String
        let reverse: RecordMapper.Transformers.Reverse
    }

    /// An attribute whose annotations determine how it is written.
    struct Styled: Sendable {
        let column: Int
        /// Whether the key is omitted if the attribute is null.
        let omitsNull: Bool
        /// The style of dates; nil for other values.
        let dateStyle: DateStyle?
        /// Whether a UUID is written in lowercase.
        let isLowercase: Bool
        /// Whether a whole number is written without a fraction.
        let writesIntegers: Bool
        /// Whether the value is a float.
        let isFloat: Bool
    }

    /// A relationship that is exported.
    struct Related: Sendable {
        let relationship: EntityLayout.Relationship
        /// The value to write if there is no related object.
        let emptyStyle: EmptyStyle
        /// Whether an export can reach the relationship again from its objects.
        let isOnCycle: Bool
        /// The column of the attribute for the key that the relationship was read from; nil for
        /// none.
        let keyColumn: Int?
        /// The keys under which only the identifier of the object is written.
        let identifierKeys: [String]
    }

    let layout: EntityLayout
    let steps: [Step]
    /// The steps without relationships.
    let ownSteps: [Step]
    /// The step of the attribute that identifies objects; nil if the identity is not exactly one
    /// attribute.
    let identityStep: Step?
    let transformed: [Transformed]
    let styled: [Styled]
    let relationships: [Related]
    /// The column of the attribute for values that no other property can express; nil if there is
    /// none.
    let otherKeysColumn: Int?

    init(
        _ keys: EntityKeys, options: RecordMapper.Exporter.Options, transformers: RecordMapper.Transformers,
        cycles: ExportCycles
    ) throws(MappingError) {
        layout = keys.layout
        var tree = ExportKeyTree()
        var transformed: [Transformed] = []
        var styled: [Styled] = []
        var relationships: [Related] = []
        var identity: ExportKeyTree.Leaf?
        for attribute in keys.attributes where attribute.isExportable {
            guard var path = attribute.path(options.keyStyle) else { continue }
            if options.relationships == .nested, path == ["destroy"] { path = ["_destroy"] }
            var leaf = ExportKeyTree.Leaf(kind: .attribute, index: attribute.column)
            switch attribute.attribute.type {
            case .date: leaf.kind = .dateAttribute
            case .float: leaf.kind = .floatAttribute
            default: break
            }
            if keys.dialect.infersFromNames, let style = Self.styled(attribute) {
                leaf = ExportKeyTree.Leaf(kind: .styledAttribute, index: styled.count)
                styled.append(style)
            }
            if let found = try Self.transformed(attribute, of: layout.name, by: transformers) {
                leaf = ExportKeyTree.Leaf(kind: .transformedAttribute, index: transformed.count)
                transformed.append(found)
            }
            if keys.identityColumns == [attribute.column] { identity = leaf }
            tree.add(leaf, at: path)
        }
        otherKeysColumn = keys.otherKeysColumn
        let others = keys.otherKeysColumn.map { [Step(kind: .otherKeys, index: $0, key: [])] } ?? []
        ownSteps = tree.steps + others
        identityStep = identity.map { Step(kind: $0.kind, index: $0.index, key: []) }
        for relationship in keys.relationships where relationship.isExportable && options.relationships != .none {
            guard var path = relationship.path(options.keyStyle), let last = path.popLast()
            else { continue }
            let suffix =
                switch (options.relationships, options.keyStyle) {
                case (.nested, .snakeCase): "_attributes"
                case (.nested, .camelCase): "Attributes"
                case (.array, _), (.none, _): ""
                }
            tree.add(
                ExportKeyTree.Leaf(kind: .relationship, index: relationships.count), at: path + [last + suffix])
            relationships.append(
                Related(
                    relationship: relationship.relationship, emptyStyle: relationship.emptyStyle(keys.dialect),
                    isOnCycle: cycles.contain(relationship.relationship),
                    keyColumn: options.relationships == .array ? relationship.keyAttribute?.column : nil,
                    identifierKeys: relationship.identifierSpellings.map { $0[0] }))
        }
        steps = tree.steps + others
        self.transformed = transformed
        self.styled = styled
        self.relationships = relationships
    }

    /// The annotated form of an attribute; nil if it has no such annotations.
    private static func styled(_ keys: AttributeKeys) -> Styled? {
        let userInfo = keys.attribute.userInfo
        let style = Styled(
            column: keys.column, omitsNull: keys.emptyStyle == .omit, dateStyle: keys.dateStyle,
            isLowercase: keys.attribute.type == .uuid && keys.attribute.hasLowercaseUUIDs,
            writesIntegers: keys.attribute.type == .double && userInfo[JSONDialect.wholeNumbersAnnotation] == "YES",
            isFloat: keys.attribute.type == .float)
        let isPlain = !style.omitsNull && style.dateStyle == nil && !style.isLowercase && !style.writesIntegers
        return isPlain ? nil : style
    }

    /// The transformer of an attribute; nil if it has none or only a one-way transformer.
    private static func transformed(
        _ keys: AttributeKeys, of entity: String, by transformers: RecordMapper.Transformers
    ) throws(MappingError) -> Transformed? {
        guard let name = keys.transformerName else { return nil }
        guard let found = transformers.transformer(name) else {
            if RecordMapper.Transformers.isBuiltIn(name) { return nil }
            throw .unknownTransformer(entity: entity, attribute: keys.attribute.name, name: name)
        }
        return found.reverse.map { Transformed(column: keys.column, name: name, reverse: $0) }
    }
}
