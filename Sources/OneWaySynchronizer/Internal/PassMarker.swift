import Synchronization

/// Marks the tasks of a pass, so that a call that would wait for its own pass is seen.
final class PassMarker: Sendable {
    /// The passes that the current task is part of, and those that wait for them. A task that outlives its pass keeps
    /// markers of passes that have ended.
    @TaskLocal static var surrounding: [PassMarker] = []

    private let synchronizer: ObjectIdentifier
    private let hasEnded = Atomic(false)

    init(of synchronizer: AnyObject) {
        self.synchronizer = ObjectIdentifier(synchronizer)
    }

    /// A running pass keeps its synchronizer alive, so that no other has its identifier.
    func isRunning(of synchronizer: AnyObject) -> Bool {
        !hasEnded.load(ordering: .acquiring) && self.synchronizer == ObjectIdentifier(synchronizer)
    }

    /// Runs a pass whose tasks are marked.
    func mark<Value: Sendable>(_ pass: @Sendable () async -> Value) async -> Value {
        let running = Self.surrounding.filter { !$0.hasEnded.load(ordering: .acquiring) }
        defer { hasEnded.store(true, ordering: .releasing) }
        return await Self.$surrounding.withValue(running + [self]) { await pass() }
    }
}
