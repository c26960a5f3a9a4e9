#if Postgres
public import Foundation
import OneWayPostgresClient
public import OneWaySynchronizer
package import SyncBase

extension PostgresWorkQueue {
    /// Why the workers of a ``PostgresWorkQueue`` did not download an item.
    public enum Failure: Error, Hashable, Sendable {
        /// The processor of a worker threw an error.
        case failed(WorkerError)
        /// The item was set aside because `attempts` workers died of it, the last of which was
        /// `worker`.
        case setAside(attempts: Int, worker: String)
        /// Another process has begun a pass with the same queue.
        case takenOver
        /// A worker could not decode several items in succession; the text says why. The items are
        /// in the queue again.
        case unreadableItems(String)
        /// The processor was asked to download an item outside a pass.
        case noPass

        /// An error of a worker's processor, in a form that can be sent to another process.
        public struct WorkerError: Hashable, Sendable, Codable {
            /// The description of the error, without values.
            public let message: String
            /// The type of the error, such as `Foundation.URLError`.
            public let kind: String
            /// Whether the error states that a retry can succeed.
            public let isRetryable: Bool
            /// The area of the error.
            public let area: SyncError.Area
            /// The time to wait before a retry, in milliseconds; nil if the error does not state
            /// it.
            let retryAfterMilliseconds: Int64?
            /// The worker, such as `worker (process 4711 on web-1)`.
            public let worker: String
        }
    }
}

extension PostgresWorkQueue.Failure.WorkerError {
    /// Creates a sendable form of an error of this process.
    init(_ error: any Error, worker: String) {
        let retryable = error as? any RetryableError
        self.init(
            message: ErrorText.describing(error), kind: String(reflecting: type(of: error)),
            isRetryable: retryable?.isRetryable ?? false, area: SyncError.Area(of: error),
            retryAfterMilliseconds: retryable?.retryAfter?.wholeMilliseconds, worker: worker)
    }
}

extension PostgresWorkQueue.Failure: RetryableError {
    /// Whether the worker's error states that a retry can succeed. False for the other cases, which
    /// cannot be retried in the same pass.
    public var isRetryable: Bool {
        if case .failed(let failure) = self { failure.isRetryable } else { false }
    }

    /// The time to wait before a retry, from the worker's error; nil if it does not state one.
    public var retryAfter: Duration? {
        guard case .failed(let failure) = self else { return nil }
        return failure.retryAfterMilliseconds.map { .milliseconds($0) }
    }
}

extension PostgresWorkQueue.Failure: CustomStringConvertible, LocalizedError {
    /// A readable sentence; for a worker's error, the error's own text.
    public var description: String {
        switch self {
        case .failed(let failure): failure.message
        case .setAside(let attempts, let worker):
            "set aside after \(attempts) workers died while downloading it, the last one \(worker)"
        case .takenOver: "another process has begun a pass with the same work queue"
        case .unreadableItems(let reason):
            "the worker cannot read the items of the queue, which may be those of another version of the program "
                + "(\(reason)); update it, or raise itemVersion with each change of the items"
        case .noPass: "the processor of a work queue can download only during a pass"
        }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension PostgresWorkQueue.Failure: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .failed(let failure): failure.area.errorArea
        case .takenOver: .lease
        case .setAside, .unreadableItems, .noPass: .program
        }
    }
}
#endif
