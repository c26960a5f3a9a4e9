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
    }

    private let state: Locked<State>

    init(runCount: Int) {
        state = Locked(State(remainingRunCount: runCount))
    }

    /// Whether no other run follows. Values that are refused wait until then.
    var isLastRun: Bool { state.withLock { $0.remainingRunCount == 1 } }

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
    func end(_ pass: SyncPass, of entity: String) {
        state.withLock { state in
            state.removalCounts[entity] = pass.sweptCount
            state.remainingRunCount -= 1
            for layout in pass.model.layouts where layout.parent == nil {
                let inserted = pass.tally.inserted(layout)
                if inserted.count > 0 { state.inserted[layout.root, default: []].append(inserted) }
            }
        }
    }
}
