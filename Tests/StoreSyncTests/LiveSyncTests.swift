import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct LiveSyncTests {
    let clock = ManualClock()
    static let hourly = SyncSchedule(interval: .seconds(3600), jitter: 0)

    func change(_ id: Int, _ name: String) -> RemoteChange {
        .objects(.bytes(Array(#"{"id":\#(id),"name":"\#(name)"}"#.utf8)))
    }

    func live(
        _ world: SyncWorld, _ source: ScriptedList, _ feed: (any RemoteFeed)? = nil,
        lease: (any SyncLease)? = nil
    ) throws -> LiveSync {
        LiveSync(
            world.json.store, [LiveSync.List("User", from: source)], feed: feed, schedule: Self.hourly, lease: lease,
            clock: clock)
    }

    /// Runs a service during a function.
    func running(_ live: LiveSync, _ body: () async throws -> Void) async throws {
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
        #expect(!live.health.isConnected && !live.health.hasEnded)
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForPendingDelays([.seconds(3600)])
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

    /// A list of one user, which is answered when a gate opens.
    private func heldList(until answer: Gate) -> ScriptedList {
        ScriptedList { _ in
            try await answer.pass()
            return usersJSON([1])
        }
    }

    @Test func aChangeThatNobodyWaitsForAnyMoreIsNotApplied() async throws {
        let world = try SyncWorld.users()
        let answer = Gate()
        let live = try live(world, heldList(until: answer))
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

    /// A server that ends its requests during a long pass, and sends its webhooks again.
    @Test func changesThatNobodyWaitsForAnyMoreMakeRoomForOthers() async throws {
        let world = try SyncWorld.users()
        let answer = Gate()
        let live = try live(world, heldList(until: answer))
        try await running(live) {
            try await answer.waitForArrivals()
            let ended = (1...1_000).map { id in Task { try await live.apply([change(id, "ended")]) } }
            // One of them has the next turn.
            while live.health.waitingCount < 999 { await Task.yield() }
            for webhook in ended { webhook.cancel() }
            for webhook in ended { await #expect(throws: CancellationError.self) { try await webhook.value } }
            #expect(live.health.waitingCount == 0)
            let sent = (1...1_000).map { id in Task { try await live.apply([change(id, "sent again")]) } }
            while live.health.waitingCount < 999 { await Task.yield() }
            answer.open()
            for webhook in sent { _ = try await webhook.value }
            #expect(try await world.names().count == 1_000)
            #expect(live.health.changeCount == 1_000)
        }
    }

    @Test func aChangeThatHasBegunIsAwaitedByACancelledTask() async throws {
        let hook = GatedCalls()
        let world = try SyncWorld.users { HookedStore($0, hook) }
        let live = try live(world, ScriptedList { _ in usersJSON([1]) })
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForPendingDelays([.seconds(3600)])
            hook.isArmed.withLock { $0 = true }
            let webhook = Task { try await live.apply([change(2, "new")]) }
            try await hook.gate.waitForArrivals(orEndOf: webhook)
            webhook.cancel()
            hook.gate.open()
            #expect(try await webhook.value.counts.inserted == 1)
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
            #expect(!live.health.isConnected)
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

    /// The first pass fails, and one after a gap was made up for.
    @Test func aPassThatFailsWithoutAGapIsNotRepeatedEarly() async throws {
        let world = try SyncWorld.users()
        let source = ScriptedList { index in
            if index != 1 { throw TestError("no list") }
            return usersJSON([1])
        }
        let feed = ScriptedFeed()
        let live = try live(world, source, feed)
        func expectNoPass(after count: Int) async throws {
            clock.advance(by: .seconds(60))
            for _ in 0..<100 { await Task.yield() }
            #expect(source.readCount == count)
        }
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            try await expectNoPass(after: 1)
            feed.send(.gap(TestError("missed")))
            try await feed.receivedCount.wait { $0 == 1 }
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 2)
            clock.advance(by: .seconds(3600))
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(source.readCount == 3)
            try await expectNoPass(after: 3)
        }
    }

    /// A server that sends webhooks faster than they can be applied has to send some again.
    @Test func onlySoManyChangesWait() async throws {
        let hook = GatedCalls()
        let world = try SyncWorld.users { HookedStore($0, hook) }
        let live = try live(world, ScriptedList { _ in usersJSON([]) })
        try await running(live) {
            // The first pass has ended.
            try await clock.waitForPendingDelays([.seconds(3600)])
            hook.isArmed.withLock { $0 = true }
            let first = Task { try await live.apply([change(0, "first")]) }
            try await hook.gate.waitForArrivals(orEndOf: first)
            // One is being applied, a thousand wait, and one is too many.
            let refusals = await withTaskGroup(of: LiveSync.Refusal?.self) { group in
                for id in 1...1001 {
                    group.addTask {
                        do {
                            try await live.apply([change(id, "waiting")])
                            return nil
                        } catch {
                            return error as? LiveSync.Refusal
                        }
                    }
                }
                let refused = await group.next() ?? nil
                hook.gate.open()
                return await group.reduce(into: [refused]) { $0.append($1) }.compactMap(\.self)
            }
            #expect(refusals == [.tooManyWaiting(limit: 1_000)])
            _ = try await first.value
            #expect(try await world.names().count == 1001)
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
            try await clock.waitForPendingDelays([.seconds(3)])
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
