/// An event that an observer of a ``Synchronizer`` receives.
public enum SyncEvent: Sendable {
    /// The synchronizer became busy or idle. It stays busy between queued passes.
    case statusChanged(SyncStatus)

    /// A pass entered a stage.
    case stageBegan(SyncStage)

    /// A stage made progress: reported about 100 times per stage, and up to ten times a second.
    case progress(SyncStatus.Progress)

    /// A call failed, or a request within it, and will be tried again. The error is a
    /// ``SyncError``.
    case willRetry(RetryPolicy.Retry)

    /// A call failed after its last attempt. Sent for the first ``SyncReport/maximumErrorCount``
    /// errors of a pass.
    case failed(SyncError)

    /// A pass ended. Another may follow before the status changes.
    ///
    /// The result is that of the pass. If ``Synchronizer/cancel()`` is called while `owsSyncEnd`
    /// runs, it can be a success, although the callers of `sync()` get a failure with
    /// ``SyncFailure/isCancelled``.
    case passEnded(Result<SyncReport, SyncFailure>)
}

extension SyncEvent: CustomStringConvertible {
    /// The event as text. Errors are described by their `description`.
    public var description: String {
        switch self {
        case .statusChanged(let status): status.isSyncing ? "syncing" : "idle"
        case .stageBegan(let stage): "\(stage.rawValue) began"
        case .progress(let progress): "\(progress)"
        case .willRetry(let retry): "\(retry)"
        case .failed(let error): "failed: \(error)"
        case .passEnded(.success(let report)): "done: \(report)"
        case .passEnded(.failure(let failure)): "ended: \(failure)"
        }
    }
}

/// Whether a synchronizer is busy.
public struct SyncStatus: Sendable, Hashable, Codable {
    /// Whether a pass runs or is about to begin.
    public var isSyncing: Bool

    /// Creates a status.
    public init(isSyncing: Bool) {
        self.isSyncing = isSyncing
    }
}

extension SyncStatus {
    /// The progress of a stage.
    public struct Progress: Sendable, Hashable, Codable {
        /// The stage.
        public var stage: SyncStage

        /// The number of items of the stage that have succeeded.
        public var done: Int

        /// The number of items that have failed, after their last attempt.
        public var failed: Int

        /// The total number of items; `nil` if it is not known, as during listing.
        public var total: Int?

        /// Creates a progress value.
        public init(stage: SyncStage, done: Int, failed: Int = 0, total: Int? = nil) {
            self.stage = stage
            self.done = done
            self.failed = failed
            self.total = total
        }
    }
}

extension SyncStatus.Progress: CustomStringConvertible {
    /// The progress as text, such as `content: 3 of 10, 1 failed`.
    public var description: String {
        "\(stage.rawValue): \(done)" + (total.map { " of \($0)" } ?? "") + (failed > 0 ? ", \(failed) failed" : "")
    }
}
