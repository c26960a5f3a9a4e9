/// Suspended tasks that wait for a value each, in the order of their arrival.
///
/// Part of the state that a ``Locked`` protects. Who changes that state removes the waiters whose wait is over, and
/// resumes them after the lock is released:
///
///     try await state.wait(in: \.waiters) { state in
///         guard state.isFree else { return nil }  // nil: wait
///         state.isFree = false
///         return .success(())
///     }
///
///     let next = state.withLock { state in
///         let next = state.waiters.removeFirst()
///         if next == nil { state.isFree = true }
///         return next
///     }
///     next?.resume(returning: ())
package struct Waiters<Value: Sendable>: Sendable {
    /// Resumes a task that waited.
    package typealias Waiter = CheckedContinuation<Value, any Error>

    private var waiting: [Int: Waiter] = [:]
    /// The numbers of those that wait, ascending, and of some that do not wait any more.
    private var order = FIFO<Int>()
    private var lastID = 0

    /// Creates an empty queue.
    package init() {}

    /// How many tasks wait.
    package var count: Int { waiting.count }

    /// Whether no task waits.
    package var isEmpty: Bool { waiting.isEmpty }

    /// Removes the task that has waited longest; nil if none waits. The caller resumes it, once.
    package mutating func removeFirst() -> Waiter? {
        while let id = order.popFirst() {
            if let waiter = waiting.removeValue(forKey: id) { return waiter }
        }
        return nil
    }

    /// Removes all tasks, the longest waiting first. The caller resumes each of them, once.
    package mutating func removeAll() -> [Waiter] {
        let waiters = order.compactMap { waiting[$0] }
        waiting = [:]
        order = FIFO()
        return waiters
    }

    /// A number for a task that may have to wait; those of later arrivals are higher.
    fileprivate mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    fileprivate mutating func insert(_ waiter: Waiter, id: Int) {
        waiting[id] = waiter
        // A later arrival may have been inserted first.
        let place = order.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
        if place == order.count { order.append(id) } else { order.insert(id, at: place) }
    }

    fileprivate mutating func remove(_ id: Int) -> Waiter? {
        let waiter = waiting.removeValue(forKey: id)
        if order.count > 2 * waiting.count + 16 {
            let waiting = waiting
            order.removeAll { waiting[$0] == nil }
        }
        return waiter
    }
}

extension Locked {
    /// Waits until a task that changes the value resumes this one: the only cancellable wait of this package.
    ///
    /// - Parameters:
    ///   - waiters: The waiting tasks inside the value.
    ///   - deadline: When the wait ends without a result; nil (default) for never.
    ///   - isCancellable: Whether cancelling the task ends the wait. `true` by default.
    ///   - body: Returns the result if there is no need to wait; nil to wait. Runs under the lock, up to twice: it must
    ///     not change the value when it returns nil.
    /// - Returns: The result of `body`, or the value that the task was resumed with.
    /// - Throws: The error of either; `CancellationError`; ``DeadlineExceeded``. A task that was resumed is not told of
    ///   a cancellation or a deadline that comes later.
    package func wait<Answer: Sendable>(
        in waiters: any WritableKeyPath<Value, Waiters<Answer>> & Sendable, until deadline: Deadline? = nil,
        isCancellable: Bool = true, unless body: (inout Value) -> Result<Answer, any Error>?
    ) async throws -> Answer {
        let (answer, id) = withLock { value in
            let answer = body(&value)
            return (answer, answer == nil ? value[keyPath: waiters].makeID() : 0)
        }
        if let answer { return try answer.get() }
        if isCancellable { try Task.checkCancellation() }
        if let deadline, deadline.remaining <= .zero { throw DeadlineExceeded() }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let answer = withLock { value -> Result<Answer, any Error>? in
                    if let answer = body(&value) { return answer }
                    // Read under the lock: a cancellation from now on finds the waiter.
                    if isCancellable, Task.isCancelled { return .failure(CancellationError()) }
                    value[keyPath: waiters].insert(waiter, id: id)
                    return nil
                }
                if let answer {
                    waiter.resume(with: answer)
                } else if let deadline {
                    timer = Task {
                        guard (try? await deadline.sleep()) != nil else { return }
                        self.withLock { $0[keyPath: waiters].remove(id) }?.resume(throwing: DeadlineExceeded())
                    }
                }
            }
        } onCancel: {
            guard isCancellable else { return }
            withLock { $0[keyPath: waiters].remove(id) }?.resume(throwing: CancellationError())
        }
    }
}
