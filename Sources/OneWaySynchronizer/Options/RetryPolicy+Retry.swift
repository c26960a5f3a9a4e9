import SyncBase

extension RetryPolicy {
    /// A failed attempt that is followed by another one: a call of a processor, or a request within
    /// a call or a sync.
    ///
    /// ``SyncEvent/willRetry(_:)`` and ``SyncService/Event/retried(_:)`` report them. Without a
    /// synchronizer or a service, ``observed(by:isolation:_:)`` does:
    ///
    /// ```swift
    /// let result = try await RetryPolicy.Retry.observed(by: { print($0) }) {
    ///     try await store.sync(User.self, from: users)
    /// }
    /// ```
    public struct Retry: Sendable {
        /// The failure. In events of a ``Synchronizer`` a ``SyncError``; after decoding a
        /// ``SyncError/Recorded``.
        public var error: any Error

        /// The number of the failed attempt, from 1.
        public var attempt: Int

        /// The number of attempts after which the failure is final.
        public var maxAttempts: Int

        /// The wait before the next attempt.
        public var delay: Duration

        /// Creates a description of a failed attempt.
        public init(error: any Error, attempt: Int, maxAttempts: Int, delay: Duration) {
            self.error = error
            self.attempt = attempt
            self.maxAttempts = maxAttempts
            self.delay = delay
        }

        /// The observers of a task, innermost first.
        ///
        /// A class for the reason that ``RetryPolicy/Attempt/Provider`` states.
        private final class Observer: Sendable {
            let observe: @Sendable (RetryPolicy.Retry) -> Void
            let outer: Observer?

            init(_ observe: @escaping @Sendable (RetryPolicy.Retry) -> Void, outer: Observer?) {
                self.observe = observe
                self.outer = outer
            }
        }

        @TaskLocal private static var observer: Observer?

        /// Runs an operation, and reports each retry in it, and in the tasks that it creates.
        ///
        /// - Parameters:
        ///   - observe: Called before the wait, on any thread. It must not block.
        ///   - isolation: The actor on which the operation runs; by default that of the caller.
        ///   - operation: The operation. Its errors are thrown.
        public static func observed<Result>(
            by observe: @escaping @Sendable (RetryPolicy.Retry) -> Void, isolation: isolated (any Actor)? = #isolation,
            _ operation: () async throws -> Result
        ) async rethrows -> Result {
            try await $observer.withValue(
                Observer(observe, outer: observer), operation: operation, isolation: isolation)
        }

        /// Reports the retry to the observers of the current task.
        package func report() {
            var next = Self.observer
            while let observer = next {
                observer.observe(self)
                next = observer.outer
            }
        }
    }
}

extension RetryPolicy.Retry: CustomStringConvertible {
    /// The attempt as text, such as `attempt 2 of 8 failed, next in 0.5 seconds: timed out`.
    public var description: String {
        "attempt \(attempt) of \(maxAttempts) failed, next in \(delay): \(ErrorText.describing(error))"
    }
}

extension RetryPolicy.Retry: Codable {
    private enum CodingKeys: CodingKey {
        case error, attempt, maxAttempts, delay
    }

    /// Decodes a failed attempt. Its error becomes a ``SyncError/Recorded``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            error: try container.decode(SyncError.Recorded.self, forKey: .error),
            attempt: try container.decode(Int.self, forKey: .attempt),
            maxAttempts: try container.decode(Int.self, forKey: .maxAttempts),
            delay: try container.decode(Duration.self, forKey: .delay))
    }

    /// Encodes the failed attempt, with its error as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(SyncError.Recorded(error), forKey: .error)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(maxAttempts, forKey: .maxAttempts)
        try container.encode(delay, forKey: .delay)
    }
}
