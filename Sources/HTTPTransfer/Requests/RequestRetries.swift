import OneWaySynchronizer
import SyncBase

/// The retries of the requests for one body: a page, or a download.
///
/// All requests for the body count together, whether they ask for the whole or for the rest.
package final class RequestRetries: Sendable {
    private struct Failures: Sendable {
        var count = 0
        /// The highest byte count at which failures were counted from zero again.
        ///
        /// A body that starts over must exceed it again, so repeated bytes do not count as
        /// progress.
        var milestone: Int
    }

    /// The number of new bytes after which failures are counted from zero again: 1 MiB.
    private static let progressByteCount = 1 << 20

    /// When the last request must have ended, by the client's clock; nil for no limit.
    package let deadline: Duration?
    private let client: HTTPClient
    private let failures: Locked<Failures>

    /// Creates the retries of a body that was not requested yet.
    ///
    /// - Parameters:
    ///   - deadline: When the last request must have ended, by the client's clock; nil, the
    ///     default, for no limit.
    ///   - byteCount: The number of bytes that were received earlier; 0 by default.
    package init(by client: HTTPClient, deadline: Duration? = nil, byteCount: Int = 0) {
        self.client = client
        self.deadline = deadline
        failures = Locked(Failures(milestone: byteCount))
    }

    /// Waits before a failed request is repeated.
    ///
    /// If the server requests a wait, every other request of the client waits as long. The
    /// observers of the task get a `RetryPolicy.Retry`.
    ///
    /// - Parameters:
    ///   - error: The failure.
    ///   - byteCount: The number of bytes of the body that have been received; 0, the default, if
    ///     the next request asks for the whole body.
    ///   - needsProgress: Whether a request is repeated only if 1 MiB was received since the last
    ///     failure, because the caller repeats the others; false by default.
    /// - Throws: The error if a retry cannot help, would come too late, would take as long again,
    ///   or was the last one, or if the server requests a longer wait than the policy allows: a
    ///   pass holds the store's write lock. `CancellationError` if the task is cancelled.
    package func wait(after error: any Error, byteCount: Int = 0, needsProgress: Bool = false) async throws {
        let (failureCount, hasProgress) = failures.withLock { failures in
            let hasProgress = byteCount >= failures.milestone + Self.progressByteCount
            if hasProgress { failures = Failures(milestone: byteCount) }
            failures.count += 1
            return (failures.count, hasProgress)
        }
        guard hasProgress || !needsProgress && !Self.isTooSlow(error) else { throw error }
        let asked = (error as? HTTPError)?.retryAfter
        if let asked, asked > client.retry.maxRequestedDelay { throw error }
        guard let delay = client.retry.delay(afterAttempt: failureCount, error: error, random: client.random()) else {
            throw error
        }
        if let deadline, client.clock.now() + delay >= deadline { throw error }
        RetryPolicy.Retry(
            error: error, attempt: failureCount, maxAttempts: client.retry.maxAttempts, delay: delay
        ).report()
        if asked != nil { client.pacer.pause(delay) }
        try await client.clock.sleep(delay)
    }

    /// Whether a request took its whole time, and would take it again.
    private static func isTooSlow(_ error: any Error) -> Bool {
        if case .tooSlow? = (error as? HTTPError)?.problem { true } else { false }
    }
}
