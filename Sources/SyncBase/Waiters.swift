/// Suspended tasks that each wait for a value, in order of arrival.
///
/// Part of a state that a ``Locked`` protects. Code that changes the state removes the waiters
/// whose wait is over, and resumes them after it has released the lock:
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
    /// The continuation of a task that waits.
    package typealias Waiter = CheckedContinuation<Value, any Error>

    private var waiting: [Int: Waiter] = [:]
    /// The numbers of waiting tasks, ascending, and of some that no longer wait.
    private var order = FIFO<Int>()
    private var lastID = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of waiting tasks.
    package var count: Int { waiting.count }

    /// Whether no task waits.
    package var isEmpty: Bool { waiting.isEmpty }

    /// Removes the task that has waited longest; nil if none waits. The caller must resume it once.
    package mutating func removeFirst() -> Waiter? {
        while let id = order.popFirst() {
            if let waiter = waiting.removeValue(forKey: id) { return waiter }
        }
        return nil
    }

    /// Removes all tasks, the longest waiting first. The caller must resume each of them once.
    package mutating func removeAll() -> [Waiter] {
        let waiters = order.compactMap { waiting[$0] }
        waiting = [:]
        order = FIFO()
        return waiters
    }

    /// Returns a number for a task that may have to wait; later arrivals get higher numbers.
    fileprivate mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    fileprivate mutating func insert(_ waiter: Waiter, id: Int) {
        waiting[id] = waiter
        // A later arrival may already be in the queue.
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
    /// Waits until a task that changes the value resumes this one; the only cancellable wait of
    /// this package.
    ///
    /// - Parameters:
    ///   - waiters: The waiting tasks inside the value.
    ///   - deadline: When the wait ends without a result; nil (default) for no limit.
    ///   - isCancellable: Whether cancelling the task ends the wait. `true` by default.
    ///   - body: Returns the result if there is no need to wait, or nil to wait. Runs under the
    ///     lock, at most twice. It must not change the value when it returns nil.
    /// - Returns: The result of `body`, or the value that the task was resumed with.
    /// - Throws: The error of either; `CancellationError`; ``DeadlineExceeded``. A cancellation or
    ///   a deadline after the task was resumed has no effect.
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
                    // Checked under the lock: any later cancellation finds the waiter.
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
