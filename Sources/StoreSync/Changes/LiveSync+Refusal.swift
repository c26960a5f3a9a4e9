public import Foundation
public import OneWaySynchronizer

extension LiveSync {
    /// Why a ``LiveSync`` rejects a change.
    public enum Refusal: Error, Hashable, Sendable {
        /// The sync is not running, or another process holds its lease.
        case notActive
        /// Too many changes are waiting.
        case tooManyWaiting(limit: Int)
    }
}

extension LiveSync.Refusal: CustomStringConvertible, LocalizedError {
    /// A readable sentence.
    public var description: String {
        switch self {
        case .notActive: "the sync does not run here, or stands by"
        case .tooManyWaiting(let limit): "more than \(limit) changes wait for their turn"
        }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension LiveSync.Refusal: RetryableError {}
