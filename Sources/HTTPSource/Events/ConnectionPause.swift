import HTTPTransfer
import OneWaySynchronizer
import SyncBase

/// The pauses between the connections of a feed.
struct ConnectionPause: Sendable {
    /// The longest pause that a server can request.
    private static let longest = Duration.seconds(3_600)

    private let client: HTTPClient
    /// The pause after a successful connection.
    private var ordinary: Duration
    private var failureCount = 0

    init(_ ordinary: Duration, client: HTTPClient) {
        self.client = client
        self.ordinary = ordinary
    }

    /// Sets the pause that the server requests.
    mutating func set(_ duration: Duration) {
        ordinary = min(duration, Self.longest)
    }

    /// Records that the server sent useful data.
    mutating func noteSuccess() {
        failureCount = 0
    }

    /// Pauses before the next connection.
    ///
    /// - Parameter error: Why the connection ended; nil if the server closed it.
    /// - Throws: The error if another connection is pointless; `CancellationError`.
    mutating func wait(after error: (any Error)?) async throws {
        // A server that requests no pause still gets one.
        var pause = max(ordinary, client.retry.baseDelay)
        if let error {
            try Task.checkCancellation()
            failureCount += 1
            var policy = client.retry
            policy.maxAttempts = .max
            policy.maxRequestedDelay = Self.longest
            guard let delay = policy.delay(afterAttempt: failureCount, error: error, random: client.random()) else {
                throw error
            }
            pause = max(pause, min(delay, Self.longest))
        }
        try await client.clock.sleep(pause)
    }
}
