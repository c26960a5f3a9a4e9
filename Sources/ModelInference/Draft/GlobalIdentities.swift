import JSONMapper

/// The identities of nested objects.
///
/// An identity is global if equal identities always belong to equal objects.
enum GlobalIdentities {
    private static let maximumNodeCount = 300

    /// The property that identifies nested objects, at least within an array; nil for none.
    static func property(of node: ShapeNode) -> ShapeProperty? {
        guard !node.isRoot, !node.isRecursive else { return nil }
        return node.all.compactMap { property -> (rank: Int, property: ShapeProperty)? in
            guard let rank = KeyNames.rank(of: property.name, entity: node.name, isFirst: false),
                rank <= KeyNames.highestNestedRank, property.identifies(node),
                let identity = property.identity, !identity.repeatsInArray
            else { return nil }
            return (rank, property)
        }.min { $0.rank < $1.rank }?.property
    }

    /// Whether no two nested objects have the same identity, so that each seems to belong to the
    /// object that contains it.
    static func areSingle(_ node: ShapeNode) -> Bool {
        property(of: node)?.identity?.repeats == false
    }

    /// Unites places whose objects are of one kind: they have the same keys, and objects in both
    /// places with the same identity are equal.
    static func unite(below root: ShapeNode) {
        let nodes = nodes(below: root).filter { property(of: $0)?.identity?.conflicts == false }
        for (index, node) in nodes.prefix(maximumNodeCount).enumerated() {
            for other in nodes[..<index] where isOne(node.resolved, other.resolved) {
                other.resolved.absorb(node.resolved)
                break
            }
        }
    }

    private static func isOne(_ one: ShapeNode, _ other: ShapeNode) -> Bool {
        guard one !== other, one.propertyCount == other.propertyCount,
            let property = property(of: one), let identity = property.identity,
            let otherIdentity = other.property(property.name)?.identity,
            one.all.allSatisfy({ other.property($0.name) != nil }),
            identity.agreement(with: otherIdentity) == .equal
        else { return false }
        // No object can be nested in an equal one, so an entity that led to itself would be a
        // mistake.
        return !nodes(below: one).contains { $0 === other } && !nodes(below: other).contains { $0 === one }
    }

    /// All places below a node, outer ones first.
    private static func nodes(below root: ShapeNode) -> [ShapeNode] {
        var found: [ShapeNode] = []
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(root)]
        var waiting = [root]
        var next = 0
        while next < waiting.count {
            let node = waiting[next]
            next += 1
            for child in node.all.flatMap({ [$0.object, $0.element] }) {
                guard let child = child?.resolved, seen.insert(ObjectIdentifier(child)).inserted, !child.isMap else {
                    continue
                }
                found.append(child)
                waiting.append(child)
            }
        }
        return found
    }
}
