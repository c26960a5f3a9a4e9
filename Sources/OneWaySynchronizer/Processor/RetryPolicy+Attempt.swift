extension RetryPolicy {
    /// Information about a preview or content call, which the processor can read during the call.
    ///
    /// ```swift
    /// func owsDownloadItem(for item: Page) async throws {
    ///     let attempt = RetryPolicy.Attempt.current
    ///     try await fetch(item, resuming: (attempt?.number ?? 1) > 1, timeout: attempt?.timeLeft)
    /// }
    /// ```
    ///
    /// Calls that do not read it have no cost.
    public struct Attempt: Sendable, Hashable, Codable {
        /// Whether the item was not stored when the pass began. `false` if it is downloaded again
        /// because it changed.
        public var isNew: Bool

        /// The number of the attempt within the pass; 1 is the first.
        public var number: Int

        /// The time until a time-out of the item, the stage or the pass cancels the call; zero or
        /// more. `nil`: no time-out.
        public var timeLeft: Duration?

        /// Creates a description of an attempt.
        public init(isNew: Bool = true, number: Int = 1, timeLeft: Duration? = nil) {
            self.isNew = isNew
            self.number = number
            self.timeLeft = timeLeft
        }

        /// Finds the current attempt of a worker.
        ///
        /// A class, because Swift 6.3 miscompiles task-local values that are closures: binding one
        /// in generic code crashes in release builds.
        final class Provider: Sendable {
            fileprivate let attempt: @Sendable () -> RetryPolicy.Attempt?
            fileprivate let key: @Sendable () -> (any Hashable & Sendable)?

            init(
                _ attempt: @escaping @Sendable () -> RetryPolicy.Attempt?,
                key: @escaping @Sendable () -> (any Hashable & Sendable)?
            ) {
                self.attempt = attempt
                self.key = key
            }
        }

        @TaskLocal static var provider: Provider?

        /// The attempt that the current task makes; `nil` outside preview and content calls, and in
        /// those that a worker of a `PostgresWorkQueue` makes.
        ///
        /// Valid until the call returns: read it in the call itself or in tasks that the call
        /// awaits.
        public static var current: RetryPolicy.Attempt? { provider?.attempt() }

        /// The key of the item for which the current task makes an attempt; `nil` outside calls for
        /// items.
        static var currentKey: (any Hashable & Sendable)? { provider?.key() }
    }
}
