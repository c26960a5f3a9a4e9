#if !Essentials
public import Foundation

extension Notification.Name {
    /// Posted when a synchronizer's status changes.
    ///
    /// Posted on the main actor, in order, without delaying a pass. `object` is the synchronizer
    /// (`nil` if it is gone by then), and `userInfo[SyncStatus.userInfoKey]` the new
    /// ``SyncStatus``. While the main actor is busy, at most the latest 1,024 notifications wait.
    public static let OneWaySynchronizerDidChangeSyncStatusNotification = Notification.Name(
        "OneWaySynchronizerDidChangeSyncStatusNotification")
}

extension SyncStatus {
    /// The key of the ``SyncStatus`` in a status notification's user info.
    public static let userInfoKey = "status"
}
#endif
