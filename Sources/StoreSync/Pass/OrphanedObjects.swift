import SyncModel
import SyncStore

/// The objects that lost their source in a relationship that deletes objects without one.
struct OrphanedObjects {
    /// The objects that lost a source, by relationship.
    private var detached: [EntityLayout.Relationship: [ObjectID]] = [:]
    /// The objects without an identity that each source lost. A later element of the same source
    /// reuses them.
    private var former: [EntityLayout.Relationship.ID: [ObjectID: [ObjectID]]] = [:]
    /// The objects that the current change has in other places, by relationship. Such a place keeps
    /// an object that the relationship loses. Nil in a sync of a list, where each place keeps it.
    private var elsewhere: [EntityLayout.Relationship.ID: ObjectSet]?
    /// The objects that the current change has in any place, by the index of the root entity.
    private var changed: [Int: ObjectSet] = [:]
    /// The relationships that delete objects without a source, by the root entity of the objects.
    private let deleting: [Int: [EntityLayout.Relationship.ID]]

    init(_ model: DataModel, _ rules: SyncRules) {
        let relationships = model.layouts.flatMap { layout in
            layout.relationships.filter { $0.source == layout.index && rules.deletesDetached(of: $0, in: model) }
        }
        deleting = Dictionary(grouping: relationships) { model.layouts[$0.destination].root }
            .mapValues { $0.map(\.id) }
    }

    /// Whether no object lost a source.
    var isEmpty: Bool { detached.isEmpty }

    /// Whether each change of the payload is on its own.
    var isOfChanges: Bool { elsewhere != nil }

    /// Whether the payload, or the current change, may state objects that a deletion reaches.
    var keepsStated: Bool { elsewhere == nil || !changed.isEmpty }

    /// Begins a change, or another one: only the places that it states keep an object.
    mutating func beginChange() {
        (elsewhere, changed, former) = ([:], [:], [:])
    }

    /// Whether the current change contains an object.
    func changes(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        changed[layout.root]?.contains(object) == true
    }

    /// Adds objects that lost their source.
    mutating func insert(_ objects: [ObjectID], by relationship: EntityLayout.Relationship) {
        if !objects.isEmpty { detached[relationship, default: []] += objects }
    }

    /// Notes the places of objects that a payload contains.
    ///
    /// - Parameter relationship: The relationship in which they are nested; nil for a list.
    mutating func notePlaces(
        of result: MergeRequest.Result, _ layout: EntityLayout, nestedBy relationship: EntityLayout.Relationship?
    ) {
        guard elsewhere != nil else { return }
        let objects = result.rows.lazy.compactMap { $0?.object }
        changed[layout.root, default: ObjectSet()].formUnion(objects)
        for id in deleting[layout.root] ?? [] where id != relationship?.id {
            elsewhere?[id, default: ObjectSet()].formUnion(objects)
        }
    }

    /// Notes the objects without an identity that a source lost.
    mutating func lose(_ objects: [ObjectID], of source: ObjectID, by relationship: EntityLayout.Relationship) {
        // If the source gets all its objects back, its entry stays, so that its links are checked.
        if !objects.isEmpty { former[relationship.id, default: [:]][source] = objects }
    }

    /// The objects without an identity that each source lost.
    func former(by relationship: EntityLayout.Relationship) -> [ObjectID: [ObjectID]] {
        former[relationship.id] ?? [:]
    }

    /// Objects of one relationship to delete, unless a source still has them, or to keep and count
    /// because a rejected object may be their source.
    typealias Candidates = (relationship: EntityLayout.Relationship, objects: [ObjectID], areKept: Bool)

    /// Takes the objects that have no other place in the payload.
    ///
    /// - Parameters:
    ///   - mentioned: The objects that identifiers name, by the index of the root entity.
    ///   - mayLackObjects: Whether an object was rejected that the store may have.
    mutating func takeCandidates(
        in model: DataModel, _ counts: PassCounts, _ listed: ListedObjects, _ mentioned: [Int: ObjectSet],
        mayLackObjects: Bool
    ) -> [Candidates] {
        let detached = detached.sorted { $0.key.id < $1.key.id }
        self.detached = [:]
        return detached.compactMap { relationship, objects in
            let destination = model.layouts[relationship.destination]
            let hasInverse = model.inverse(of: relationship) != nil
            // An object without an identity cannot exist without its source.
            let isPrivate = !destination.hasIdentity
            guard hasInverse || relationship.isOwning else { return nil }
            // A rejected object may be the new source of one that seems to have lost its source.
            let isOwned = relationship.isOwning && !relationship.sharesTargets
            let areKept = mayLackObjects && !isPrivate && !isOwned
            let seen = counts.seen(destination)
            let elsewhere = elsewhere.map { $0[relationship.id] ?? ObjectSet() }
            let left = Set(objects).sorted().filter { object in
                isPrivate
                    ? destination.root != listed.root || !listed.contains(object)
                    : (!seen.contains(object) || elsewhere?.contains(object) == false)
                        && mentioned[destination.root]?.contains(object) != true
            }
            return left.isEmpty ? nil : (relationship, left, areKept)
        }
    }
}
