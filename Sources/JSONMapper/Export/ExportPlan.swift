import SyncModel

/// What is written of the objects of one entity, and under which keys: computed once, as a list of
/// steps from the first key of an object to its last. Steps are plain numbers beside their key, so
/// that taking one copies nothing; what they refer to is in tables.
final class ExportPlan: Sendable {
    enum Kind: Sendable {
        /// An attribute; the index is its slot.
        case attribute
        /// An attribute whose dates, or floats, are written in a way of their own; the index is its
        /// slot.
        case dateAttribute, floatAttribute
        /// An attribute with a transformer; the index is its place in `transformed`.
        case transformedAttribute
        /// A relationship; the index is its place in `relationships`.
        case relationship
        /// An object that is there for its key alone, a level of key paths, begins.
        case beginGroup
        /// The innermost of those objects ends; there is no key.
        case endGroup
    }

    struct Step: Sendable {
        let kind: Kind
        let index: Int
        /// The key with its quotes.
        let key: [UInt8]
    }

    /// An attribute that goes through the reverse of a transformer.
    struct Transformed: Sendable {
        let slot: Int
        let name: String
        let reverse: JSONTransformers.Reverse
    }

    /// A relationship that is written.
    struct Related: Sendable {
        let relationship: RelationshipLayout
        /// Whether it is null where it is to-one and leads to nothing, rather than left out.
        let writesNull: Bool
        /// Whether following relationships from its objects can lead to it again.
        let isOnCycle: Bool
    }

    let layout: EntityLayout
    let steps: [Step]
    /// The steps without those that lead to other objects.
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

    /// Nil where the attribute has no transformer, or one that goes one way.
    private static func transformed(
        _ keys: AttributeKeys, of entity: String, by transformers: JSONTransformers
    ) throws(MappingError) -> Transformed? {
        guard let name = keys.transformerName else { return nil }
        guard let found = transformers.transformer(name) else {
            throw .unknownTransformer(entity: entity, attribute: keys.attribute.name, name: name)
        }
        return found.reverse.map { Transformed(slot: keys.slot, name: name, reverse: $0) }
    }
}
