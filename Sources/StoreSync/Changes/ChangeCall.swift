import SyncBase
import SyncModel
import SyncStore

/// What the runs of one call share, so that together they are one sync.
///
/// A run is the changes of one entity that follow each other.
final class ChangeCall: Sendable {
    private struct State: Sendable {
        /// The number of objects of each entity before the first run.
        var localCounts: [String: Int] = [:]
        /// The number of objects of each entity that earlier runs deleted because they are gone.
        var removalCounts: [String: Int] = [:]
        /// The objects that earlier runs inserted, by the index of their root entity.
        var inserted: [Int: [ObjectSet]] = [:]
        var remainingRunCount: Int
        /// The number of changes so far of which objects were rejected.
        var failedCount = 0
        /// The number of objects of the current run that were rejected and are counted in
        /// `failedCount`.
        var countedObjectCount = 0
    }

    private let state: Locked<State>

    init(runCount: Int) {
        state = Locked(State(remainingRunCount: runCount))
    }

    /// Whether no other run follows. Values that are refused wait until then.
    var isLastRun: Bool { state.withLock { $0.remainingRunCount == 1 } }

    /// The number of changes of which objects were rejected.
    ///
    /// An object that the store refuses at the end counts as a change of its own.
    var failedCount: Int { state.withLock { $0.failedCount } }

    /// Notes the end of a page of changes.
    ///
    /// - Parameter objectCount: The number of its objects that were rejected.
    func end(_ page: RemotePage, rejecting objectCount: Int) {
        state.withLock { state in
            state.failedCount += min(objectCount, page.changeCount)
            state.countedObjectCount += objectCount
        }
    }

    /// The number of objects that removals of an entity are limited by; nil before its first run.
    func localCount(of entity: String) -> Int? {
        state.withLock { $0.localCounts[entity] }
    }

    func removalCount(of entity: String) -> Int {
        state.withLock { $0.removalCounts[entity] ?? 0 }
    }

    /// Whether an earlier run inserted an object.
    func hasInserted(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        state.withLock { state in state.inserted[layout.root]?.contains { $0.contains(object) } == true }
    }

    func setLocalCount(_ count: Int, of entity: String) {
        state.withLock { $0.localCounts[entity] = count }
    }

    /// Notes the end of a run.
    func end(_ pass: StorePass, of entity: String) {
        state.withLock { state in
            state.removalCounts[entity] = pass.deletedCount
            state.remainingRunCount -= 1
            state.failedCount += pass.state.problems.rejectedCount - state.countedObjectCount
            state.countedObjectCount = 0
            for layout in pass.model.layouts where layout.parent == nil {
                let inserted = pass.state.counts.inserted(layout)
                if inserted.count > 0 { state.inserted[layout.root, default: []].append(inserted) }
            }
        }
    }
}
