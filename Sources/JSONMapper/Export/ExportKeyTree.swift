/// A tree of keys, built from key paths in order of their first appearance.
///
/// Paths with a common beginning share the objects of that beginning. If a whole value and an
/// object compete for a key, or two values do, the first one wins. This happens if two properties
/// have the same key, or if the key of one property is the beginning of another's path.
struct ExportKeyTree {
    /// The value at the end of a path.
    struct Leaf {
        var kind: ExportPlan.Kind
        var index: Int
    }

    private enum Node {
        case leaf(Leaf)
        case branch(ExportKeyTree)
    }

    private var keys: [String] = []
    private var nodes: [Node] = []

    mutating func add(_ leaf: Leaf, at path: some Collection<String>) {
        guard let key = path.first else { return }
        let rest = path.dropFirst()
        let index = keys.firstIndex { $0.utf8.elementsEqual(key.utf8) }
        switch (index, rest.isEmpty) {
        case (nil, true):
            keys.append(key)
            nodes.append(.leaf(leaf))
        case (nil, false):
            var branch = ExportKeyTree()
            branch.add(leaf, at: rest)
            keys.append(key)
            nodes.append(.branch(branch))
        case (let index?, false):
            guard case .branch(var branch) = nodes[index] else { return }
            branch.add(leaf, at: rest)
            nodes[index] = .branch(branch)
        case (.some, true):
            break
        }
    }

    /// The steps that write the whole tree.
    var steps: [ExportPlan.Step] {
        zip(keys, nodes).flatMap { key, node in
            let key = JSONWriter.quotedKey(key)
            switch node {
            case .leaf(let leaf):
                return [ExportPlan.Step(kind: leaf.kind, index: leaf.index, key: key)]
            case .branch(let branch):
                let steps = branch.steps.map { step in
                    var step = step
                    step.isGrouped = true
                    return step
                }
                return [ExportPlan.Step(kind: .beginGroup, index: 0, key: key)] + steps
                    + [ExportPlan.Step(kind: .endGroup, index: 0, key: [])]
            }
        }
    }
}
