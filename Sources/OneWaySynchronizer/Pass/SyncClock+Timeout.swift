import SyncBase

/// The end of one of the two tasks of a call with a time limit.
private enum TimedEnd<Value: Sendable>: Sendable {
    case body(Result<Value, any Error>)
    /// The timer was cancelled, or its time has passed.
    case timer(hasElapsed: Bool)
}

extension SyncClock {
    /// Runs a function, and cancels it when it exceeds a time limit; always waits for its end.
    ///
    /// A function that succeeds after the limit, or after its task is cancelled, still counts as
    /// successful.
    ///
    /// - Throws: The function's error; ``SyncError/Reason/timedOut(after:)`` with `named` if it
    ///   took too long.
    func withTimeout<Value: Sendable>(
        _ limit: Duration, named: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = await withTaskGroup(of: TimedEnd<Value>.self, returning: Result<Value, any Error>.self) { group in
            group.addTask {
                do { return .body(.success(try await body())) } catch { return .body(.failure(error)) }
            }
            group.addTask {
                // Cancelling the caller ends the sleep, too.
                .timer(hasElapsed: (try? await sleep(limit)) != nil)
            }
            var result = Result<Value, any Error>.failure(CancellationError())
            var (hasEnded, isLate) = (false, false)
            for await end in group {
                switch end {
                case .body(let ended): (result, hasEnded) = (ended, true)
                case .timer(let hasElapsed): isLate = hasElapsed && !hasEnded
                }
                if hasEnded || isLate { group.cancelAll() }
            }
            return isLate ? result.mapError { _ -> any Error in SyncError.Reason.timedOut(after: named) } : result
        }
        return try result.get()
    }
}
