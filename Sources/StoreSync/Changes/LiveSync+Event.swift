package import OneWaySynchronizer
import SyncBase

extension LiveSync {
    /// An event that an observer of a ``LiveSync`` receives. The events of its passes are those of
    /// the service.
    public enum Event: Sendable {
        /// The feed is connected. Unless it continues the previous connection, changes may have
        /// been missed.
        case connected(isContinuous: Bool)
        /// The feed was interrupted; the error is nil if the source closed the connection.
        case interrupted((any Error)?)
        /// Changes were missed; the next pass begins early. The error is nil if none is known.
        case gap((any Error)?)
        /// The source ended the feed permanently.
        case ended
        /// Changes were applied, from the feed or a webhook. `changeCount` is the number of those
        /// that were applied as a whole; the result also has the parts of the others.
        case applied(StoreSyncResult, changeCount: Int)
        /// Changes could not be applied, in whole or in part; the next pass begins early. For
        /// objects that were rejected, the error is ``LiveSync/Refusal/rejected(count:first:)``.
        case failed(any Error, changeCount: Int)
    }
}

extension LiveSync.Event: BufferedEvent {
    package var retention: EventRetention {
        switch self {
        case .connected, .interrupted, .applied: .droppable
        case .gap, .ended, .failed: .kept
        }
    }
}

extension LiveSync.Event: CustomStringConvertible {
    /// The event as text. Errors are described by their `description`.
    public var description: String {
        switch self {
        case .connected(let isContinuous): isContinuous ? "connected again" : "connected"
        case .interrupted(let error?): "interrupted: \(ErrorText.describing(error))"
        case .interrupted(nil): "interrupted"
        case .gap(let error?): "gap: \(ErrorText.describing(error))"
        case .gap(nil): "gap"
        case .ended: "ended"
        case .applied(let result, let count): "applied \(Self.changes(count)): \(result)"
        case .failed(let error, let count): "\(Self.changes(count)) failed: \(ErrorText.describing(error))"
        }
    }

    private static func changes(_ count: Int) -> String { count == 1 ? "1 change" : "\(count) changes" }
}
