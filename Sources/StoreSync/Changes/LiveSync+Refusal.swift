public import Foundation
public import JSONMapper
public import OneWaySynchronizer
package import SyncBase

extension LiveSync {
    /// Why a ``LiveSync`` rejects a change.
    public enum Refusal: Error, Hashable, Sendable {
        /// The sync is not running, or another process holds its lease.
        case notActive
        /// Too many changes are waiting.
        case tooManyWaiting(limit: Int)
        /// Objects of a change were rejected, for example because they have no usable key. The
        /// other objects were applied. `first` is nil if no reason is known.
        case rejected(count: Int, first: MappingError.Problem?)
        /// A change names an entity of which the sync has no list.
        case unknownEntity(String)
    }
}

extension LiveSync.Refusal: CustomStringConvertible, LocalizedError {
    /// A readable sentence.
    public var description: String {
        switch self {
        case .notActive: "the sync does not run here, or stands by"
        case .tooManyWaiting(let limit): "more than \(limit) changes wait for their turn"
        case .rejected(let count, let first):
            (count == 1 ? "an object of the changes was rejected" : "\(count) objects of the changes were rejected")
                + (first.map { ": \($0)" } ?? "")
        case .unknownEntity(let entity): "the sync has no list of \(entity)"
        }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension LiveSync.Refusal: RetryableError {
    /// Whether the same changes may be accepted later.
    public var isRetryable: Bool {
        switch self {
        case .notActive, .tooManyWaiting: true
        case .rejected, .unknownEntity: false
        }
    }
}

extension LiveSync.Refusal: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .notActive: .lease
        case .tooManyWaiting: .server
        case .rejected, .unknownEntity: .data
        }
    }
}
