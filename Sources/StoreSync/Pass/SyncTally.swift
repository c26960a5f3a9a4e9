import JSONMapper
import SyncModel
import SyncStore

/// Counts what a pass does to each object. An object that is met twice counts once.
struct SyncTally {
    /// The objects of entities that share a root.
    private struct Rows {
        var seen = ObjectSet()
        /// The objects seen since the pages were read again; nil if they were not.
        var seenAgain: ObjectSet?
        /// The objects first seen in the page at hand.
        var fresh: [Int64] = []
        /// Objects seen only in pages that broke off and had other objects when they were read
        /// again.
        var abandoned: Set<Int64> = []
        var inserted = ObjectSet()
        var updated = ObjectSet()
        /// The objects seen in the page at hand, if there are pages.
        var page = ObjectSet()
    }

    private static let reportedProblemCount = 1000

    let model: DataModel
    /// By the indices of root entities.
    private var rows: [Int: Rows] = [:]
    /// By the indices of entities.
    private var counts: [Int: StoreSyncResult.Counts] = [:]
    /// The keys of deleted objects, if they are reported; by the indices of entities.
    private var deletedKeys: [Int: [RecordKey]] = [:]
    private(set) var rejected: [MappingProblem] = []
    private(set) var rejectedCount = 0
    /// The highest index of an element of the page at hand that was left out; nil if none was.
    private(set) var lastRejectedIndex: Int?
    /// Whether an object was left out that the store may have.
    var mayLackObjects = false
    var toleratedCount = 0
    var drift = DriftReport()
    /// Whether the payload has pages that may break off and be read again.
    private var hasPages = false
    /// Whether an object was changed that the pass had inserted or changed before, or deleted that
    /// it had inserted.
    private(set) var hasRepeatedChanges = false

    init(_ model: DataModel) {
        self.model = model
    }

    /// The objects of the payload that share a root with an entity.
    func seen(_ layout: EntityLayout) -> ObjectSet {
        guard let rows = rows[layout.root] else { return ObjectSet() }
        let seen = rows.seenAgain ?? rows.seen
        return rows.abandoned.isEmpty ? seen : ObjectSet(seen.objects.filter { !rows.abandoned.contains($0) })
    }

    /// Begins a new reading of all pages. Objects that are not seen again are absent.
    mutating func beginAnew() {
        for root in rows.keys {
            rows[root]?.seenAgain = ObjectSet()
            rows[root]?.abandoned = []
        }
    }

    /// Begins a page.
    mutating func beginPage() {
        hasPages = true
        lastRejectedIndex = nil
        for root in rows.keys {
            rows[root]?.fresh = []
            rows[root]?.page = ObjectSet()
        }
    }

    /// Abandons the page at hand. Objects seen only in it are absent unless they are seen again.
    mutating func abandonPage() {
        for (root, seen) in rows { rows[root]?.abandoned.formUnion(seen.fresh) }
    }

    /// Whether the payload has contained an object before.
    func isSeen(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        guard let rows = rows[layout.root] else { return false }
        return (rows.seenAgain ?? rows.seen).contains(object)
    }

    /// How an object is reported that the payload has with different values.
    ///
    /// The pages of a source are not of one moment. An object that differs between two pages, or
    /// between two readings of one, may have changed at the source in the meantime.
    ///
    /// - Returns: ``DriftReport/Kind/conflict`` if the page at hand has the object already.
    func kindOfConflict(_ object: ObjectID, of layout: EntityLayout) -> DriftReport.Kind {
        !hasPages || rows[layout.root]?.page.contains(object) == true ? .conflict : .changedBetweenPages
    }

    /// Whether the same objects are stored as before the pass.
    var keepsObjects: Bool {
        !hasInserted && counts.values.allSatisfy { $0.deleted == 0 }
    }

    /// Whether no object was deleted, not even one that the pass had inserted.
    var deletesNothing: Bool {
        !hasRepeatedChanges && counts.values.allSatisfy { $0.deleted == 0 }
    }

    /// The updated objects by the index of the root entity.
    var updatedObjects: [Int: ObjectSet] {
        rows.mapValues(\.updated)
    }

    /// Whether an object was inserted that may be deleted in the same pass: one of some objects, or
    /// of those seen in a page that broke off.
    func mayHaveInserted(_ query: StoreQuery) -> Bool {
        guard let root = model[query.entity]?.root, let rows = rows[root] else { return false }
        switch query.objects {
        case .only(let objects): return objects.contains { rows.inserted.contains($0) }
        case .all, .except: return !rows.abandoned.isEmpty
        }
    }

    /// Counts all updated objects as unchanged.
    mutating func undoUpdates() {
        for root in rows.keys { rows[root]?.updated = ObjectSet() }
        for index in counts.keys {
            guard let updated = counts[index]?.updated else { continue }
            counts[index]?.unchanged += updated
            counts[index]?.updated = 0
        }
    }

    /// Whether an object of any entity was inserted.
    var hasInserted: Bool {
        rows.values.contains { !$0.inserted.isEmpty }
    }

