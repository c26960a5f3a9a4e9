#if !Essentials
import Foundation
@testable import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The status notification.
@Suite(.endsInTime) struct NotificationTests {
    @Test @MainActor func waitingNotificationsKeepNobodyAlive() {
        final class Sender: Sendable {}
        let poster = NotificationPoster()
        var sender: Sender? = Sender()
        weak let released = sender
        if let sender { poster.post(SyncStatus(isSyncing: true), from: sender) }
        // The main actor, which would post it, is here.
        sender = nil
        #expect(released == nil)
    }

    @Test @MainActor func aNotificationIsPostedAsSoonAsTheMainActorIsFree() async throws {
        final class Sender: Sendable {}
        let (poster, sender) = (NotificationPoster(), Sender())
        let seen = EventLog<Bool>()
        let token = NotificationCenter.default.addObserver(
            forName: .OneWaySynchronizerDidChangeSyncStatusNotification, object: sender, queue: nil
        ) { seen.append(($0.userInfo?[SyncStatus.userInfoKey] as? SyncStatus)?.isSyncing == true) }
        defer { NotificationCenter.default.removeObserver(token) }
        poster.post(SyncStatus(isSyncing: true), from: sender)
        #expect(seen.events.isEmpty)
        for _ in 0..<1_000 where seen.events.isEmpty { await Task { @MainActor in }.value }
        #expect(seen.events == [true])
    }

    @Test @MainActor func atMost1024NotificationsWait() async throws {
        final class Sender: Sendable {}
        let (poster, sender) = (NotificationPoster(), Sender())
        let seen = EventLog<Bool>()
        let token = NotificationCenter.default.addObserver(
            forName: .OneWaySynchronizerDidChangeSyncStatusNotification, object: sender, queue: nil
        ) { notification in
            guard let status = notification.userInfo?[SyncStatus.userInfoKey] as? SyncStatus else { return }
            seen.append(status.isSyncing)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        // The main actor, which would post them, is here.
        for number in 0..<1_030 { poster.post(SyncStatus(isSyncing: number % 2 == 0), from: sender) }
        try await seen.wait { $0.count >= 1_024 }
        await Task { @MainActor in }.value
        #expect(seen.events.count == 1_024 && seen.events.last == false)
        poster.post(SyncStatus(isSyncing: true), from: sender)
        try await seen.wait { $0.last == true }
    }

    @Test func theStatusIsPostedOnTheMainActorInOrder() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let seen = EventLog<Bool>()
        let token = NotificationCenter.default.addObserver(
            forName: .OneWaySynchronizerDidChangeSyncStatusNotification, object: synchronizer, queue: nil
        ) { notification in
            MainActor.assertIsolated()
            guard let status = notification.userInfo?[SyncStatus.userInfoKey] as? SyncStatus else { return }
            seen.append(status.isSyncing)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        for _ in 0..<3 { try await synchronizer.sync() }
        try await seen.wait { $0.count == 6 }
        #expect(seen.events == [true, false, true, false, true, false])
    }

    @Test func noPassWaitsForTheMainActor() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let isHeld = Gate()
        let isOver = DispatchSemaphore(value: 0)
        let holding = Task { @MainActor in
            isHeld.open()
            Self.wait(for: isOver)
        }
        try await isHeld.pass(orEndOf: holding)
        // The main actor is held until the pass has ended.
        try await withTaskCancellationHandler {
            _ = try await synchronizer.sync()
        } onCancel: {
            isOver.signal()
        }
        isOver.signal()
        await holding.value
        #expect(processor.local == ["a": 1])
    }

    private static func wait(for semaphore: DispatchSemaphore) {
        semaphore.wait()
    }
}
#endif
