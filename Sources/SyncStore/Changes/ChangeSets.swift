import SyncBase

/// What one observer sees of a store's changes, from the moment it was asked for.
///
/// For a single `for await` loop, which gets a set for each commit that changed something, in the order of the commits. Where the observer is
/// slower than the commits, sets wait for it; beyond some number the newest two become one, so that nothing is lost and what waits takes no
/// more memory than the keys in it. No commit ever waits. Ends when the loop's task is cancelled or the store is gone.
public struct ChangeSets: AsyncSequence, Sendable {
    /// See ``ChangeSet``.
    public typealias Element = ChangeSet
    /// Never throws.
    public typealias Failure = Never

    /// Says that there is something in the buffer.
    private let signals: AsyncStream<Void>
    private let buffer: ChangeSetBuffer

    init(_ signals: AsyncStream<Void>, buffer: ChangeSetBuffer) {
        self.signals = signals
        self.buffer = buffer
    }

    /// Takes sets from the buffer.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(signals: signals.makeAsyncIterator(), buffer: buffer)
    }

    /// Takes sets from the buffer, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var signals: AsyncStream<Void>.Iterator
        fileprivate let buffer: ChangeSetBuffer

        /// Waits for the next set; `nil` once the task is cancelled or the store is gone.
        public mutating func next() async -> ChangeSet? {
            await next(isolation: nil)
        }

        /// Waits for the next set; `nil` once the task is cancelled or the store is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet? {
            while !Task.isCancelled {
                if let changes = buffer.take() { return changes }
                guard await signals.next(isolation: actor) != nil else { return buffer.take() }
            }
            return nil
        }
    }
}

/// The sets that one observer has not taken yet.
final class ChangeSetBuffer: Sendable {
    private let waiting = Locked<[ChangeSet]>([])
    private let capacity: Int

    /// - Parameter capacity: How many sets wait apart from one another, at least 1.
    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    func add(_ changes: ChangeSet) {
        waiting.withLock { waiting in
            guard waiting.count >= capacity, var last = waiting.popLast() else { return waiting.append(changes) }
            last.add(changes)
            // What undoes the one before leaves nothing to tell.
            if !last.isEmpty { waiting.append(last) }
        }
    }

    func take() -> ChangeSet? {
        waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// Hands change sets to any number of observers, in one order for all of them, and never waits for any.
final class ChangeBroadcaster: Sendable {
    private struct Observer {
        var buffer: ChangeSetBuffer
        var signal: AsyncStream<Void>.Continuation
    }

    private struct State {
        var lastID = 0
        var observers: [Int: Observer] = [:]
    }

    private let state = Locked(State())

    deinit {
        state.withLock { state in
            for observer in state.observers.values { observer.signal.finish() }
        }
    }

    var isObserved: Bool {
        state.withLock { !$0.observers.isEmpty }
    }

    /// A new observer, who sees what is sent from now on.
    func subscribe(capacity: Int) -> ChangeSets {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let buffer = ChangeSetBuffer(capacity: capacity)
        let id = state.withLock { state in
            state.lastID += 1
            state.observers[state.lastID] = Observer(buffer: buffer, signal: signal)
            return state.lastID
        }
        signal.onTermination = { [weak self] _ in self?.unsubscribe(id) }
        return ChangeSets(signals, buffer: buffer)
    }

    private func unsubscribe(_ id: Int) {
        // Released outside the lock: the last reference to a continuation may run its termination.
        let observer = state.withLock { $0.observers.removeValue(forKey: id) }
        _ = observer
    }

    func send(_ changes: ChangeSet) {
        state.withLock { state in
            for observer in state.observers.values {
                observer.buffer.add(changes)
                observer.signal.yield()
            }
        }
    }
}
