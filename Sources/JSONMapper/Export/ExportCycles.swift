import SyncModel

/// The relationships of a model that an export can reach again after following them.
///
/// An export never follows the inverse of the relationship by which it arrived, so a relationship
/// and its inverse are not a cycle by themselves. An entity that is related to itself is a cycle,
/// and so is a ring of entities.
struct ExportCycles: Sendable {
    private typealias Edge = EntityLayout.Relationship.ID

    private let edges: Set<Edge>

    /// Creates the set of relationships on cycles of a model.
    ///
    /// - Parameter isExported: Returns whether an export follows a relationship.
    init(in model: DataModel, where isExported: (EntityLayout.Relationship) -> Bool) {
        var successors: [Edge: [Edge]] = [:]
        for relationship in model.layouts.flatMap(\.relationships) where isExported(relationship) {
            guard successors[relationship.id] == nil else { continue }
            let destination = model.layouts[relationship.destination]
            let back = model.inverse(of: relationship)?.id
            var next: Set<Edge> = []
            for entity in destination.family {
                next.formUnion(model.layouts[entity].relationships.lazy.filter(isExported).map(\.id))
            }
            if let back { next.remove(back) }
            successors[relationship.id] = Array(next)
        }
        edges = Set(successors.keys.filter { Self.reaches($0, successors) })
    }

    /// Whether there are no cycles.
    var isEmpty: Bool {
        edges.isEmpty
    }

    func contain(_ relationship: EntityLayout.Relationship) -> Bool {
        edges.contains(relationship.id)
    }

    /// Whether a walk that starts after an edge can reach the edge again.
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
