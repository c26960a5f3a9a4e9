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
    /// Whether an object was left out that the store may have.
    var mayLackObjects = false
    var toleratedCount = 0
    var drift = DriftReport()
    /// Whether the payload has pages that may break off and be read again.
    private var hasPages = false

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
        for root in rows.keys { rows[root]?.fresh = [] }
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

    /// Whether an object of any entity was inserted.
    var hasInserted: Bool {
        rows.values.contains { !$0.inserted.isEmpty }
    }

    /// Whether an object that shares a root with an entity was inserted.
    func hasInserted(_ layout: EntityLayout) -> Bool {
        rows[layout.root]?.inserted.isEmpty == false
    }

    func inserted(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.inserted ?? ObjectSet()
    }

    func updated(_ layout: EntityLayout) -> ObjectSet {
        rows[layout.root]?.updated ?? ObjectSet()
    }

    /// Counts what became of the objects of a merge.
    ///
    /// - Returns: The rows that changed an object which the payload had contained before.
    mutating func count(_ result: MergeResult, of layout: EntityLayout) -> [Int] {
        var changedAgain: [Int] = []
        var rows = self.rows.removeValue(forKey: layout.root) ?? Rows()
        var counts = self.counts[layout.index] ?? StoreSyncResult.Counts()
        for (index, merged) in result.rows.enumerated() {
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
                if !isFirst { changedAgain.append(index) }
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
        return changedAgain
    }

    /// Counts objects whose relationships changed.
    mutating func countChanged(_ changed: [Int64], of layout: EntityLayout) {
        guard !changed.isEmpty else { return }
        _ = count(MergeResult(changed.map { MergeResult.Row($0, .updated) }), of: layout)
    }

    mutating func countDeleted(_ result: RemovalResult) {
        for (entity, count) in result.counts {
            guard let layout = model[entity] else { continue }
            counts[layout.index, default: StoreSyncResult.Counts()].deleted += count
            deletedKeys[layout.index, default: []] += (result.keys[entity] ?? []).map(\.key)
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
        mayLackObjects = mayLackObjects || hasKey
        if rejected.count < Self.reportedProblemCount { rejected.append(problem) }
    }

    /// The numbers of problems at one moment.
    struct Problems {
        fileprivate let rejectedCount: Int
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
