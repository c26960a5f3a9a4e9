/// When a ``SyncService`` runs its next sync.
public struct SyncSchedule: Sendable, Hashable {
    /// From the end of one sync to the beginning of the next. Above 0.
    public var interval: Duration

    /// The share of each wait, from 0 to 1, by which it is randomly lengthened, so that many hosts do not ask at the same
    /// moment. Default 0.1.
    public var jitter: Double

    /// The wait after a first failure, doubled with every further one. Default `nil`: ``interval``.
    public var failureDelay: Duration?

    /// The longest wait after failures, before jitter. Default `nil`: ten times the longer of ``interval`` and
    /// ``failureDelay``.
    public var maxFailureDelay: Duration?

    /// Whether the first sync begins at once, rather than after an ``interval``. Default `true`.
    public var runsAtStart: Bool

    /// The defaults are those of the properties.
    public init(
        interval: Duration,
        jitter: Double = 0.1,
        failureDelay: Duration? = nil,
        maxFailureDelay: Duration? = nil,
        runsAtStart: Bool = true
    ) {
        self.interval = interval
        self.jitter = jitter
        self.failureDelay = failureDelay
        self.maxFailureDelay = maxFailureDelay
        self.runsAtStart = runsAtStart
    }

    /// The wait before the next sync.
    ///
    /// - Parameters:
    ///   - consecutiveFailures: How many syncs failed since one last succeeded; 0 or more.
    ///   - random: In 0 ..< 1; chooses the jitter.
    package func delay(consecutiveFailures: Int, random: Double) -> Duration {
        var delay = interval
        if consecutiveFailures > 0 {
            let initial = failureDelay ?? interval
            let cap = maxFailureDelay ?? max(interval, initial) * 10
            delay = backoff(initial: initial, doublings: consecutiveFailures - 1, cap: cap)
        }
        return delay + delay * (jitter * random)
    }
}
