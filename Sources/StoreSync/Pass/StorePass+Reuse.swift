import JSONMapper
import SyncModel
import SyncStore

// An object without an identity is found by the object that owns it, so that a repeated payload
// does not insert it again.
extension StorePass {
    /// Finds the stored objects for elements without an identity of their own.
    ///
    /// The candidates are the objects that the relationship leads to, and those that an earlier
    /// part of the payload unlinked from the same owner. An element with a scoped identity matches
    /// the candidate with that identity. The others match the candidates without any identity, in
    /// order.
    ///
    /// - Parameters:
    ///   - owners: Returns the object that contains the element of an ordinal.
    ///   - emptied: Objects that contain no element.
    func reused(
        _ groups: some Sequence<MappedBatch.Group>, _ owners: (Int) -> ObjectID?,
        by relationship: EntityLayout.Relationship, emptied: [ObjectID] = []
    ) async throws -> ReusedObjects {
        var reuse = ReusedObjects()
        let isScope = model.isScope(of: relationship)
        var ordinals: [Int] = []
        var scoped: [(ordinal: Int, identity: [AttributeValue])] = []
        for group in groups {
            let layout = group.mapping.layout
            group.records.withReader { reader in
                for row in 0..<reader.count where !reader.isIdentified(row, by: layout.identityColumns) {
                    if isScope, reader.isIdentified(row, by: layout.scopedIdentityColumns) {
                        let identity = layout.scopedIdentityColumns.compactMap { reader.value(row: row, column: $0) }
                        scoped.append((group.elementIndices[row], identity))
                    } else {
                        ordinals.append(group.elementIndices[row])
                    }
                }
            }
        }
        let isPrivate = !model.layouts[relationship.destination].hasIdentity
        guard !ordinals.isEmpty || !scoped.isEmpty || isPrivate && !emptied.isEmpty else { return reuse }
        let parents = ObjectSet(emptied + (ordinals + scoped.map(\.ordinal)).compactMap(owners))
        let parentObjects = parents.objects
        var children = try await targets(of: parentObjects, by: relationship)
        if isPrivate {
            reuse.linkCount = linkCounts[relationship] ?? 0
            (reuse.owners, reuse.linked) = (parents, children)
        }
        let former = state.orphaned.former(by: relationship)
        for parent in former.isEmpty ? [] : parentObjects {
            for lost in former[parent] ?? [] where children[parent]?.contains(lost) != true {
                children[parent, default: []].append(lost)
                reuse.unlinked.insert(lost)
            }
        }
        guard !children.isEmpty else { return reuse }
        if isPrivate { reuse.candidates = children }
        let destination = model.layouts[relationship.destination]
        guard isScope || destination.family.contains(where: { model.layouts[$0].hasIdentity }) else {
            reuse.match(ordinals, owners, children)
            return reuse
        }
        var nameless = ObjectSet()
        var identities: [ObjectID: [AttributeValue]] = [:]
        let query = StoreQuery(
            destination.name, objects: .only(Array(Set(children.values.joined())).sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { records in
            for stored in records where stored.record.key == nil {
                let columns = isScope ? stored.record.layout.scopedIdentityColumns : []
                let identity = columns.map { stored.record[column: $0] }
                if identity.isEmpty || identity.contains(where: \.isNull) {
                    nameless.insert(stored.object)
                } else {
                    identities[stored.object] = identity
                }
            }
        }
        var left: [ObjectID: [ObjectID]] = [:]
        var known: [ScopedIdentity: ObjectID] = [:]
        for (parent, targets) in children {
            for target in targets {
                if nameless.contains(target) {
                    left[parent, default: []].append(target)
                } else if let identity = identities[target] {
                    let identity = ScopedIdentity(parent: parent, values: identity)
                    known[identity] = known[identity] ?? target
                }
            }
        }
        for (ordinal, identity) in scoped {
            guard let owner = owners(ordinal) else { continue }
            reuse.objects[ordinal] = known[ScopedIdentity(parent: owner, values: identity)]
        }
        reuse.match(ordinals, owners, left)
        return reuse
    }

    /// A scoped identity and the parent it belongs to.
    private struct ScopedIdentity: Hashable {
        let parent: ObjectID
        let values: [AttributeValue]
    }
}

/// The stored objects that elements without an identity match.
struct ReusedObjects {
    /// The matching object of each ordinal.
    var objects: [Int: ObjectID] = [:]
    /// The candidates that the relationship no longer leads to.
    var unlinked = ObjectSet()
    /// All candidates of each owner; empty if the entity has an identity.
    var candidates: [ObjectID: [ObjectID]] = [:]
    /// The owners whose targets were read; empty if the entity has an identity.
    fileprivate var owners = ObjectSet()
    /// The targets of those owners that have some.
    fileprivate var linked: [ObjectID: [ObjectID]] = [:]
    /// How often the relationship had been linked when the targets were read.
    var linkCount = 0

    /// The targets of an owner; nil if they were not read.
    func linked(of owner: ObjectID) -> [ObjectID]? {
        owners.contains(owner) ? linked[owner] ?? [] : nil
    }

    /// Matches the elements without any identity with candidates, in order.
    fileprivate mutating func match(
        _ ordinals: [Int], _ owners: (Int) -> ObjectID?, _ candidates: [ObjectID: [ObjectID]]
    ) {
        var takenCounts: [ObjectID: Int] = [:]
        takenCounts.reserveCapacity(candidates.count)
        objects.reserveCapacity(min(ordinals.count, candidates.count))
        for ordinal in ordinals.sorted() {
            guard let owner = owners(ordinal), let candidates = candidates[owner] else { continue }
            let index = takenCounts[owner, default: 0]
            guard index < candidates.count else { continue }
            takenCounts[owner] = index + 1
            objects[ordinal] = candidates[index]
        }
    }
}

extension DataModel {
    /// The relationships that own objects of the family of an entity.
    func relationships(owning layout: EntityLayout) -> [EntityLayout.Relationship] {
        layouts.flatMap { source in
            source.relationships.filter {
                $0.source == source.index && $0.isOwning && layouts[$0.destination].root == layout.root
            }
        }
    }
}
