#if Postgres
import OneWayPostgresClient

/// The pauses between attempts to reach a server again: 0.1 s, doubled after each one.
struct WorkQueueOutage: Sendable {
    private static let shortestPause = Duration.milliseconds(100)

    private let longestPause: Duration
    /// How long an outage may last; nil for no limit.
    private let limit: Duration?
    private var pause = shortestPause
    private var end: ContinuousClock.Instant?

    init(longestPause: Duration, limit: Duration?) {
        self.longestPause = longestPause
        self.limit = limit
    }

    /// Records that the server was reached.
    mutating func finish() {
        self = Self(longestPause: longestPause, limit: limit)
    }

    /// Waits before the next attempt.
    ///
    /// - Returns: Whether there may be another attempt.
    /// - Throws: `CancellationError`.
    mutating func wait() async throws -> Bool {
        let now = ContinuousClock.now
        if let limit {
            let end = end ?? now + limit
            self.end = end
            guard now < end else { return false }
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, longestPause)
        return true
    }
}

extension PostgresError {
    /// Whether the same statement can succeed in a new session.
    ///
    /// True for retryable errors, and for a statement that was cancelled by somebody else.
    var endsSessionOnly: Bool { isRetryable || code == .queryCanceled }
}
#endif
