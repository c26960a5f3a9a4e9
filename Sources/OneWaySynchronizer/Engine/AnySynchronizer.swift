/// A synchronizer whose processor type is not known, such as one of several in an array.
///
/// ```swift
/// let all: [any AnySynchronizer] = [articles, images]
/// for synchronizer in all where synchronizer.isSyncing { synchronizer.cancel() }
/// ```
///
/// Only ``Synchronizer`` needs to conform to it.
public protocol AnySynchronizer: AnyObject, Sendable {
    /// Whether a pass runs or is about to begin.
    var isSyncing: Bool { get }

    /// The events from now on, for one observer, with a buffer of 256 events.
    var events: SyncEvents<SyncEvent> { get }

    /// Runs a pass; see ``Synchronizer/sync()``.
    @discardableResult
    func sync() async throws(SyncFailure) -> SyncReport

    /// Runs a pass without waiting for it; see ``Synchronizer/sync(completion:)``.
    func sync(completion: @escaping @Sendable (Result<SyncReport, SyncFailure>) -> Void)

    /// Cancels the running pass and the queued ones; see ``Synchronizer/cancel()``.
    func cancel()

    /// Waits until no pass runs; see ``Synchronizer/waitUntilIdle()``.
    func waitUntilIdle() async
}
