import SyncBase

/// Marks the tasks of a pass, so that a call that would wait for its own pass is detected.
final class PassMarker: Sendable {
    /// The passes that the current task is part of. A task that outlives its pass keeps the markers
    /// of ended passes.
    @TaskLocal static var surrounding: [PassMarker] = []

    fileprivate let synchronizer: ObjectIdentifier
    private let hasEnded = Locked(false)

    init(of synchronizer: AnyObject) {
        self.synchronizer = ObjectIdentifier(synchronizer)
    }

    /// Whether the pass still runs. A running pass keeps its synchronizer alive, which makes the
    /// identifier unique.
    fileprivate var isRunning: Bool { !hasEnded.value }

    /// Runs a pass and marks its tasks.
    func mark<Value: Sendable>(_ pass: @Sendable () async -> Value) async -> Value {
        defer { hasEnded.value = true }
        return await Self.$surrounding.withValue(Self.surrounding.filter(\.isRunning) + [self]) { await pass() }
    }
}

/// The pass that a call of a processor belongs to.
package enum PassScope {
    /// The innermost pass that the current task is part of, the same from `owsSyncBegin` to
    /// `owsSyncEnd`; nil outside a pass.
    package static var id: ObjectIdentifier? { PassMarker.surrounding.last.map(ObjectIdentifier.init) }
}

/// The passes of the process that wait for a synchronizer; detects waits that would never end.
struct PassWait {
    private struct Edge {
        var pass: PassMarker
        var target: ObjectIdentifier
    }

    private struct State {
        var lastID = 0
        var edges: [Int: Edge] = [:]
    }

    private static let state = Locked(State())

    private let ids: [Int]

    /// Records that the passes around the current task wait for a synchronizer, until ``end()``.
    ///
    /// - Returns: Nil if one of those passes belongs to that synchronizer, or to one that it waits
    ///   for.
    init?(for synchronizer: AnyObject) {
        let passes = PassMarker.surrounding.filter(\.isRunning)
        guard !passes.isEmpty else {
            ids = []
            return
        }
        let target = ObjectIdentifier(synchronizer)
        let waiting = Set(passes.map(\.synchronizer))
        let ids: [Int]? = Self.state.withLock { state in
            // The synchronizers that the target's passes wait for, directly or through others.
            var reached: Set<ObjectIdentifier> = [target]
            var next = [target]
            while let current = next.popLast() {
                guard !waiting.contains(current) else { return nil }
                for edge in state.edges.values where edge.pass.synchronizer == current && edge.pass.isRunning {
                    if reached.insert(edge.target).inserted { next.append(edge.target) }
                }
            }
            return passes.map { pass in
                state.lastID += 1
                state.edges[state.lastID] = Edge(pass: pass, target: target)
                return state.lastID
            }
        }
        guard let ids else { return nil }
        self.ids = ids
    }

    /// Removes the wait.
    func end() {
        guard !ids.isEmpty else { return }
        Self.state.withLock { state in
            for id in ids { state.edges[id] = nil }
        }
    }
}
