import SyncModel

/// What is written of the objects of one entity, and under which keys: worked out once.
struct ExportPlan: Sendable {
    /// One key of an object and what stands under it.
    struct Member: Sendable {
        /// The key with its quotes.
        let key: [UInt8]
        let content: Content
    }

    indirect enum Content: Sendable {
        case attribute(AttributeExport)
        case relationship(RelationshipExport)
        /// An object that is there for its key alone, a level of key paths.
        case group([Member])
    }

    let layout: EntityLayout
    let members: [Member]
    /// The members without those that lead to other objects.
    let ownMembers: [Member]

    init(
        _ keys: EntityKeys, options: ExportOptions, transformers: JSONTransformers, cycles: ExportCycles
    ) throws(MappingError) {
        layout = keys.layout
        var tree = KeyTree()
        for attribute in keys.attributes where attribute.isExportable {
            guard var path = attribute.path(options.keyStyle) else { continue }
            if options.relationships == .nested, path == ["destroy"] { path = ["_destroy"] }
            tree.add(
                .attribute(try AttributeExport(attribute, of: layout.name, transformers: transformers)), at: path)
        }
        ownMembers = tree.members
        for relationship in keys.relationships where relationship.isExportable && options.relationships != .none {
            guard var path = relationship.customPath ?? relationship.path(options.keyStyle), let last = path.popLast()
            else { continue }
            let suffix =
                switch (options.relationships, options.keyStyle) {
                case (.nested, .snakeCase): "_attributes"
                case (.nested, .camelCase): "Attributes"
                case (.array, _), (.none, _): ""
                }
            let export = RelationshipExport(
                relationship: relationship.relationship, writesNull: keys.dialect == .groot,
                isOnCycle: cycles.contain(relationship.relationship))
            tree.add(.relationship(export), at: path + [last + suffix])
        }
        members = tree.members
    }
}

/// How one attribute is written.
struct AttributeExport: Sendable {
    let slot: Int
    /// A float is held as the double of the same worth, and written with as few digits as tell it from other floats.
    let isFloat: Bool
    /// What turns the value into JSON; nil where it is written as it is.
    let transformer: (name: String, reverse: JSONTransformers.Reverse)?

    init(_ keys: AttributeKeys, of entity: String, transformers: JSONTransformers) throws(MappingError) {
        slot = keys.slot
        isFloat = keys.attribute.type == .float
        guard let name = keys.transformerName else {
            transformer = nil
            return
        }
        guard let found = transformers.transformer(name) else {
            throw .unknownTransformer(entity: entity, attribute: keys.attribute.name, name: name)
        }
        transformer = found.reverse.map { (name, $0) }
    }
}

/// How one relationship is written.
struct RelationshipExport: Sendable {
    let relationship: RelationshipLayout
    /// Whether a to-one relationship that leads to nothing is null, rather than left out.
    let writesNull: Bool
    /// Whether following relationships from its objects can lead to it again.
    let isOnCycle: Bool
}

/// Members gathered by their key paths, in the order in which their first keys came.
///
/// Paths that begin alike share the objects of their beginning. Where a key stands for something whole already, be it because two
/// properties have one key or because one property's key is the beginning of another's path, the first one stays.
private struct KeyTree {
    private enum Node {
        case leaf(ExportPlan.Content)
        case branch(KeyTree)
    }

    private var keys: [String] = []
    private var nodes: [Node] = []

    mutating func add(_ content: ExportPlan.Content, at path: some Collection<String>) {
        guard let key = path.first else { return }
        let rest = path.dropFirst()
        let index = keys.firstIndex { $0.utf8.elementsEqual(key.utf8) }
        switch (index, rest.isEmpty) {
        case (nil, true):
            keys.append(key)
            nodes.append(.leaf(content))
        case (nil, false):
            var branch = KeyTree()
            branch.add(content, at: rest)
            keys.append(key)
            nodes.append(.branch(branch))
        case (let index?, false):
            guard case .branch(var branch) = nodes[index] else { return }
            branch.add(content, at: rest)
            nodes[index] = .branch(branch)
        case (.some, true):
            break
        }
    }

    var members: [ExportPlan.Member] {
        zip(keys, nodes).map { key, node in
            let content: ExportPlan.Content =
                switch node {
                case .leaf(let content): content
                case .branch(let branch): .group(branch.members)
                }
            return ExportPlan.Member(key: JSONWriter.quotedKey(key), content: content)
        }
    }
}
