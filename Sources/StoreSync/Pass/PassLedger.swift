import SyncBase
import SyncModel
import SyncStore

/// The changes of a pass that later changes of the same pass may have undone.
///
/// A payload that contradicts itself can change an object and change it back, or insert an object
/// and delete it again. If nothing else changed, the pass has no effect.
struct PassLedger {
    /// Whether links changed at an object whose links the pass had changed before.
    private(set) var hasRepeatedLinks = false
    /// Whether the pass wrote stored identifiers of links. These are not compared.
    var hasBookkeeping = false
    /// Whether an object was inserted that the pass will not delete. Nothing is noted afterwards.
    var hasCertainInsertion = false
    /// The objects at both ends of changed links, by the index of the root entity.
    /// `hasUndoneItself(in:)` compares them with their state before the pass.
    private(set) var linked: [Int: ObjectSet] = [:]

    /// Notes the links that a batch changed.
    ///
    /// Detached targets need no note. A later change that restores such a link states both ends,
    /// and one of them is noted here.
    mutating func note(_ batch: LinkBatch, _ result: LinkBatch.Result, in model: DataModel) {
        guard !hasCertainInsertion, !result.changed.isEmpty else { return }
        let changed = ObjectSet(result.changed)
        let sources = model.layouts[batch.relationship.source].root
        let targets = model.layouts[batch.relationship.destination].root
        note(result.changed, root: sources)
        for (index, source) in batch.sources.enumerated() where changed.contains(source) {
            note(batch.targets(at: index), root: targets)
        }
    }

    private mutating func note(_ objects: some Sequence<ObjectID>, root: Int) {
        // Taken out during the change, because a second reference would copy the whole set.
        var linked = self.linked.removeValue(forKey: root) ?? ObjectSet()
        for object in objects where !linked.insert(object) { hasRepeatedLinks = true }
        self.linked[root] = linked
    }
}

/// The value of a sync in a transaction, and whether the sync undid all its changes.
struct SyncEffect<Value: Sendable>: Sendable {
    var value: Value
    /// Whether the store is in the state from before the pass, although the pass wrote to it.
    var isUndone = false

    func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> SyncEffect<Other> {
        SyncEffect<Other>(value: try transform(value), isUndone: isUndone)
    }
}

extension SyncPass {
    /// Whether the pass wrote something and left the store as it was.
    ///
    /// Only a pass that changed something twice reads the store to find out. It stops at the first
    /// difference.
    ///
    /// - Parameter store: The store of the transaction. Its readers see the state before the pass.
    func hasUndoneItself(in store: any Store) async throws -> Bool {
        guard tally.hasRepeatedChanges || ledger.hasRepeatedLinks, !ledger.hasBookkeeping, tally.keepsObjects
        else { return false }
        var touched = ledger.linked
        for (root, objects) in tally.updatedObjects {
            touched[root] = ObjectSet((touched[root]?.objects ?? []) + objects.objects)
        }
        let queries = touched.sortedByKey.flatMap { root, objects in
            let all = objects.objects
            return stride(from: 0, to: all.count, by: Self.comparedCount).map {
                (root: root, objects: Array(all[$0..<min($0 + Self.comparedCount, all.count)]))
            }
        }
        return try await store.read { [transaction, model] before in
            for query in queries {
                let layout = model.layouts[query.root]
                guard try await transaction.hasSame(query.objects, of: layout, as: before, in: model) else {
                    return false
                }
            }
            return true
        }
    }

    /// The number of objects that one query compares.
    private static let comparedCount = 200
}

extension StoreReader {
    /// Whether another reader has the same objects with the same links.
    ///
    /// - Parameter root: The root entity of the objects.
    fileprivate func hasSame(
        _ objects: [ObjectID], of root: EntityLayout, as other: any StoreReader, in model: DataModel
    ) async throws -> Bool {
        let query = StoreQuery(root.name, objects: .only(objects))
        guard try await records(query) == other.records(query) else { return false }
        for layout in root.family.map({ model.layouts[$0] }) {
            for relationship in layout.relationships where relationship.source == layout.index {
                let mine = try await links(relationship, of: objects)
                let others = try await other.links(relationship, of: objects)
                guard Self.targets(mine) == Self.targets(others) else { return false }
            }
        }
        return true
    }

    private static func targets(_ links: [LinkBatch.Link]) -> [ObjectID: [ObjectID]] {
        var targets: [ObjectID: [ObjectID]] = [:]
        for link in links { targets[link.source, default: []].append(link.target) }
        return targets
    }
}