    func inserted(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.inserted ?? ObjectSet()
    }

    func updated(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.updated ?? ObjectSet()
    }

    /// Counts what became of the objects of a merge.
    ///
    /// - Returns: The rows that changed an object which the payload had contained before, and how
    ///   they are reported.
    mutating func count(
        _ result: MergeResult, of layout: EntityLayout
    ) -> [(row: Int, kind: DriftReport.Kind)] {
        var changedAgain: [(row: Int, kind: DriftReport.Kind)] = []
        var rows = self.rows.removeValue(forKey: layout.root) ?? Rows()
        var counts = self.counts[layout.index] ?? StoreSyncResult.Counts()
        for (index, merged) in result.rows.enumerated() {
            guard let merged else { continue }
            let (row, change) = (merged.object, merged.change)
            let isNew = rows.seen.insert(row)
            let isFirst = rows.seenAgain?.insert(row) ?? isNew
            let isFirstOfPage = hasPages && rows.page.insert(row)
            if hasPages, isFirst || rows.abandoned.remove(row) != nil { rows.fresh.append(row) }
            switch change {
            case .inserted:
                rows.inserted.insert(row)
                counts.inserted += 1
            case .updated:
                if !isFirst { changedAgain.append((index, isFirstOfPage ? .changedBetweenPages : .conflict)) }
                if !rows.inserted.contains(row), rows.updated.insert(row) {
                    counts.updated += 1
                    if !isNew { counts.unchanged -= 1 }
                } else {
                    hasRepeatedChanges = true
                }
            case .unchanged:
                if isNew { counts.unchanged += 1 }
            }
        }
        self.rows[layout.root] = rows
        self.counts[layout.index] = counts
        return changedAgain
    }

    /// Counts objects whose relationships changed.
    mutating func countChanged(_ changed: [Int64], of layout: EntityLayout) {
        guard !changed.isEmpty else { return }
        _ = count(MergeResult(changed.map { MergeResult.Row($0, .updated) }), of: layout)
    }

    /// Counts deleted objects. Those that the pass inserted count as neither, if their keys are
    /// there.
    mutating func countDeleted(_ result: RemovalResult) {
        for (entity, count) in result.counts {
            guard let layout = model[entity] else { continue }
            var keys = result.keys[entity] ?? []
            let all = keys.count
            keys.removeAll { rows[layout.root]?.inserted.remove($0.object) == true }
            let undone = all - keys.count
            hasRepeatedChanges = hasRepeatedChanges || undone > 0
            counts[layout.index, default: StoreSyncResult.Counts()].inserted -= undone
            counts[layout.index, default: StoreSyncResult.Counts()].deleted += count - undone
            deletedKeys[layout.index, default: []] += keys.map(\.key)
        }
    }

    /// The keys of an entity's deleted objects, including its sub-entities; empty unless they are
    /// reported.
    func deletedKeys(_ layout: EntityLayout) -> [RecordKey] {
        layout.family.flatMap { deletedKeys[$0] ?? [] }
    }

    mutating func countWithheld(_ count: Int, of layout: EntityLayout) {
        counts[layout.index, default: StoreSyncResult.Counts()].withheld += count
    }

    /// Reports an object that is left out.
    ///
    /// - Parameter hasKey: Whether the store may have the object.
    mutating func reject(_ problem: MappingProblem, hasKey: Bool) {
        rejectedCount += 1
        lastRejectedIndex = max(lastRejectedIndex ?? 0, problem.index)
        mayLackObjects = mayLackObjects || hasKey
        if rejected.count < Self.reportedProblemCount { rejected.append(problem) }
    }

    /// The numbers of problems at one moment.
    struct Problems {
        let rejectedCount: Int
        fileprivate let toleratedCount: Int
        fileprivate let drift: DriftReport
        fileprivate let mayLackObjects: Bool
    }

    var problems: Problems {
        Problems(
            rejectedCount: rejectedCount, toleratedCount: toleratedCount, drift: drift,
            mayLackObjects: mayLackObjects)
    }

    /// Restores the numbers of problems before objects that are read again.
    ///
    /// - Parameter areDoubtful: Whether objects that were left out since may still be in the store.
    mutating func restore(_ problems: Problems, areDoubtful: Bool) {
        rejected.removeLast(max(0, rejected.count - problems.rejectedCount))
        rejectedCount = problems.rejectedCount
        toleratedCount = problems.toleratedCount
        drift = problems.drift
        mayLackObjects = problems.mayLackObjects || areDoubtful && mayLackObjects
    }

    /// Returns the result for an entity.
    func result(for layout: EntityLayout) -> StoreSyncResult {
        var result = StoreSyncResult()
        for (index, counts) in counts {
            result.countsByEntity[model.layouts[index].name] = counts
            if layout.family.contains(index) { result.counts += counts }
        }
        result.rejected = rejected
        result.rejectedCount = rejectedCount
        result.toleratedCount = toleratedCount
        result.drift = drift
        return result
    }
}
