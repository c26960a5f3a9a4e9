@testable import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// What observers see.
@Suite(.endsInTime) struct EventsTests {
    /// The events of one sync, told in words.
    private func words(_ events: SyncEvents<SyncEvent>) async -> [String] {
        var words: [String] = []
        for await event in events {
            switch event {
            case .statusChanged(let status): words.append(status.isSyncing ? "busy" : "idle")
            case .stageBegan(let stage): words.append(stage.rawValue)
            case .progress(let progress):
                words.append("\(progress.stage.rawValue) \(progress.done)+\(progress.failed)/\(progress.total ?? -1)")
            case .willRetry(let retry): words.append("retry \(retry.attempt) \(retry.delay) \(retry.error)")
            case .failed(let error): words.append("failed \(error)")
            case .passEnded(.success): words.append("success")
            case .passEnded(.failure): words.append("failure")
            }
            if words.last == "idle" { break }
        }
        return words
    }

    @Test func theyTellThePassInOrder() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["b": 1, "x": 1])
        let synchronizer = Synchronizer(processor: processor, clock: ManualClock())
        let events = synchronizer.events
        try await synchronizer.sync()
        #expect(
            await words(events) == [
                "busy", "begin", "list", "list 2+0/-1", "localKeys", "localKeys 2+0/-1", "compare", "remove",
                "remove 1+0/1", "shouldUpdate", "shouldUpdate 1+0/1",
                "prepare",
                "content", "content 1+0/1", "end", "success", "idle",
            ])
        #expect(events.droppedCount == 0)
    }

    @Test func failuresAndRetriesAreSeen() async throws {
        let attempts = Watched(0)
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
            if call == .content("b") { throw TestError("no") }
            let attempt = attempts.update { attempts in
                attempts += call == .content("a") ? 1 : 0
                return attempts
            }
            if call == .content("a"), attempt == 1 { throw RetryableTestError(retryAfter: .zero) }
        }
        let synchronizer = Synchronizer(
            processor: processor,
            options: SyncOptions(concurrency: 1, stopOnError: false, retry: RetryPolicy(baseDelay: .zero)),
            clock: ManualClock())
        let events = synchronizer.events
        _ = try? await synchronizer.sync()
        let words = await words(events)
        #expect(
            words.contains(
                "retry 1 0.0 seconds content of \"a\": RetryableTestError(retryAfter: Optional(0.0 seconds))"))
        #expect(words.contains("failed content of \"b\": no"))
        #expect(words.suffix(2) == ["failure", "idle"])
    }

    /// Such as a request of a client, which repeats it within the call.
    @Test func aRetryWithinACallIsSeenWithItsStageAndKey() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .list || call == .content("a") else { return }
            RetryPolicy.Retry(error: TestError("busy"), attempt: 1, maxAttempts: 8, delay: .seconds(1)).report()
        }
        let synchronizer = Synchronizer(processor: processor, clock: ManualClock())
        let events = synchronizer.events
        let retries = EventLog<String>()
        try await RetryPolicy.Retry.observed(by: { retries.append("\($0.error)") }) {
            _ = try await synchronizer.sync()
        }
        #expect(
            await words(events).filter { $0.hasPrefix("retry") } == [
                "retry 1 1.0 seconds list: busy", "retry 1 1.0 seconds content of \"a\": busy",
            ])
        #expect(retries.events == ["busy", "busy"])
    }

    @Test func everyObserverSeesTheSameAndLateOnesWhatFollows() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { if $0 == .content("a") { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor, clock: ManualClock())
        let (first, second) = (synchronizer.events, synchronizer.events)
        async let report = synchronizer.sync()
        try await gate.waitForArrivals()
        let late = synchronizer.events
        gate.open()
        _ = try await report
        let all = await words(first)
        #expect(await words(second) == all)
        #expect(await words(late) == ["content 1+0/1", "end", "success", "idle"])
    }

    @Test func theOnlyObserverSeesTheProgressOfTheRunningStage() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
            if call == .content("b") { try await gate.pass() }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 1), clock: ManualClock())
        async let report = synchronizer.sync()
        try await gate.waitForArrivals()
        let events = synchronizer.events
        gate.open()
        _ = try await report
        #expect(await words(events) == ["content 2+0/2", "end", "success", "idle"])
    }

    @Test func aSlowObserverSlowsNothingAndKnowsWhatItMissed() async throws {
        let processor = ScriptedProcessor(source: (0..<50).map { TestItem("\($0)") })
        let synchronizer = Synchronizer(processor: processor, clock: ManualClock())
        let (small, large) = (synchronizer.events(bufferSize: 3), synchronizer.events(bufferSize: 1000))
        try await synchronizer.sync()
        let (seen, all) = (await words(small), await words(large))
        #expect(seen == ["end", "success", "idle"])
        #expect(small.droppedCount == all.count - 3)
        #expect(large.droppedCount == 0)
    }

    @Test func anObserverThatDoesNotReadKeepsEveryFailureAndTheEnd() async throws {
        let processor = ScriptedProcessor(source: (0..<500).map { TestItem("\($0)") }) { call in
            if case .content(let key) = call, key.hasSuffix("7") { throw TestError(key) }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 4, stopOnError: false), clock: ManualClock())
        let events = synchronizer.events(bufferSize: 1)
        _ = try? await synchronizer.sync()
        _ = try? await synchronizer.sync()
        synchronizer.sync { _ in }
        var (failures, ends) = (0, 0)
        for await event in events {
            if case .failed = event { failures += 1 }
            if case .passEnded = event { ends += 1 }
            if ends == 3 { break }
        }
        #expect(failures == 150)
        #expect(events.droppedCount > 0)
    }

    @Test func progressIsMergedBeforeAnythingElseIsDropped() async throws {
        let processor = ScriptedProcessor(source: (0..<200).map { TestItem("\($0)") })
        let synchronizer = Synchronizer(processor: processor, clock: ManualClock())
        let events = synchronizer.events(bufferSize: 20)
        try await synchronizer.sync()
        let seen = await words(events)
        // An eighth of a full buffer is dropped at once.
        #expect((18...20).contains(seen.count))
        for word in ["busy", "begin", "list", "content", "content 200+0/200", "end", "success", "idle"] {
            #expect(seen.contains(word))
        }
    }

    @Test func aFullBufferKeepsTheLast1024OfTheEventsThatMatter() async throws {
        let broadcaster = Broadcaster<SyncEvent>.ofEvents()
        let events = SyncEvents(subscription: broadcaster.subscribe(capacity: 1))
        for number in 0..<1_030 {
            broadcaster.send(.failed(SyncError(stage: .content, key: number, underlying: TestError("no"))))
        }
        #expect(events.droppedCount == 6)
        var iterator = events.makeAsyncIterator()
        guard case .failed(let first)? = await iterator.next() else { throw TestError("the failures are first") }
        #expect(first.key as? Int == 6)
    }

    /// An event that counts how often its retention is read.
    private struct ProbeEvent: BufferedEvent {
        let number: Int
        let kind: EventRetention
        let readCount: Watched<Int>

        var retention: EventRetention {
            readCount.update { $0 += 1 }
            return kind
        }
    }

    private static let kinds: [EventRetention] = [
        .progress(of: .list), .progress(of: .preview), .progress(of: .content), .droppable, .kept,
    ]

    @Test(arguments: kinds)
    func theWorkForAnEventDoesNotGrowWithThoseThatWait(kind: EventRetention) {
        let readCount = Watched(0)
        let broadcaster = Broadcaster<ProbeEvent>.ofEvents()
        let subscription = broadcaster.subscribe(capacity: 256)
        for number in 0..<2_000 { broadcaster.send(ProbeEvent(number: number, kind: kind, readCount: readCount)) }
        #expect(subscription.droppedCount == 2_000 - (kind == .kept ? 1_024 : 256))
        #expect(readCount.value == 2_000)
    }

    /// Compares with the rule applied to a plain array.
    @Test(arguments: [1, 2, 7, 40], [1, 2, 3] as [UInt64])
    func aFullBufferDropsWhatTheRuleNames(capacity: Int, seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        let broadcaster = Broadcaster<ProbeEvent>.ofEvents()
        let subscription = broadcaster.subscribe(capacity: capacity)
        var expected: [ProbeEvent] = []
        for number in 0..<3_000 {
            if Int.random(in: 0..<4, using: &random) == 0, !expected.isEmpty {
                let oldest = expected.removeFirst()
                let next = await subscription.next()
                #expect(next?.number == oldest.number)
            }
            let kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &random)]
            let event = ProbeEvent(number: number, kind: kind, readCount: Watched(0))
            broadcaster.send(event)
            expected.append(event)
            guard expected.count > capacity else { continue }
            let superseded = expected.indices.first { index in
                guard case .merged = expected[index].kind else { return false }
                return expected[(index + 1)...].contains { $0.kind == expected[index].kind }
            }
            if let index = superseded ?? expected.firstIndex(where: { $0.kind != .kept }) {
                expected.remove(at: index)
            } else if expected.count > 1_024 {
                expected.removeFirst()
            }
        }
        for event in expected {
            let next = await subscription.next()
            #expect(next?.number == event.number)
        }
    }

    @Test func progressOfSlowItemsComesTenTimesASecond() async throws {
        let clock = ManualClock()
        let processor = ScriptedProcessor(source: (0..<1_000).map { TestItem("\($0)") }) { call in
            switch call {
            case .content("101"), .content("102"): clock.advance(by: .milliseconds(100))
            case .content("103"): clock.advance(by: .milliseconds(99))
            default: break
            }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1), clock: clock)
        let events = synchronizer.events(bufferSize: 1_000)
        try await synchronizer.sync()
        let progress = await words(events).filter { $0.hasPrefix("content ") }.prefix(14)
        // Every hundredth part, and whenever 100 ms have passed.
        #expect(
            progress.dropFirst(9) == [
                "content 100+0/1000", "content 102+0/1000", "content 103+0/1000", "content 113+0/1000",
                "content 123+0/1000",
            ])
    }

    /// Would deadlock if an event were released under the broadcaster's lock.
    @Test func anErrorThatLooksAtTheEventsWhenItIsReleasedDoesNoHarm() async throws {
        final class Probe: RetryableError {
            let look: @Sendable () -> Void
            init(_ look: @escaping @Sendable () -> Void) { self.look = look }
            var retryAfter: Duration? { .zero }
            deinit { look() }
        }
        let held = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { throw Probe { _ = held.value?.events } }
        }
        held.update {
            $0 = Synchronizer(
                processor: processor, options: SyncOptions(retry: RetryPolicy(maxAttempts: 50, baseDelay: .zero)))
        }
        let events = held.value?.events(bufferSize: 1)
        _ = try? await held.value?.sync()
        #expect(events?.droppedCount ?? 0 > 0)
        held.update { $0 = nil }
    }

    @Test func progressRisesAndIsBoundedInNumber() async throws {
        let processor = ScriptedProcessor(source: (0..<5000).map { TestItem("\($0)") }) { call in
            if case .content(let key) = call, key.hasSuffix("7") { throw TestError("no") }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 8, stopOnError: false), clock: ManualClock())
        let events = synchronizer.events(bufferSize: 100_000)
        _ = try? await synchronizer.sync()
        var last = SyncStatus.Progress?.none
        var count = 0
        for await event in events {
            if case .progress(let progress) = event, progress.stage == .content {
                count += 1
                #expect(progress.done >= last?.done ?? 0 && progress.failed >= last?.failed ?? 0)
                last = progress
            }
            if case .statusChanged(let status) = event, !status.isSyncing { break }
        }
        #expect(last == SyncStatus.Progress(stage: .content, done: 4500, failed: 500, total: 5000))
        #expect(count <= 102)
    }

    @Test func anObserverThatGoesAwayIsForgotten() async throws {
        let processor = ScriptedProcessor()
        let synchronizer = Synchronizer(processor: processor)
        let observing = Task { await words(synchronizer.events) }
        observing.cancel()
        _ = await observing.value
        try await synchronizer.sync()
    }

    @Test func theyEndWithTheSynchronizer() async throws {
        var synchronizer: Synchronizer<ScriptedProcessor>? = Synchronizer(processor: ScriptedProcessor())
        let events = try #require(synchronizer).events
        synchronizer = nil
        #expect(await words(events).isEmpty)
    }
}
