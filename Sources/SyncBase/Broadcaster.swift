/// Sends elements to any number of observers, in the same order to all, without waiting for them.
///
/// Each observer has a ``BroadcastQueue`` of bounded size, which decides which elements to merge or
/// drop when it is full.
package final class Broadcaster<Element: Sendable>: Sendable {
    /// Creates an observer's queue of a capacity of at least 1.
    package typealias MakeQueue = @Sendable (_ capacity: Int) -> any BroadcastQueue<Element>

    /// Shortens a queue that has more elements than its capacity.
    ///
    /// Called under a lock. It returns the dropped elements, so that they are released outside the
    /// lock.
    package typealias Compaction = @Sendable (_ queue: inout FIFO<Element>, _ capacity: Int) -> [Element]

    private let makeQueue: MakeQueue
    private let observers: Observers

    /// The observers' queues. Subscriptions, which outlive the broadcaster, refer to them.
    fileprivate final class Observers: Sendable {
        /// Delivers an element to the observers of another broadcaster.
        typealias Relaying = @Sendable (Element) -> [any Delivering]

        private struct State {
            var lastID = 0
            var mailboxes: [Int: Mailbox<Element>] = [:]
            var relays: [Int: Relaying] = [:]
            var isFinished = false
        }

        private let state = Locked(State())

        var isEmpty: Bool { state.withLock { $0.mailboxes.isEmpty && $0.relays.isEmpty } }

        func add(_ mailbox: Mailbox<Element>) -> Int {
            let (id, isFinished) = state.withLock { state in
                state.lastID += 1
                if !state.isFinished { state.mailboxes[state.lastID] = mailbox }
                return (state.lastID, state.isFinished)
            }
            if isFinished { mailbox.finish() }
            return id
        }

        func add(_ relay: @escaping Relaying) -> Int {
            state.withLock { state in
                state.lastID += 1
                state.relays[state.lastID] = relay
                return state.lastID
            }
        }

        func remove(_ id: Int) {
            // Released outside the lock, together with the elements that wait in it.
            let removed = state.withLock { ($0.mailboxes.removeValue(forKey: id), $0.relays.removeValue(forKey: id)) }
            _ = removed
        }

        /// Adds an element to the queues; the caller completes the deliveries outside all locks.
        func deliver(_ element: Element) -> [any Delivering] {
            // One lock around all deliveries gives every observer the same order.
            state.withLock { state in
                var deliveries: [any Delivering] = state.mailboxes.values.map { $0.add(element) }
                for relay in state.relays.values { deliveries += relay(element) }
                return deliveries
            }
        }

        func finish() {
            let mailboxes = state.withLock { state in
                state.isFinished = true
                defer { state.mailboxes = [:] }
                return Array(state.mailboxes.values)
            }
            for mailbox in mailboxes { mailbox.finish() }
        }
    }

    /// Creates a broadcaster without observers.
    package init(queue makeQueue: @escaping MakeQueue) {
        self.makeQueue = makeQueue
        observers = Observers()
    }

    /// Creates a broadcaster without observers, whose queues are shortened by a function.
    package convenience init(compaction: @escaping Compaction) {
        self.init(queue: { CompactedQueue<Element>(capacity: $0, compaction: compaction) })
    }

    deinit {
        observers.finish()
    }

    /// Whether there is at least one observer.
    package var isObserved: Bool { !observers.isEmpty }

    /// Adds an observer, which receives the elements sent from now on.
    ///
    /// - Parameter capacity: The number of elements that wait in its queue before compaction; at
    ///   least 1.
    package func subscribe(capacity: Int) -> Subscription<Element> {
        let mailbox = Mailbox<Element>(queue: makeQueue(max(capacity, 1)))
        let id = observers.add(mailbox)
        return Subscription(mailbox: mailbox, observers: observers, id: id)
    }

    /// Sends an element to all observers. Without observers, the element is not created.
    package func send(_ element: @autoclosure () -> Element) {
        guard isObserved else { return }
        for delivery in observers.deliver(element()) { delivery.complete() }
    }

    /// Ends the sequences of all observers, present and future, after the elements that wait.
    package func finish() {
        observers.finish()
    }

    /// Sends the following elements to another broadcaster too, before ``send(_:)`` returns.
    ///
    /// - Parameters:
    ///   - other: The other broadcaster. A cycle of relays would deadlock.
    ///   - transform: Converts an element; `nil` sends none. Called under a lock, and only while
    ///     the other broadcaster has observers.
    /// - Returns: The relay, which ends when it is released.
    package func relay<Other>(
        to other: Broadcaster<Other>, _ transform: @escaping @Sendable (Element) -> Other?
    ) -> Relay<Element> {
        let id = observers.add { element in
            guard other.isObserved, let converted = transform(element) else { return [] }
            return other.observers.deliver(converted)
        }
        return Relay(observers: observers, id: id)
    }
}

/// A relay from a ``Broadcaster`` to another one; releasing the last reference ends it.
package final class Relay<Element: Sendable>: Sendable {
    private let observers: Broadcaster<Element>.Observers
    private let id: Int

    fileprivate init(observers: Broadcaster<Element>.Observers, id: Int) {
        self.observers = observers
        self.id = id
    }

    deinit {
        observers.remove(id)
    }
}

/// A delivery to one observer, of any type of element.
private protocol Delivering {
    /// Resumes an observer that waits for the element; called outside all locks.
    func complete()
}

/// One observer's side of a ``Broadcaster``; releasing the last reference removes the observer.
package final class Subscription<Element: Sendable>: Sendable {
    private let mailbox: Mailbox<Element>
    private let observers: Broadcaster<Element>.Observers
    private let id: Int

    fileprivate init(mailbox: Mailbox<Element>, observers: Broadcaster<Element>.Observers, id: Int) {
        self.mailbox = mailbox
        self.observers = observers
        self.id = id
    }

    deinit {
        observers.remove(id)
    }

    /// The number of elements dropped or merged because the queue was full.
    package var droppedCount: Int { mailbox.droppedCount }

    /// Waits for the next element. Returns nil when the task is cancelled, or when the broadcaster
    /// has finished or is gone and the queue is empty.
    package func next() async -> Element? {
        await mailbox.next()
    }
}

/// The elements that wait for one observer.
private final class Mailbox<Element: Sendable>: Sendable {
    struct Delivery: Delivering {
        var element: Element
        /// The observer that waits for the element; nil if the element is in the queue.
        var waiter: Waiters<Element?>.Waiter?
        /// Released with the delivery, outside all locks.
        var dropped: [Element] = []

        func complete() { waiter?.resume(returning: element) }
    }

    private struct State: Sendable {
        var queue: any BroadcastQueue<Element>
        var waiters = Waiters<Element?>()
        var droppedCount = 0
        var isFinished = false
    }

    private let state: Locked<State>

    init(queue: any BroadcastQueue<Element>) {
        state = Locked(State(queue: queue))
    }

    var droppedCount: Int { state.withLock(\.droppedCount) }

    /// Adds an element, or returns the observer that waits for it.
    func add(_ element: Element) -> Delivery {
        state.withLock { state in
            if let waiter = state.waiters.removeFirst() { return Delivery(element: element, waiter: waiter) }
            let dropped = state.queue.append(element)
            state.droppedCount += dropped.count
            return Delivery(element: element, dropped: dropped)
        }
    }

    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    func next() async -> Element? {
        // Cancellation is the only error.
        try? await state.wait(in: \.waiters) { state in
            if let element = state.queue.popFirst() { return .success(element) }
            return state.isFinished ? .success(nil) : nil
        }
    }
}
