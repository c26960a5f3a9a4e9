import JSONMapper
import SyncModel
import SyncStore

/// The counts of a pass. An object that the pass meets twice counts once.
struct PassCounts {
    /// What the pass saw of the entities that share a root, and did to them.
    private struct Rows {
        /// The objects of the payload, from all readings.
        var seen = ObjectSet()
        /// The part of `seen` that the current reading has not contained, apart from pages that
        /// broke off.
        var missing = ObjectSet()
        /// The objects that the current page contains and earlier pages did not.
        var fresh: [Int64] = []
        var inserted = ObjectSet()
        var updated = ObjectSet()
        /// The objects of the current page; empty if the payload has no pages.
        var page = ObjectSet()
        /// The objects by the index of their entity; empty if only one entity has the root.
        var entities: [Int: ObjectSet] = [:]
    }

    let model: DataModel
    /// The objects and what the pass did to them, by the index of the root entity.
    private var rows: [Int: Rows] = [:]
    /// The counts by the index of the entity.
    private var counts: [Int: StoreSyncResult.Counts] = [:]
    /// The keys of deleted objects by the index of the entity; empty unless the store reports keys.
    private var deletedKeys: [Int: [Record.Key]] = [:]
    /// Whether the payload has pages, which may break off and be read again.
    private var hasPages = false
    /// Whether an object was inserted since this was set to false.
    var hasInserted = false
    /// Whether the pass deleted no object, not even one that it had inserted.
    private(set) var deletesNothing = true

    init(_ model: DataModel) {
        self.model = model
    }

    /// The objects of the current reading that share a root with an entity.
    func seen(_ layout: EntityLayout) -> ObjectSet {
        guard let rows = rows[layout.root] else { return ObjectSet() }
        return rows.missing.isEmpty
            ? rows.seen : ObjectSet(rows.seen.objects.lazy.filter { !rows.missing.contains($0) })
    }

    /// Begins a new reading of all pages. Objects that it does not contain are absent.
    mutating func beginAnew() {
        for (root, seen) in rows { rows[root]?.missing = seen.seen }
    }

    /// Begins a page.
    mutating func beginPage() {
        hasPages = true
        for root in rows.keys {
            rows[root]?.fresh = []
            rows[root]?.page = ObjectSet()
        }
    }

    /// Abandons the current page. Objects seen only in it are absent unless they are seen again.
    mutating func abandonPage() {
        for (root, seen) in rows { rows[root]?.missing.formUnion(seen.fresh) }
    }

    /// Whether the current reading has contained an object.
    func isSeen(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        guard let rows = rows[layout.root] else { return false }
        return rows.seen.contains(object) && !rows.missing.contains(object)
    }

    /// The kind of drift for an object that the payload contains twice with different values.
    ///
    /// The pages of a source are not of one moment. An object that differs between two pages, or
    /// between two readings of one page, may have changed at the source in the meantime.
    ///
    /// - Returns: ``DriftReport/Kind/conflict`` if the payload has no pages, or if the current page
    ///   contains the object already; ``DriftReport/Kind/changedBetweenPages`` otherwise.
    func kindOfConflict(_ object: ObjectID, of layout: EntityLayout) -> DriftReport.Kind {
        !hasPages || rows[layout.root]?.page.contains(object) == true ? .conflict : .changedBetweenPages
    }

    /// Whether a deletion may concern objects that the pass inserted. These are among the given
    /// objects, or an earlier reading contained them.
    func mayHaveInserted(_ query: StoreQuery) -> Bool {
        guard let root = model[query.entity]?.root, let rows = rows[root] else { return false }
        switch query.objects {
        case .only(let objects): return objects.contains { rows.inserted.contains($0) }
        case .all, .except: return rows.missing.objects.contains { rows.inserted.contains($0) }
        }
    }

    func inserted(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.inserted ?? ObjectSet()
    }

    func updated(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.updated ?? ObjectSet()
    }

