#if Postgres
public import Foundation
public import OneWaySynchronizer

/// Why an item was not downloaded by the workers of a ``PostgresWorkQueue``.
public enum PostgresWorkError: Error, Hashable, Sendable {
    /// A worker's processor threw.
    case failed(Failure)
    /// So many workers died while they downloaded the item that it is set aside; `worker` was the last.
    case setAside(attempts: Int, worker: String)
    /// Another process has begun a pass with the same queue.
    case takenOver
    /// The item was to be downloaded outside of a pass.
    case noPass

    /// What a worker's processor threw, as far as it can be told to another process.
    public struct Failure: Hashable, Sendable, Codable {
        /// The error as text.
        public let message: String
        /// Its type, such as `Foundation.URLError`.
        public let kind: String
        /// Whether it said that trying again may help.
        public let isRetryable: Bool
        /// How long to wait before that, in milliseconds; nil where it did not say.
        let retryAfterMilliseconds: Int64?
        /// Whose error it is, such as `worker (process 4711 on web-1)`.
        public let worker: String
    }
}

extension PostgresWorkError.Failure {
    /// What can be told of an error.
    init(_ error: any Error, worker: String) {
        let retryable = error as? any RetryableError
        self.init(
            message: "\(error)", kind: String(reflecting: type(of: error)),
            isRetryable: retryable?.isRetryable ?? false,
            retryAfterMilliseconds: retryable?.retryAfter?.wholeMilliseconds, worker: worker)
    }
}

extension PostgresWorkError: RetryableError {
    /// What the worker's error said; the others cannot be tried again in the same pass.
    public var isRetryable: Bool {
        if case .failed(let failure) = self { failure.isRetryable } else { false }
    }

    /// What the worker's error said.
    public var retryAfter: Duration? {
        guard case .failed(let failure) = self else { return nil }
        return failure.retryAfterMilliseconds.map { .milliseconds($0) }
    }
}

extension PostgresWorkError: CustomStringConvertible, LocalizedError {
    /// The error as a sentence; for a worker's error its own text, as if it had happened here.
    public var description: String {
        switch self {
        case .failed(let failure): failure.message
        case .setAside(let attempts, let worker):
            "set aside after \(attempts) workers died while downloading it, the last one \(worker)"
        case .takenOver: "another process has begun a pass with the same work queue"
        case .noPass: "the processor of a work queue downloads inside a pass only"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
#endif
