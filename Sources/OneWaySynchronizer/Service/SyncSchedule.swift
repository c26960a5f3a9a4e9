import SyncBase

/// When a ``SyncService`` runs its next sync.
public struct SyncSchedule: Sendable, Hashable, Codable {
    /// The time from the end of one sync to the beginning of the next.
    ///
    /// Zero or less counts as one second, so that a service never spins.
    public var interval: Duration

    /// The random extension of each wait as a share of it, from 0 to 1. Default 0.1.
    ///
    /// It spreads the requests of many hosts over time.
    public var jitter: Double

    /// The wait after a first failed sync, doubled with every further one. Default `nil`.
    ///
    /// Failures of a lease are not failed syncs.
    ///
    /// With `nil`, zero or less, it is ``interval``.
    public var failureDelay: Duration?

    /// The longest wait after failures, before jitter. Default `nil`.
    ///
    /// With `nil`, zero or less, it is ten times the longer of ``interval`` and ``failureDelay``.
    public var maxFailureDelay: Duration?

    /// Whether the first sync begins at once instead of after an ``interval``. Default `true`.
    public var runsAtStart: Bool

    /// Creates a schedule. The defaults are those of the properties.
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

    /// The wait before the next sync; above 0.
    ///
    /// - Parameters:
    ///   - consecutiveFailures: The number of failed syncs since the last success; 0 or more.
    ///   - random: A number in 0 ..< 1 that chooses the jitter.
    package func delay(consecutiveFailures: Int, random: Double) -> Duration {
        let interval = interval > .zero ? interval : .seconds(1)
        var delay = interval
        if consecutiveFailures > 0 {
            let initial = failureDelay.flatMap { $0 > .zero ? $0 : nil } ?? interval
            let cap =
                maxFailureDelay.flatMap { $0 > .zero ? $0 : nil } ?? max(interval, initial).multipliedClamped(by: 10)
            delay = backoff(initial: initial, doublings: consecutiveFailures - 1, cap: cap)
        }
        return delay.addingClamped(delay.multipliedClamped(by: min(jitter, 1) * random))
    }
}
