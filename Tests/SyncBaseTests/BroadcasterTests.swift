import OneWayTestLimits
import SyncBase
import Testing

@Suite(.endsInTime) struct BroadcasterTests {
    /// Drops the oldest.
    private static func dropping<Element: Sendable>(_: Element.Type) -> Broadcaster<Element> {
        Broadcaster { queue, capacity in
            var dropped: [Element] = []
            while queue.count > capacity, let first = queue.popFirst() { dropped.append(first) }
            return dropped
        }
    }

    @Test func observersSeeWhatIsSentAfterThemInOrder() async throws {
        let broadcaster = Self.dropping(Int.self)
        #expect(!broadcaster.isObserved)
        broadcaster.send(0)
        let first = broadcaster.subscribe(capacity: 10)
        broadcaster.send(1)
        let second = broadcaster.subscribe(capacity: 10)
        #expect(broadcaster.isObserved)
        broadcaster.send(2)
        #expect(await [first.next(), first.next()] == [1, 2])
        #expect(await second.next() == 2)
    }

    @Test func whoWaitsIsHandedTheNextElement() async throws {
        let broadcaster = Self.dropping(Int.self)
        let subscription = broadcaster.subscribe(capacity: 1)
        let next = Task { await subscription.next() }
        await Task.yield()
        broadcaster.send(1)
        #expect(await next.value == 1)
        #expect(subscription.droppedCount == 0)
    }

    @Test func theEndComesAfterWhatWaitsAlsoForLaterObservers() async {
        let broadcaster = Self.dropping(Int.self)
        let early = broadcaster.subscribe(capacity: 10)
        broadcaster.send(1)
        broadcaster.finish()
        #expect(await [early.next(), early.next()] == [1, nil])
        #expect(await broadcaster.subscribe(capacity: 10).next() == nil)
    }

    @Test func aRelaySendsToAnotherBroadcasterBeforeTheCallReturns() async throws {
        let source = Self.dropping(Int.self)
        let target = Self.dropping(String.self)
        var relay: Relay<Int>? = source.relay(to: target) { $0.isMultiple(of: 2) ? "\($0)" : nil }
        #expect(source.isObserved && relay != nil)
        for number in 1...4 { source.send(number) }
        let late = target.subscribe(capacity: 10)
        for number in 5...8 { source.send(number) }
        target.send("end")
        #expect(await [late.next(), late.next(), late.next()] == ["6", "8", "end"])
        relay = nil
        #expect(!source.isObserved)
        source.send(10)
        target.send("last")
        #expect(await late.next() == "last")
    }

    /// Would deadlock if the relay released it under a lock.
    @Test func whatARelayDropsIsReleasedOutsideTheLocks() async throws {
        final class Probe: Sendable {
            let look: @Sendable () -> Void
            init(_ look: @escaping @Sendable () -> Void) { self.look = look }
            deinit { look() }
        }
        let source = Self.dropping(Int.self)
        let target = Self.dropping(Probe.self)
        let subscription = target.subscribe(capacity: 1)
        let looks = Locked(0)
        let relay = source.relay(to: target) { _ in
            Probe { [weak source, weak target] in
                if source?.isObserved == true, target?.isObserved == true { looks.withLock { $0 += 1 } }
            }
        }
        for number in 1...5 { source.send(number) }
        #expect(looks.value == 4)
        withExtendedLifetime((relay, subscription)) {}
    }

    @Test func aFullQueueIsCompacted() async throws {
        let broadcaster = Broadcaster<Int> { queue, capacity in
            while queue.count > capacity, let last = queue.popLast(), let before = queue.popLast() {
                queue.append(before + last)
            }
            return []
        }
        let subscription = broadcaster.subscribe(capacity: 2)
        for number in 1...10 { broadcaster.send(number) }
        #expect(await [subscription.next(), subscription.next()] == [1, 54])
        #expect(subscription.droppedCount == 0)
        let lossy = Self.dropping(Int.self)
        let small = lossy.subscribe(capacity: 0)
        for number in 1...10 { lossy.send(number) }
        #expect(await small.next() == 10)
        #expect(small.droppedCount == 9)
    }

    @Test func theSequenceEndsWithTheTaskOrTheBroadcaster() async throws {
        var broadcaster: Broadcaster<Int>? = Self.dropping(Int.self)
        let subscription = try #require(broadcaster).subscribe(capacity: 10)
        let cancelled = Task { await subscription.next() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        let waiting = Task { await subscription.next() }
        await Task.yield()
        broadcaster = nil
        #expect(await waiting.value == nil)
        #expect(await subscription.next() == nil)
    }

    @Test func whatWaitsIsStillReadAfterTheEnd() async throws {
        var broadcaster: Broadcaster<Int>? = Self.dropping(Int.self)
        let subscription = try #require(broadcaster).subscribe(capacity: 10)
        broadcaster?.send(1)
        broadcaster = nil
        #expect(await subscription.next() == 1)
        #expect(await subscription.next() == nil)
    }

    @Test func anObserverThatIsGoneIsForgotten() async throws {
        let broadcaster = Self.dropping(Int.self)
        var subscription: Subscription<Int>? = broadcaster.subscribe(capacity: 10)
        #expect(subscription != nil && broadcaster.isObserved)
        subscription = nil
        #expect(!broadcaster.isObserved)
    }

    /// A value whose `deinit` looks at its broadcaster would deadlock if it were released under a
    /// lock.
    @Test func noElementIsReleasedUnderALock() async throws {
        final class Probe: Sendable {
            let broadcaster: Broadcaster<Probe>
            let subscription: Subscription<Probe>
            init(_ broadcaster: Broadcaster<Probe>, _ subscription: Subscription<Probe>) {
                self.broadcaster = broadcaster
                self.subscription = subscription
            }
            deinit {
                _ = broadcaster.subscribe(capacity: 1).droppedCount
                _ = subscription.droppedCount
            }
        }
        let broadcaster = Self.dropping(Probe.self)
        let subscription = broadcaster.subscribe(capacity: 1)
        for _ in 0..<3 { broadcaster.send(Probe(broadcaster, subscription)) }
        #expect(subscription.droppedCount == 2)
        _ = await subscription.next()
    }

    @Test func manySendersAreSeenInOneOrderByAll() async throws {
        let broadcaster = Self.dropping(Int.self)
        let subscriptions = (0..<3).map { _ in broadcaster.subscribe(capacity: 10_000) }
        async let seen = withTaskGroup(of: [Int].self) { group in
            for subscription in subscriptions {
                group.addTask {
                    var seen: [Int] = []
                    while seen.count < 4_000, let next = await subscription.next() { seen.append(next) }
                    return seen
                }
            }
            return await group.reduce(into: [[Int]]()) { $0.append($1) }
        }
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask { for number in 0..<1_000 { broadcaster.send(sender * 1_000 + number) } }
            }
        }
        let orders = await seen
        #expect(Set(orders).count == 1)
        #expect(orders.first?.sorted() == Array(0..<4_000))
    }
}
