import SyncBase

/// An error that states whether a retry may help, and after which wait.
public protocol RetryableError: Error {
    /// Whether the same call may succeed later. Default `true`.
    var isRetryable: Bool { get }

    /// How long to wait before the retry, such as a server's `Retry-After`. Default `nil`: the
    /// policy decides.
    var retryAfter: Duration? { get }
}

extension RetryableError {
    /// `true`.
    public var isRetryable: Bool { true }

    /// `nil`: the policy decides.
    public var retryAfter: Duration? { nil }
}

/// Whether a failed call is retried, and after which wait: exponential backoff with jitter.
///
/// A call is retried if its error is a ``RetryableError`` that allows it, or if ``accepts`` returns
/// `true`. The wait before attempt *n* + 1 is random between half of and the whole of the smaller
/// of ``maxDelay`` and ``baseDelay`` · 2ⁿ⁻¹. If the error specifies a wait, the wait is at
/// least as long, at least ``baseDelay``, and at most ``maxRequestedDelay``. A server that asks for
/// short waits is therefore given as much time as one that asks for none.
///
/// With the defaults, the waits together take between 31 s and 64 s, so that a pass outlasts the
/// restart of a server. To choose another time, use
/// ``init(outlasting:baseDelay:maxDelay:accepts:)``.
public struct RetryPolicy: Sendable {
    /// The total number of attempts, the first one included. At least 1; default 8.
    public var maxAttempts: Int

    /// The longest first wait, doubled by every further attempt. Default 0.5 s.
    public var baseDelay: Duration

    /// The longest wait that the error does not specify. Default 60 s.
    public var maxDelay: Duration

    /// The longest wait that an error may specify, such as a server's `Retry-After`. Default
    /// ``maxDelay``, or the outage that the policy outlasts if that is longer.
    public var maxRequestedDelay: Duration

    /// Accepts errors that do not themselves allow a retry. Default `nil`: none.
    public var accepts: (@Sendable (any Error) -> Bool)?

    /// Creates a policy. The defaults are those of the properties.
    public init(
        maxAttempts: Int = 8,
        baseDelay: Duration = .milliseconds(500),
        maxDelay: Duration = .seconds(60),
        maxRequestedDelay: Duration? = nil,
        accepts: (@Sendable (any Error) -> Bool)? = nil
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.maxRequestedDelay = maxRequestedDelay ?? maxDelay
        self.accepts = accepts
    }

    /// Creates a policy whose waits together are at least as long as an outage.
    ///
    /// They are at most twice as long, and a last wait of up to ``maxDelay`` longer. There are at
    /// most 1,000 attempts: with the default ``maxDelay``, they outlast about 8 hours. A wait that
    /// a server requests may be as long as the outage.
    ///
    /// - Parameters:
    ///   - outage: How long a server may be away.
    ///   - baseDelay: The longest first wait, at least 1 ms; 0.5 s by default.
    ///   - maxDelay: The longest wait, at least 1 ms; 60 s by default.
    ///   - accepts: Which further errors are retried; nil, the default, for none.
    public init(
        outlasting outage: Duration,
        baseDelay: Duration = .milliseconds(500),
        maxDelay: Duration = .seconds(60),
        accepts: (@Sendable (any Error) -> Bool)? = nil
    ) {
        // Without waits, no number of attempts outlasts anything.
        self.init(
            maxAttempts: 1, baseDelay: max(baseDelay, .milliseconds(1)), maxDelay: max(maxDelay, .milliseconds(1)),
            maxRequestedDelay: max(maxDelay, outage), accepts: accepts)
        var shortest = Duration.zero
        while shortest < outage, maxAttempts < 1_000 {
            shortest = shortest.addingClamped(shortestDelay(afterAttempt: maxAttempts))
            maxAttempts += 1
        }
    }

    /// The shortest wait after an attempt, unless the error specifies a longer one.
    private func shortestDelay(afterAttempt attempt: Int) -> Duration {
        backoff(initial: baseDelay, doublings: attempt - 1, cap: maxDelay) / 2
    }

    /// The wait after attempt number `attempt` (from 1) failed with `error`; `nil` for no further
    /// attempt.
    ///
    /// - Parameter random: A number in 0 ..< 1 that chooses the wait within its bounds.
    package func delay(afterAttempt attempt: Int, error: any Error, random: Double) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let retryable = error as? any RetryableError
        guard retryable?.isRetryable ?? false || accepts?(error) ?? false else { return nil }
        let wait = shortestDelay(afterAttempt: attempt).multipliedClamped(by: 1 + random)
        guard let wanted = retryable?.retryAfter else { return wait }
        return max(wait, min(max(wanted, baseDelay), maxRequestedDelay), .zero)
    }
}

/// `initial` · 2^`doublings`, at most `cap`; without overflow for any number of doublings.
func backoff(initial: Duration, doublings: Int, cap: Duration) -> Duration {
    // 200 doublings of any wait exceed the longest wait.
    let factor = Double(sign: .plus, exponent: min(doublings, 200), significand: 1)
    return min(initial.multipliedClamped(by: factor), cap)
}
