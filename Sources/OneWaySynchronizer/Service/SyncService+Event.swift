import SyncBase

extension SyncService {
    /// An event that an observer of a ``SyncService`` receives.
    public enum Event: Sendable {
        /// A sync began.
        case began

        /// A stage of the running sync made progress. Only for services that run a
        /// ``Synchronizer``.
        case progress(SyncStatus.Progress)

        /// A call or a request of the running sync failed and will be tried again.
        case retried(RetryPolicy.Retry)

        /// A sync succeeded.
        case succeeded(Report)

        /// A sync failed, or the lease was lost or could not be requested.
        case failed(any Error)

        /// A sync was cancelled.
        case cancelled

        /// The service began to wait for a lease that another process holds; `nil` if the holder is
        /// not known.
        case standingBy(SyncLeaseHolder?)

        /// The service was granted the lease.
        case tookOver
    }
}

extension SyncService.Event: BufferedEvent {
    package var retention: EventRetention {
        switch self {
        case .progress(let progress): .progress(of: progress.stage)
        case .began, .retried: .droppable
        case .succeeded, .failed, .cancelled, .standingBy, .tookOver: .kept
        }
    }
}

extension SyncService.Event: CustomStringConvertible {
    /// The event as text. Errors are described by their `description`.
    public var description: String {
        switch self {
        case .began: "began"
        case .progress(let progress): "\(progress)"
        case .retried(let retry): "\(retry)"
        case .succeeded(let report): "succeeded: \(report)"
        case .failed(let error): "failed: \(ErrorText.describing(error))"
        case .cancelled: "cancelled"
        case .standingBy(let holder?): "standing by for \(holder)"
        case .standingBy(nil): "standing by"
        case .tookOver: "took over"
        }
    }
}