    /// Counts the objects of a merge by their change.
    ///
    /// - Returns: The rows that changed an object which the payload had contained before, with the
    ///   kind of drift.
    mutating func count(
        _ result: MergeRequest.Result, of layout: EntityLayout
    ) -> [(row: Int, kind: DriftReport.Kind)] {
        var changedAgain: [(row: Int, kind: DriftReport.Kind)] = []
        var rows = self.rows.removeValue(forKey: layout.root) ?? Rows()
        var counts = self.counts[layout.index] ?? StoreSyncResult.Counts()
        let isOfFamily = model.layouts[layout.root].family.count > 1
        var own = rows.entities.removeValue(forKey: layout.index) ?? ObjectSet()
        // Objects of the family that were counted as unchanged, maybe for another entity.
        var recounted: [ObjectID] = []
        for (index, merged) in result.rows.enumerated() {
            guard let merged else { continue }
            let (row, change) = (merged.object, merged.change)
            let isNew = rows.seen.insert(row)
            let isFirst = isNew || rows.missing.remove(row)
            let isFirstOfPage = hasPages && rows.page.insert(row)
            if hasPages, isFirst { rows.fresh.append(row) }
            if isOfFamily, isNew || change == .inserted { own.insert(row) }
            switch change {
            case .inserted:
                hasInserted = true
                rows.inserted.insert(row)
                counts.inserted += 1
            case .updated:
                if !isNew { changedAgain.append((index, isFirstOfPage ? .changedBetweenPages : .conflict)) }
                if !rows.inserted.contains(row), rows.updated.insert(row) {
                    if isOfFamily, !isNew {
                        recounted.append(row)
                    } else {
                        counts.updated += 1
                        if !isNew { counts.unchanged -= 1 }
                    }
                }
            case .unchanged:
                if isNew { counts.unchanged += 1 }
            }
        }
        if isOfFamily { rows.entities[layout.index] = own }
        self.rows[layout.root] = rows
        // Objects of other entities of the family are counted for these.
        if !isOfFamily || !own.isEmpty { self.counts[layout.index] = counts }
        for object in recounted {
            let entity = rows.entities.first { $1.contains(object) }?.key ?? layout.index
            self.counts[entity, default: StoreSyncResult.Counts()].unchanged -= 1
            self.counts[entity, default: StoreSyncResult.Counts()].updated += 1
        }
        return changedAgain
    }

    /// Counts objects that get another entity as those of the new one.
    mutating func move(_ objects: [ObjectID], from former: EntityLayout, to layout: EntityLayout) {
        guard let rows = rows[layout.root] else { return }
        for object in objects where rows.seen.contains(object) {
            let change: WritableKeyPath<StoreSyncResult.Counts, Int> =
                rows.inserted.contains(object) ? \.inserted : rows.updated.contains(object) ? \.updated : \.unchanged
            counts[former.index, default: StoreSyncResult.Counts()][keyPath: change] -= 1
            counts[layout.index, default: StoreSyncResult.Counts()][keyPath: change] += 1
            self.rows[layout.root]?.entities[former.index]?.remove(object)
            self.rows[layout.root]?.entities[layout.index, default: ObjectSet()].insert(object)
        }
    }

    /// Counts objects whose relationships changed.
    mutating func countChanged(_ changed: [Int64], of layout: EntityLayout) {
        guard !changed.isEmpty else { return }
        _ = count(MergeRequest.Result(changed.map { MergeRequest.Result.Row($0, .updated) }), of: layout)
    }

    /// Counts deleted objects. If the result has their keys, an object that the pass inserted
    /// counts neither as inserted nor as deleted.
    mutating func countDeleted(_ result: RemovalResult) {
        for (entity, count) in result.counts {
            guard let layout = model[entity] else { continue }
            var keys = result.keys[entity] ?? []
            let all = keys.count
            keys.removeAll { rows[layout.root]?.inserted.remove($0.object) == true }
            let undone = all - keys.count
            if count > 0 { deletesNothing = false }
            counts[layout.index, default: StoreSyncResult.Counts()].inserted -= undone
            counts[layout.index, default: StoreSyncResult.Counts()].deleted += count - undone
            deletedKeys[layout.index, default: []] += keys.map(\.key)
        }
    }

    /// The keys of the deleted objects of an entity and its sub-entities; empty unless the store
    /// reports keys.
    func deletedKeys(_ layout: EntityLayout) -> [Record.Key] {
        layout.family.flatMap { deletedKeys[$0] ?? [] }
    }

    /// Counts objects that were kept although absent.
    mutating func countKept(_ count: Int, of layout: EntityLayout) {
        counts[layout.index, default: StoreSyncResult.Counts()].kept += count
    }

    /// The result of the pass for an entity and its sub-entities.
    func result(for layout: EntityLayout) -> StoreSyncResult {
        var result = StoreSyncResult()
        for (index, counts) in counts {
            result.countsByEntity[model.layouts[index].name] = counts
            if layout.family.contains(index) { result.counts += counts }
        }
        return result
    }
}
