import SyncModel

/// The relationships of a model that an export can come back to, going from object to object.
///
/// An export never goes straight back through a relationship's inverse, so a relationship and its inverse alone are no cycle;
/// an entity that relates to itself is one, and so is a ring of entities.
struct ExportCycles: Sendable {
    /// A relationship by the entity that declares it; those that inherit it share it.
    private struct Edge: Hashable {
        let source: Int
        let index: Int

        init(_ relationship: RelationshipLayout) {
            source = relationship.source
            index = relationship.index
        }
    }

    private let edges: Set<Edge>

    /// - Parameter isExported: Whether an export follows a relationship at all.
    init(in model: DataModel, where isExported: (RelationshipLayout) -> Bool) {
        var successors: [Edge: [Edge]] = [:]
        for relationship in model.layouts.flatMap(\.relationships) where isExported(relationship) {
            guard successors[Edge(relationship)] == nil else { continue }
            let destination = model.layouts[relationship.destination]
            let back = relationship.inverse.map { Edge(destination.relationships[$0]) }
            var next: Set<Edge> = []
            for entity in destination.family {
                next.formUnion(model.layouts[entity].relationships.lazy.filter(isExported).map { Edge($0) })
            }
            if let back { next.remove(back) }
            successors[Edge(relationship)] = Array(next)
        }
        edges = Set(successors.keys.filter { Self.reaches($0, successors) })
    }

    /// Whether there is none.
    var isEmpty: Bool {
        edges.isEmpty
    }

    func contain(_ relationship: RelationshipLayout) -> Bool {
        edges.contains(Edge(relationship))
    }

    /// Whether a walk that starts after an edge takes it again.
    private static func reaches(_ edge: Edge, _ successors: [Edge: [Edge]]) -> Bool {
        var seen: Set<Edge> = []
        var waiting = successors[edge] ?? []
        while let next = waiting.popLast() {
            if next == edge { return true }
            if seen.insert(next).inserted { waiting += successors[next] ?? [] }
        }
        return false
    }
}
