public import Foundation
public import OneWaySynchronizer

extension LiveSync {
    /// Why a ``LiveSync`` does not take a change.
    public enum Refusal: Error, Hashable, Sendable {
        /// The sync does not run, or another process holds its lease.
        case notActive
        /// Too many changes wait for their turn.
        case tooManyWaiting(limit: Int)
    }
}

extension LiveSync.Refusal: CustomStringConvertible, LocalizedError {
    /// A sentence for people.
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
