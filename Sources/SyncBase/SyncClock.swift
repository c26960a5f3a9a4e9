/// A clock of any type, as the two things that a pass needs of it.
package struct SyncClock: Sendable {
    /// The time since some fixed moment.
    package let now: @Sendable () -> Duration

    /// Waits that long. Throws `CancellationError` when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }
}
