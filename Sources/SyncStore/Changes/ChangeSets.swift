import SyncBase

/// An asynchronous sequence of a store's changes, for one observer.
///
/// Use it in a single `for await` loop, which receives one set per commit that changed something, in
/// the order of the commits. If the observer is slower than the commits, sets wait for it; beyond the
/// capacity the two newest are merged, so no change is lost. Commits never wait. The sequence ends
/// when the loop's task is cancelled or the store is deallocated.
public struct ChangeSets: AsyncSequence, Sendable {
    /// The changes of one or more commits.
    public typealias Element = ChangeSet
    /// The sequence never throws.
    public typealias Failure = Never

    /// Signals that the buffer has an element.
    private let signals: AsyncStream<Void>
    private let buffer: ChangeSetBuffer

    init(_ signals: AsyncStream<Void>, buffer: ChangeSetBuffer) {
        self.signals = signals
        self.buffer = buffer
    }

    /// Creates an iterator over the waiting and future sets.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(signals: signals.makeAsyncIterator(), buffer: buffer)
    }

    /// An iterator over an observer's sets, oldest first.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var signals: AsyncStream<Void>.Iterator
        fileprivate let buffer: ChangeSetBuffer

        /// Waits for the next set; nil when the task is cancelled or the store is deallocated.
        public mutating func next() async -> ChangeSet? {
            await next(isolation: nil)
        }

        /// Waits for the next set; nil when the task is cancelled or the store is deallocated.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ChangeSet? {
            while !Task.isCancelled {
                if let changes = buffer.take() { return changes }
                guard await signals.next(isolation: actor) != nil else { return buffer.take() }
            }
            return nil
        }
    }
}

/// The sets that one observer has not received yet.
final class ChangeSetBuffer: Sendable {
    private let waiting = Locked<[ChangeSet]>([])
    private let capacity: Int

    /// - Parameter capacity: The number of sets that wait separately, at least 1.
    init(capacity: Int) {
        self.capacity = max(capacity, 1)
    }

    func add(_ changes: ChangeSet) {
        waiting.withLock { waiting in
            guard waiting.count >= capacity, var last = waiting.popLast() else { return waiting.append(changes) }
            last.add(changes)
            // A set that undoes the one before it leaves nothing to report.
            if !last.isEmpty { waiting.append(last) }
        }
    }

    func take() -> ChangeSet? {
        waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// Sends change sets to any number of observers, in one order, without waiting for any of them.
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

    /// A new observer of the sets that are sent from now on.
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
