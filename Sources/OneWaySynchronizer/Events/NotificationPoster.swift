#if !Essentials
import Foundation
import SyncBase

/// Posts status notifications on the main actor, in order, without delaying any pass.
///
/// The whole process shares one poster, which bounds the number of posts that wait for a busy main
/// actor. Waiting posts do not keep their synchronizers alive.
final class NotificationPoster: Sendable {
    static let shared = NotificationPoster()
    static let maximumWaitingCount = 1024

    private struct Post: Sendable {
        let status: SyncStatus
        /// The notification's object; it is posted without one if the synchronizer is gone.
        weak let sender: (any AnyObject & Sendable)?
    }

    private struct State {
        var waiting = FIFO<Post>()
        var isDraining = false
    }

    private let state = Locked(State())

    func post(_ status: SyncStatus, from sender: any AnyObject & Sendable) {
        let startsDraining = state.withLock { state in
            state.waiting.append(Post(status: status, sender: sender))
            if state.waiting.count > Self.maximumWaitingCount { _ = state.waiting.popFirst() }
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining {
            Task { @MainActor in self.drain() }
        }
    }

    @MainActor
    private func drain() {
        while let post = nextPost() {
            NotificationCenter.default.post(
                name: .OneWaySynchronizerDidChangeSyncStatusNotification, object: post.sender,
                userInfo: [SyncStatus.userInfoKey: post.status])
        }
    }

    /// The post that has waited longest; nil ends the loop.
    private func nextPost() -> Post? {
        state.withLock { state in
            let post = state.waiting.popFirst()
            if post == nil { state.isDraining = false }
            return post
        }
    }
}
#endif
