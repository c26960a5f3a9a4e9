import SyncBase
import Synchronization

/// Hands events to any number of observers, in one order for all of them, and never waits for any.
final class EventBroadcaster: Sendable {
    private struct Observer {
        var continuation: AsyncStream<SyncEvent>.Continuation
        var drops: SyncEvents.DropCounter
    }

    private struct State {
        var nextID = 0
        var observers: [Int: Observer] = [:]
    }

    private let state = Locked(State())
    /// The number of observers, to be read without the lock.
    private let observerCount = Atomic(0)

    var isObserved: Bool { observerCount.load(ordering: .relaxed) > 0 }

    deinit {
        state.withLock { state in
            for observer in state.observers.values { observer.continuation.finish() }
        }
    }

    /// A new observer, who sees what is sent from now on.
    func subscribe(bufferSize: Int) -> SyncEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncEvent.self, bufferingPolicy: .bufferingNewest(max(bufferSize, 1)))
        let drops = SyncEvents.DropCounter()
        let id = state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = Observer(continuation: continuation, drops: drops)
            observerCount.store(state.observers.count, ordering: .relaxed)
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(id) }
        return SyncEvents(stream: stream, drops: drops)
    }

    private func unsubscribe(_ id: Int) {
        let observer = state.withLock { state in
            let observer = state.observers.removeValue(forKey: id)
            observerCount.store(state.observers.count, ordering: .relaxed)
            return observer
        }
        // Released outside the lock: the last reference to a continuation may run its termination.
        _ = observer
    }

    func send(_ event: @autoclosure () -> SyncEvent) {
        guard isObserved else { return }
        let event = event()
        state.withLock { state in
            for observer in state.observers.values {
                if case .dropped = observer.continuation.yield(event) {
                    observer.drops.count.add(1, ordering: .relaxed)
                }
            }
        }
    }
}
