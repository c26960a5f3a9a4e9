import SyncBase
import Foundation

/// Posts status notifications on the main actor, in order, without anybody waiting for it.
///
/// One for the whole process, so that what waits for a main actor that nobody runs is bounded for all synchronizers
/// together.
final class NotificationPoster: Sendable {
    static let shared = NotificationPoster()
    static let maximumWaitingCount = 1024

    private struct Post: Sendable {
        var status: SyncStatus
        var sender: any AnyObject & Sendable
    }

    private struct State {
        var waiting: [Post] = []
        var isDraining = false
    }

    private let state = Locked(State())

    func post(_ status: SyncStatus, from sender: any AnyObject & Sendable) {
        let (startsDraining, dropped) = state.withLock { state -> (Bool, Post?) in
            state.waiting.append(Post(status: status, sender: sender))
            let dropped = state.waiting.count > Self.maximumWaitingCount ? state.waiting.removeFirst() : nil
            defer { state.isDraining = true }
            return (!state.isDraining, dropped)
        }
        // Released outside the lock: it may hold the last reference to a synchronizer.
        _ = dropped
        if startsDraining {
            Task { @MainActor in self.drain() }
        }
    }

    @MainActor
    private func drain() {
        while let posts = nextPosts() {
            for post in posts {
                NotificationCenter.default.post(
                    name: .OneWaySynchronizerDidChangeSyncStatusNotification, object: post.sender,
                    userInfo: [SyncStatus.userInfoKey: post.status])
            }
        }
    }

    /// What waits, all of it; `nil` ends the draining.
    private func nextPosts() -> [Post]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isDraining = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
