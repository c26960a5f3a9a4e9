import SyncBase
import SyncModel
import SyncStore

/// The changes of a pass that later changes of the same pass may have undone.
///
/// A payload that contradicts itself can change an object and change it back, or insert an object
/// and delete it again. If nothing else changed, the pass has no effect in the end.
struct PassLedger {
    /// Whether a link was changed at an object whose links the pass had changed before.
    private(set) var hasRepeatedLinks = false
    /// Whether bookkeeping was written. It is not compared.
    var hasBookkeeping = false
    /// Whether an object was inserted that is certain to remain. Nothing is noted from then on.
    var hasCertainInsertion = false
    /// The objects at either end of changed links, by the index of the root entity.
    private(set) var linked: [Int: ObjectSet] = [:]

    /// Notes the links that a batch changed.
    ///
    /// Detached targets need no note: a later change that restores such a link names both its ends,
    /// one of which is noted here.
    mutating func note(_ batch: LinkBatch, _ result: LinkResult, in model: DataModel) {
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
        // Taken out during the change: a second reference would copy all of it.
        var linked = self.linked.removeValue(forKey: root) ?? ObjectSet()
        for object in objects where !linked.insert(object) { hasRepeatedLinks = true }
        self.linked[root] = linked
    }
}

/// The value of a sync in a transaction, and whether the sync undid all that it did.
struct SyncEffect<Value: Sendable>: Sendable {
    var value: Value
    /// Whether the store is as it was, although it was written to.
    var isUndone = false

    func map<Other: Sendable>(_ transform: (Value) throws -> Other) rethrows -> SyncEffect<Other> {
        SyncEffect<Other>(value: try transform(value), isUndone: isUndone)
    }
}

extension SyncPass {
    /// Whether the pass wrote something and left the store as it was.
    ///
    /// Only a pass that changed something twice reads the store to find out, up to the first
    /// difference.
    ///
    /// - Parameter store: The store of the transaction. It reads the state before the pass.
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

    /// The number of objects that are compared at once.
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

    private static func targets(_ links: [StoreLink]) -> [ObjectID: [ObjectID]] {
        var targets: [ObjectID: [ObjectID]] = [:]
        for link in links { targets[link.source, default: []].append(link.target) }
        return targets
    }
}
