import JSONMapper
import SyncModel
import SyncStore

/// Keeps count of what a sync does to each object, so that one which is met twice counts once.
struct SyncTally {
    /// The objects of the entities that share a root.
    private struct Rows {
        var seen = ObjectSet()
        /// Those since the payload began anew; nil where it has not.
        var seenAgain: ObjectSet?
        /// Those that were seen for the first time in the page that is being read.
        var fresh: [Int64] = []
        /// Those that were seen in pages alone that broke off, and were other when they were read
        /// again.
        var abandoned: Set<Int64> = []
        var inserted = ObjectSet()
        var updated = ObjectSet()
    }

    private static let reportedProblemCount = 1000

    let model: DataModel
    /// By the places of root entities.
    private var rows: [Int: Rows] = [:]
    /// By the places of entities.
    private var counts: [Int: StoreSyncResult.Counts] = [:]
    /// Of deleted objects, if they are asked for; by the places of entities.
    private var deletedKeys: [Int: [RecordKey]] = [:]
    private(set) var rejected: [MappingProblem] = []
    private(set) var rejectedCount = 0
    /// Whether an object was left out that may be one of the store's.
    private(set) var mayLackObjects = false
    var toleratedCount = 0
    /// Whether the payload comes in pages that may break off and be read again.
    private var hasPages = false

    init(_ model: DataModel) {
        self.model = model
    }

    /// The objects of the payload among those that share a root with an entity.
    func seen(_ layout: EntityLayout) -> ObjectSet {
        guard let rows = rows[layout.root] else { return ObjectSet() }
        let seen = rows.seenAgain ?? rows.seen
        return rows.abandoned.isEmpty ? seen : ObjectSet(seen.objects.filter { !rows.abandoned.contains($0) })
    }

    /// Says that the whole payload is read once more: what is not seen again is absent.
    mutating func beginAnew() {
        for root in rows.keys {
            rows[root]?.seenAgain = ObjectSet()
            rows[root]?.abandoned = []
        }
    }

    /// Says that a page begins.
    mutating func beginPage() {
        hasPages = true
        for root in rows.keys { rows[root]?.fresh = [] }
    }

    /// Says that the page broke off: what was seen in it alone is absent, unless it is seen again.
    mutating func abandonPage() {
        for (root, seen) in rows { rows[root]?.abandoned.formUnion(seen.fresh) }
    }

    func inserted(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.inserted ?? ObjectSet()
    }

    func updated(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.updated ?? ObjectSet()
    }

    mutating func count(_ result: MergeResult, of layout: EntityLayout) {
        var rows = self.rows.removeValue(forKey: layout.root) ?? Rows()
        var counts = self.counts[layout.index] ?? StoreSyncResult.Counts()
        for merged in result.rows {
            guard let merged else { continue }
            let (row, change) = (merged.object, merged.change)
            let isNew = rows.seen.insert(row)
            let isFirst = rows.seenAgain?.insert(row) ?? isNew
            if hasPages, isFirst || rows.abandoned.remove(row) != nil { rows.fresh.append(row) }
            switch change {
            case .inserted:
                rows.inserted.insert(row)
                counts.inserted += 1
            case .updated:
                if !rows.inserted.contains(row), rows.updated.insert(row) {
                    counts.updated += 1
                    if !isNew { counts.unchanged -= 1 }
                }
            case .unchanged:
                if isNew { counts.unchanged += 1 }
            }
        }
        self.rows[layout.root] = rows
        self.counts[layout.index] = counts
    }

    /// Counts objects whose relationships are others now.
    mutating func countChanged(_ changed: [Int64], of layout: EntityLayout) {
        guard !changed.isEmpty else { return }
        count(MergeResult(changed.map { MergeResult.Row($0, .updated) }), of: layout)
    }

    mutating func countDeleted(_ result: RemovalResult) {
        for (entity, count) in result.counts {
            guard let layout = model[entity] else { continue }
            counts[layout.index, default: StoreSyncResult.Counts()].deleted += count
            deletedKeys[layout.index, default: []] += (result.keys[entity] ?? []).map(\.key)
        }
    }

    /// The keys of the deleted objects of an entity, sub-entities included; none unless they were
    /// asked for.
    func deletedKeys(_ layout: EntityLayout) -> [RecordKey] {
        layout.family.flatMap { deletedKeys[$0] ?? [] }
    }

    mutating func countWithheld(_ count: Int, of layout: EntityLayout) {
        counts[layout.index, default: StoreSyncResult.Counts()].withheld += count
    }

    /// Reports an object that is left out.
    ///
    /// - Parameter hasKey: Whether it may be one that the store has.
    mutating func reject(_ problem: MappingProblem, hasKey: Bool) {
        rejectedCount += 1
        mayLackObjects = mayLackObjects || hasKey
        if rejected.count < Self.reportedProblemCount { rejected.append(problem) }
    }

    /// What was left out and what was tolerated so far.
    struct Problems {
        fileprivate let rejectedCount: Int
        fileprivate let toleratedCount: Int
        fileprivate let mayLackObjects: Bool
    }

    var problems: Problems {
        Problems(rejectedCount: rejectedCount, toleratedCount: toleratedCount, mayLackObjects: mayLackObjects)
    }

    /// Forgets the problems of objects that are read, or were read, another time.
    ///
    /// - Parameter areDoubtful: Whether what was left out since may still be an object that the
    ///   store has.
    mutating func restore(_ problems: Problems, areDoubtful: Bool) {
        rejected.removeLast(max(0, rejected.count - problems.rejectedCount))
        rejectedCount = problems.rejectedCount
        toleratedCount = problems.toleratedCount
        mayLackObjects = problems.mayLackObjects || areDoubtful && mayLackObjects
    }

    /// What was done, as a result for an entity.
    func result(for layout: EntityLayout) -> StoreSyncResult {
        var result = StoreSyncResult()
        for (index, counts) in counts {
            result.countsByEntity[model.layouts[index].name] = counts
            if layout.family.contains(index) { result.counts += counts }
        }
        result.rejected = rejected
        result.rejectedCount = rejectedCount
        result.toleratedCount = toleratedCount
        return result
    }
}
