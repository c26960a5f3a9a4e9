import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayStoreTestSupport
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// A feed of a test: hands over its events one by one.
private final class ScriptedFeed: RemoteFeed {
    private let stream: AsyncStream<RemoteFeedEvent>
    private let continuation: AsyncStream<RemoteFeedEvent>.Continuation
    private let failure: (any Error)?
    /// How many events have been received in full, and how often the feed was begun.
    let receivedCount = Watched(0)
    let runCount = Watched(0)

    /// - Parameter failure: Ends every run but the first one at once.
    init(failing failure: (any Error)? = nil) {
        (stream, continuation) = AsyncStream.makeStream()
        self.failure = failure
    }

    func send(_ event: RemoteFeedEvent) { continuation.yield(event) }

    /// Ends the feed for good.
    func finish() { continuation.finish() }

    func run(_ receive: @escaping @Sendable (RemoteFeedEvent) async throws -> Void) async throws {
        let count = runCount.update { count in
            count += 1
            return count
        }
        if let failure, count > 1 { throw failure }
        for await event in stream {
            try await receive(event)
            receivedCount.update { $0 += 1 }
            if let failure { throw failure }
        }
        try Task.checkCancellation()
    }
}

@Suite(.timeLimit(.minutes(30))) struct LiveSyncTests {
    private let clock = ManualClock()
    private static let hourly = SyncSchedule(interval: .seconds(3600), jitter: 0)

    private func change(_ id: Int, _ name: String) -> RemoteChange {
        .objects(.bytes(Array(#"{"id":\#(id),"name":"\#(name)"}"#.utf8)))
    }

    private func live(
        _ world: SyncWorld, _ source: ScriptedList, _ feed: (any RemoteFeed)? = nil,
        lease: (any SyncLease)? = nil
    ) throws -> LiveSync {
        LiveSync(
            world.json, from: source, into: "User", feed: feed, schedule: Self.hourly,
            lease: lease,
            clock: clock)
    }

    /// Runs a service during a function.
    private func running(_ live: LiveSync, _ body: () async throws -> Void) async throws {
        let run = Task { try await live.service.run() }
        do { try await body() } catch {
            run.cancel()
            throw error
        }
        live.service.requestStop()
        try await run.value
    }

    @Test func changesAreAppliedBetweenPasses() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { _ in usersJSON(1...3) }
        let feed = ScriptedFeed()
        let live = try live(world, source, feed)
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForSleepers()
            feed.send(.connected(isContinuous: true))
            feed.send(.changes([change(1, "a"), .removals(.bytes(Array("2".utf8)))]))
            try await feed.receivedCount.wait { $0 == 2 }
            #expect(try await world.names() == [1: "a", 3: "user 3"])
            #expect(live.health.isConnected && live.health.changeCount == 2 && live.health.gapCount == 0)
            #expect(source.readCount == 1)
            try await live.apply([change(7, "webhook")])
            #expect(try await world.names()[7] == "webhook")
        }
        #expect(!live.health.isConnected)
        await #expect(throws: LiveSync.Refusal.notActive) { try await live.apply([change(8, "late")]) }
        #expect(try await world.names()[8] == nil)
    }

    /// Would store what the page said before the change if the pass and the change did not take
    /// turns.
    @Test func aPassDoesNotUndoAChangeThatCameMeanwhile() async throws {
        let world = try SyncWorld.users()
        let answer = Gate()
        let source = ScriptedList { _ in
            try await answer.pass()
            return usersJSON([1])
        }
        let feed = ScriptedFeed()
        let live = try live(world, source, feed)
        try await running(live) {
            try await answer.waitForArrivals()
            // The server has read its page, and changes.
            feed.send(.changes([change(1, "newer")]))
            async let webhook = live.apply([change(2, "new")])
            try await feed.runCount.wait { $0 == 1 }
            for _ in 0..<100 { await Task.yield() }
            #expect(feed.receivedCount.value == 0)
            answer.open()
            try await feed.receivedCount.wait { $0 == 1 }
            _ = try await webhook
            #expect(try await world.names() == [1: "newer", 2: "new"])
        }
    }

    @Test func aChangeThatNobodyWaitsForAnyMoreIsNotApplied() async throws {
        let world = try SyncWorld.users()
        let answer = Gate()
        let source = ScriptedList { _ in
            try await answer.pass()
            return usersJSON([1])
        }
        let live = try live(world, source)
        try await running(live) {
            try await answer.waitForArrivals()
            let webhook = Task { try await live.apply([change(2, "new")]) }
            webhook.cancel()
            await #expect(throws: CancellationError.self) { try await webhook.value }
            answer.open()
            try await live.apply([change(3, "later")])
            #expect(try await world.names() == [1: "user 1", 3: "later"])
            #expect(live.health.changeCount == 1)
        }
    }

    /// Has transactions wait for a gate.
    private struct GatedTransactions: StoreHook {
        let isArmed = Locked(false)
        let gate = Gate()

        func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
            if isArmed.withLock(\.self) { try? await gate.pass() }
            return try await call()
        }
    }

    @Test func aChangeThatHasBegunIsAwaitedByACancelledTask() async throws {
        let hook = GatedTransactions()
        let world = try SyncWorld.users { HookedStore($0, hook) }
        let live = try live(world, ScriptedList { _ in usersJSON([1]) })
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForSleepers()
            hook.isArmed.withLock { $0 = true }
            let webhook = Task { try await live.apply([change(2, "new")]) }
            try await hook.gate.waitForArrivals()
            webhook.cancel()
            hook.gate.open()
            #expect(try await webhook.value.result.counts.inserted == 1)
            #expect(try await world.names() == [1: "user 1", 2: "new"])
        }
    }

    @Test func aGapAsksForAPassButNotForOneAfterAnother() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { index in usersJSON(0...index) }
        let feed = ScriptedFeed()
        try await running(try live(world, source, feed)) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            for _ in 0..<5 { feed.send(.connected(isContinuous: false)) }
            try await feed.receivedCount.wait { $0 == 5 }
            // A minute after the beginning of the pass before.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(source.readCount == 1)
            clock.advance(by: .seconds(60))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 2)
            clock.advance(by: .seconds(100))
            feed.send(.gap(TestError("missed")))
            try await feed.receivedCount.wait { $0 == 6 }
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 3)
            #expect(try await world.names().count == 3)
        }
    }

    @Test func aChangeThatCannotBeAppliedKeepsNoOtherBack() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { _ in usersJSON([1]) }
        let feed = ScriptedFeed()
        let live = try live(world, source, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.changes([change(2, "b"), .objects(.bytes(Array("{".utf8))), change(3, "c")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.names() == [1: "user 1", 2: "b", 3: "c"])
            #expect(live.health.changeCount == 2 && live.health.failureCount == 1)
            #expect(live.health.lastError is JSONError)
            // A pass brings what could not be applied.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            await #expect(throws: JSONError.self) { try await live.apply([.objects(.bytes(Array("[".utf8)))]) }
            #expect(live.health.failureCount == 2)
        }
    }

    @Test func aFeedThatFailsIsBegunAgainAfterTheNextPass() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { _ in usersJSON([1]) }
        let feed = ScriptedFeed(failing: TestError("the token has expired"))
        let live = try live(world, source, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            try await feed.receivedCount.wait { $0 == 1 }
            live.service.trigger()
            try await feed.runCount.wait { $0 == 2 }
            #expect(live.health.lastError as? TestError == TestError("the token has expired"))
            live.service.trigger()
            try await feed.runCount.wait { $0 == 3 }
        }
    }

    /// Only passes bring what changes from then on.
    @Test func aFeedThatItsSourceEndsIsFollowedByAPass() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { index in usersJSON(0...index) }
        let feed = ScriptedFeed()
        let live = try live(world, source, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(live.health.isConnected && !live.health.hasEnded && live.health.gapCount == 0)
            feed.finish()
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(!live.health.isConnected && live.health.hasEnded && live.health.gapCount == 1)
            #expect(live.health.lastError == nil)
            clock.advance(by: .seconds(60))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 2 && feed.runCount.value == 1)
        }
    }

    /// A pass that fails brings nothing of what was missed.
    @Test func aGapIsRememberedUntilAPassSucceeds() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { index in
            if index == 1 { throw TestError("no list") }
            return usersJSON(0...index)
        }
        let feed = ScriptedFeed()
        try await running(try live(world, source, feed)) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            clock.advance(by: .seconds(100))
            feed.send(.gap(TestError("missed")))
            try await feed.receivedCount.wait { $0 == 1 }
            // The pass after the gap fails, and is made up for.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            #expect(source.readCount == 2)
            clock.advance(by: .seconds(60))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 3)
            #expect(try await world.names().count == 3)
        }
    }

    @Test func onlyTheHolderOfTheLeaseTakesChanges() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { _ in usersJSON([1]) }
        let feed = ScriptedFeed()
        let lease = ScriptedLease(clock: clock)
        let other = SyncLeaseHolder()
        lease.seize(by: other)
        let live = try live(world, source, feed, lease: lease)
        try await running(live) {
            try await lease.log.wait(for: .refused)
            await #expect(throws: LiveSync.Refusal.notActive) { try await live.apply([change(1, "a")]) }
            #expect(feed.runCount.value == 0)
            lease.giveUp()
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
            try await feed.runCount.wait { $0 == 1 }
            feed.send(.changes([change(2, "b")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(live.health.changeCount == 1)
            // A change is confirmed by the lease before it is committed.
            #expect(lease.log.events.contains(.renewed))
        }
        #expect(lease.log.events.last == .released)
    }

    @Test func aStopEndsTheFeed() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { _ in usersJSON([1]) }
        let feed = ScriptedFeed()
        try await running(try live(world, source, feed)) { try await feed.runCount.wait { $0 == 1 } }
    }
}

/// A source of one page, which a script writes when it is read.
private struct ScriptedList: RemoteSource {
    let name = "scripted"
    let fingerprint = ""
    /// The JSON of the page by the number of pages that were read before.
    let page: @Sendable (_ index: Int) async throws -> String
    private let count = Locked(0)

    init(_ page: @escaping @Sendable (_ index: Int) async throws -> String) {
        self.page = page
    }

    /// How many pages have been asked for.
    var readCount: Int { count.withLock(\.self) }

    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer {
        .changed(Pass(list: self))
    }

    private actor Pass: RemotePass {
        private let list: ScriptedList
        private var isRead = false

        init(list: ScriptedList) { self.list = list }

        func next() async throws -> RemotePage? {
            guard !isRead else { return nil }
            isRead = true
            let index = list.count.withLock { count in
                defer { count += 1 }
                return count
            }
            return RemotePage(.bytes(Array(try await list.page(index).utf8)))
        }

        func rewind() async throws { isRead = false }

        func end() async throws -> RemoteEnd {
            RemoteEnd(.everything, isSnapshot: true, bookmark: SyncBookmark())
        }
    }
}
