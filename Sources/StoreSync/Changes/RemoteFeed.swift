import SyncBase

/// A source that reports its changes as they happen, such as a stream of events.
///
/// A ``LiveSync`` applies them between its full passes.
public protocol RemoteFeed: Sendable {
    /// Delivers events until the task is cancelled or the source ends the feed for good.
    ///
    /// A lost connection is made again after a pause. The next event is read only after `receive`
    /// has returned.
    ///
    /// - Parameter receive: Takes an event, and returns when its changes have been applied.
    /// - Throws: An error that a new connection cannot fix; `CancellationError`; the error of
    ///   `receive`.
    func run(_ receive: @escaping @Sendable (RemoteChange.Event) async throws -> Void) async throws
}

extension RemoteChange {
    /// An event of a feed.
    public enum Event: Sendable {
        /// The feed is connected. Unless it continues the previous connection, changes may have
        /// been missed.
        case connected(isContinuous: Bool)
        /// Changes, in order.
        case changes([RemoteChange])
        /// Changes were missed or could not be read, because of an error.
        case gap(any Error)
        /// The connection was lost and will be made again. The error is nil if the source closed
        /// it.
        case interrupted((any Error)?)
    }
}

extension RemoteChange.Event: CustomStringConvertible {
    /// The event as text, without the changes themselves. An error is described by its
    /// `description`.
    public var description: String {
        switch self {
        case .connected(let isContinuous): isContinuous ? "connected again" : "connected"
        case .changes(let changes): changes.count == 1 ? "1 change" : "\(changes.count) changes"
        case .gap(let error): "gap: \(ErrorText.describing(error))"
        case .interrupted(let error?): "interrupted: \(ErrorText.describing(error))"
        case .interrupted(nil): "interrupted"
        }
    }
}
