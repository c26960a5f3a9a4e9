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
@usableFromInline package struct Waiters<Value: Sendable>: Sendable {
    /// The continuation of a task that waits.
    @usableFromInline package typealias Waiter = CheckedContinuation<Value, any Error>

    /// The place of a task in the queue.
    @usableFromInline struct Place: Sendable {
        /// Later arrivals have higher numbers.
        @usableFromInline let id: Int
        /// Nil if the task no longer waits.
        @usableFromInline var waiter: Waiter?

        @inlinable init(id: Int, waiter: Waiter) {
            self.id = id
            self.waiter = waiter
        }
    }

    /// By ascending number.
    @usableFromInline var places = FIFO<Place>()
    @usableFromInline var lastID = 0

    /// The number of waiting tasks.
    @usableFromInline package internal(set) var count = 0

    /// Creates an empty queue.
    @inlinable package init() {}

    /// Whether no task waits.
    @inlinable package var isEmpty: Bool { count == 0 }

    /// Removes the task that has waited longest; nil if none waits. The caller must resume it once.
    @inlinable package mutating func removeFirst() -> Waiter? {
        while let place = places.popFirst() {
            guard let waiter = place.waiter else { continue }
            count -= 1
            return waiter
        }
        return nil
    }

    /// Removes all tasks, the longest waiting first. The caller must resume each of them once.
    @inlinable package mutating func removeAll() -> [Waiter] {
        guard count > 0 else { return [] }
        defer { (places, count) = (FIFO(), 0) }
        return places.compactMap { $0.waiter }
    }

    /// Returns a number for a task that may have to wait; later arrivals get higher numbers.
    @inlinable mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    @inlinable mutating func insert(_ waiter: Waiter, id: Int) {
        // A later arrival may already be in the queue.
        places.insert(Place(id: id, waiter: waiter), at: index(of: id))
        count += 1
    }

    @inlinable mutating func remove(_ id: Int) -> Waiter? {
        let index = index(of: id)
        guard index < places.count, places[index].id == id, let waiter = places[index].waiter else { return nil }
        places[index].waiter = nil
        count -= 1
        if places.count > 2 * count + 16 { places.removeAll { $0.waiter == nil } }
        return waiter
    }

    /// The index of the first place whose number is at least this one.
    @inlinable func index(of id: Int) -> Int {
        var range = 0..<places.count
        while let middle = range.isEmpty ? nil : (range.lowerBound + range.upperBound) / 2 {
            range = places[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
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
    // Inlinable: without specialization, each wait looks up the types and the key path at run time.
    @inlinable
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
