public import Foundation

/// Something that an observer of a ``Synchronizer`` can see happen.
public enum SyncEvent: Sendable {
    /// The synchronizer began, or ended, being busy. Nothing comes between the passes of a queued re-sync.
    case statusChanged(SyncStatus)

    /// A pass entered a stage.
    case stageBegan(SyncStage)

    /// A stage went on: at most about 100 times by count, and ten times a second.
    case progress(SyncProgress)

    /// A call failed and will be tried again; `attempt` is the number of the one that failed, from 1.
    case willRetry(SyncError, attempt: Int, after: Duration)

    /// A call failed for good. Seen for the first ``SyncReport/maximumErrorCount`` errors of a pass.
    case failed(SyncError)

    /// A pass ended; another may follow before the status changes.
    case passEnded(Result<SyncReport, SyncFailure>)
}

/// Whether a synchronizer is busy.
public struct SyncStatus: Sendable, Hashable {
    /// Whether a pass is running or about to.
    public let isSyncing: Bool
}

/// How far a stage has come.
public struct SyncProgress: Sendable, Hashable {
    /// Which stage.
    public let stage: SyncStage

    /// How many items of the stage succeeded so far.
    public let done: Int

    /// How many failed so far, after their last attempt.
    public let failed: Int

    /// How many there are in all; `nil` where that is not known, as for what is being listed.
    public let total: Int?
}

extension Notification.Name {
    /// Posted when a synchronizer's status changes.
    ///
    /// On the main actor, in order; no pass waits for it. `object` is the synchronizer, and
    /// `userInfo[SyncStatus.userInfoKey]` the new ``SyncStatus``. Where nobody runs the main actor, at most the latest
    /// 1,024 wait to be posted.
    public static let OneWaySynchronizerDidChangeSyncStatusNotification = Notification.Name(
        "OneWaySynchronizerDidChangeSyncStatusNotification")
}

extension SyncStatus {
    /// The key under which a status notification's user info has its ``SyncStatus``.
    public static let userInfoKey = "status"
}
