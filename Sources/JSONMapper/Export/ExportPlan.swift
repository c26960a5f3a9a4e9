import SyncModel

/// The compiled export of one entity's objects, as a list of steps from the first key to the last.
///
/// A step is two plain values and a key, so that copying one is cheap. Its index refers to the
/// tables of the plan.
final class ExportPlan: Sendable {
    enum Kind: Sendable {
        /// An attribute. The index is its slot.
        case attribute
        /// A date or float attribute, which has a format of its own. The index is its slot.
        case dateAttribute, floatAttribute
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
    }

    /// An attribute that a transformer converts back.
    struct Transformed: Sendable {
        let slot: Int
        let name: String
        let reverse: JSONTransformers.Reverse
    }

    /// A relationship that is exported.
    struct Related: Sendable {
        let relationship: RelationshipLayout
        /// Whether an empty to-one relationship is written as null. If false, its key is omitted.
        let writesNull: Bool
        /// Whether an export can reach the relationship again from its objects.
        let isOnCycle: Bool
    }

    let layout: EntityLayout
    let steps: [Step]
    /// The steps without relationships.
    let ownSteps: [Step]
    let transformed: [Transformed]
    let relationships: [Related]

    init(
        _ keys: EntityKeys, options: ExportOptions, transformers: JSONTransformers, cycles: ExportCycles
    ) throws(MappingError) {
        layout = keys.layout
        var tree = ExportKeyTree()
        var transformed: [Transformed] = []
        var relationships: [Related] = []
        for attribute in keys.attributes where attribute.isExportable {
            guard var path = attribute.path(options.keyStyle) else { continue }
            if options.relationships == .nested, path == ["destroy"] { path = ["_destroy"] }
            var leaf = ExportKeyTree.Leaf(kind: .attribute, index: attribute.slot)
            switch attribute.attribute.type {
            case .date: leaf.kind = .dateAttribute
            case .float: leaf.kind = .floatAttribute
            default: break
            }
            if let found = try Self.transformed(attribute, of: layout.name, by: transformers) {
                leaf = ExportKeyTree.Leaf(kind: .transformedAttribute, index: transformed.count)
                transformed.append(found)
            }
            tree.add(leaf, at: path)
        }
        ownSteps = tree.steps
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
                    relationship: relationship.relationship, writesNull: keys.dialect.writesNullRelationships,
                    isOnCycle: cycles.contain(relationship.relationship)))
        }
        steps = tree.steps
        self.transformed = transformed
        self.relationships = relationships
    }

    /// The transformer of an attribute; nil if it has none or a one-way one.
    private static func transformed(
        _ keys: AttributeKeys, of entity: String, by transformers: JSONTransformers
    ) throws(MappingError) -> Transformed? {
        guard let name = keys.transformerName else { return nil }
        guard let found = transformers.transformer(name) else {
            if JSONTransformers.isBuiltIn(name) { return nil }
            throw .unknownTransformer(entity: entity, attribute: keys.attribute.name, name: name)
        }
        return found.reverse.map { Transformed(slot: keys.slot, name: name, reverse: $0) }
    }
}
