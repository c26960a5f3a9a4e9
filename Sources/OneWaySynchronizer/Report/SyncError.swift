#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
package import SyncBase

/// An error of a pass, with its stage, its key and its cause.
public struct SyncError: Error {
    /// The stage in which the error occurred.
    public var stage: SyncStage

    /// The key of the item; `nil` if the error does not concern a single item. A `String` after
    /// decoding.
    public var key: (any Hashable & Sendable)?

    /// The error that the processor threw, or a ``Reason`` of the synchronizer itself. A
    /// ``SyncError/Recorded`` after decoding.
    public var underlying: any Error

    /// Creates an error of a stage.
    public init(stage: SyncStage, key: (any Hashable & Sendable)? = nil, underlying: any Error) {
        self.stage = stage
        self.key = key
        self.underlying = underlying
    }

    /// Why the synchronizer itself ends a call or a pass.
    public enum Reason: Error, Hashable, Sendable, Codable {
        /// The source list has repeated keys. `keys` describes the first ten of the `count`
        /// repetitions.
        case duplicateKeys(keys: [String], count: Int)

        /// Too many different keys have the same hash value to compare them in reasonable time.
        case collidingKeys(type: String)

        /// The pass would remove more than ``SyncOptions/removalLimit`` allows.
        case removalLimitExceeded(removals: Int, localCount: Int, limit: RemovalLimit)

        /// A call, a stage or the pass took longer than ``SyncOptions`` allows, and was cancelled.
        case timedOut(after: Duration)

        /// `sync()` was awaited inside a pass that would then have waited for itself.
        case syncInsidePass
    }
}

extension SyncError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// The error as text, such as `content of "a": connection refused`.
    ///
    /// It contains the key of the item and the description of the underlying error. Of a
    /// `DecodingError`, whose own description can contain a value, it has the kind and the place.
    public var description: String { "\(place): \(ErrorText.describing(underlying))" }

    /// The same text with the underlying error's `debugDescription`, which may have personal data.
    public var debugDescription: String { "\(place): \(String(reflecting: underlying))" }

    private var place: String {
        stage.rawValue + (key.map { " of \(String(reflecting: $0))" } ?? "")
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncError.Reason: CustomStringConvertible, LocalizedError {
    /// The reason as a readable sentence.
    public var description: String {
        switch self {
        case .duplicateKeys(let keys, let count):
            let more = count > keys.count ? " and \(count - keys.count) more" : ""
            return "the source lists keys more than once: \(keys.joined(separator: ", "))\(more)"
        case .collidingKeys(let type):
            return "too many different keys of type \(type) have the same hash value; implement hash(into:)"
        case .removalLimitExceeded(let removals, let localCount, let limit):
            return "\(removals) of \(localCount) local items would be removed; the limit is \(limit)"
        case .timedOut(let duration):
            return "timed out after \(duration)"
        case .syncInsidePass:
            return
                "sync() was awaited from inside a pass that it would wait for; use sync(completion:) to queue a re-sync"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension SyncError.Reason: RetryableError {
    /// `true` only for a time-out.
    public var isRetryable: Bool {
        if case .timedOut = self { true } else { false }
    }
}

extension SyncError: RetryableError {
    /// Whether the underlying error can be retried.
    public var isRetryable: Bool { (underlying as? any RetryableError)?.isRetryable ?? false }

    /// The wait that the underlying error requests; `nil` for none.
    public var retryAfter: Duration? { (underlying as? any RetryableError)?.retryAfter }
}

extension SyncError: Codable {
    private enum CodingKeys: CodingKey {
        case stage, key, reason, underlying
    }

    /// Decodes an error. Its key becomes a `String`, its cause a ``Reason`` or a
    /// ``SyncError/Recorded``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        stage = try container.decode(SyncStage.self, forKey: .stage)
        key = try container.decodeIfPresent(String.self, forKey: .key)
        if let reason = try container.decodeIfPresent(Reason.self, forKey: .reason) {
            underlying = reason
        } else {
            underlying = try container.decode(SyncError.Recorded.self, forKey: .underlying)
        }
    }

    /// Encodes the error, with its key and cause as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stage, forKey: .stage)
        try container.encodeIfPresent(key.map { "\($0)" }, forKey: .key)
        if let reason = underlying as? Reason {
            try container.encode(reason, forKey: .reason)
        } else {
            try container.encode(SyncError.Recorded(underlying), forKey: .underlying)
        }
    }
}

extension SyncError {
    /// The decoded form of an arbitrary error: its type, its area and its description, as in a
    /// ``SyncError``'s description.
    ///
    /// A report can contain errors of any type. After decoding, a `SyncError.Recorded` represents
    /// them.
    public struct Recorded: Error, Hashable, Sendable, Codable {
        /// The type of the error, such as `Foundation.URLError`.
        public var type: String

        /// The error's own description.
        public var message: String

        /// Whether a retry may help.
        public var isRetryable: Bool

        /// The area of the error.
        public var area: SyncError.Area

        /// Creates the recorded form of an error. Recording a `Recorded` changes nothing.
        public init(_ error: any Error) {
            if let record = error as? SyncError.Recorded {
                self = record
            } else {
                type = String(reflecting: Swift.type(of: error))
                message = ErrorText.describing(error)
                isRetryable = (error as? any RetryableError)?.isRetryable ?? false
                area = SyncError.Area(of: error)
            }
        }
    }
}

extension SyncError.Recorded: RetryableError, LocalizedError, CustomStringConvertible {
    /// The message.
    public var description: String { message }

    /// The message.
    public var errorDescription: String? { message }
}

extension SyncError: AreaError {
    package var errorArea: ErrorArea { ErrorArea(of: underlying) }
}

extension SyncError.Reason: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .timedOut: .server
        case .duplicateKeys, .removalLimitExceeded: .data
        case .collidingKeys, .syncInsidePass: .program
        }
    }
}

extension SyncError.Recorded: AreaError {
    package var errorArea: ErrorArea { area.errorArea }
}
