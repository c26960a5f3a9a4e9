import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import OneWaySynchronizer

/// Time limits of items, stages and passes.
@Suite(.endsInTime) struct TimeoutTests {
    private let clock = ManualClock()

    private func failure<Failure: Error>(_ sync: Task<SyncReport, Failure>) async throws -> SyncFailure {
        let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
        return try #require(failure)
    }

    @Test func aCallThatSucceedsAfterItsTimeCounts() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")]) { call in
            if call == .content("a") { await gate.passUncancelled() }
        }
        let options = SyncOptions(concurrency: 1, itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(30)])
        clock.advance(by: .seconds(30))
        gate.open()
        #expect(try await sync.value.inserted == 2)
    }

    @Test func everyWorkerIsReplacedAfterATimeOut() async throws {
        let never = Gate()
        let processor = ScriptedProcessor(source: (0..<8).map { TestItem("\($0)") }) { call in
            if case .content(let key) = call, key < "6" { try await never.pass() }
        }
        let options = SyncOptions(concurrency: 3, stopOnError: false, itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        for round in 1...2 {
            try await never.waitForArrivals(3 * round)
            try await clock.waitForPendingDelays([.seconds(30)])
            #expect(processor.current.inFlight == 3)
            clock.advance(by: .seconds(30))
        }
        let failure = try await failure(sync)
        #expect(failure.report.failed == 6 && failure.report.inserted == 2)
        #expect(processor.current.maximumInFlight == 3)
    }

    @Test func oneTimerWatchesAllCallsOfAStage() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: (0..<5).map { TestItem("\($0)") }) { call in
            if case .content = call { try await gate.pass() }
        }
        let options = SyncOptions(concurrency: 5, itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(5, orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(30)])
        gate.open()
        #expect(try await sync.value.inserted == 5)
        try await clock.waitForPendingDelays([])
    }

    @Test func callsThatBeganAtDifferentTimesHaveTheirOwnTime() async throws {
        let (first, never) = (Gate(), Gate())
        let processor = ScriptedProcessor(source: (0..<3).map { TestItem("\($0)") }) { call in
            if call == .content("1") { try await first.pass() }
            if call == .content("0") || call == .content("2") { try await never.pass() }
        }
        let options = SyncOptions(concurrency: 2, stopOnError: false, itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await never.waitForArrivals(orEndOf: sync)
        try await first.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(30)])
        clock.advance(by: .seconds(10))
        first.open()
        try await never.waitForArrivals(2, orEndOf: sync)
        clock.advance(by: .seconds(20))
        // The first call is late, the other one has 10 more seconds.
        try await clock.waitForPendingDelays([.seconds(10)])
        try await processor.wait { $0.inFlight == 1 }
        clock.advance(by: .seconds(10))
        let failure = try await failure(sync)
        #expect(failure.report.failed == 2 && failure.report.inserted == 1)
    }

    @Test func theWatchRestsEvenIfNoCallHasAnyTime() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { await gate.passUncancelled() }
        }
        let options = SyncOptions(concurrency: 1, itemTimeout: .zero)
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.milliseconds(1)])
        gate.open()
        #expect(try await sync.value.inserted == 1)
    }

    @Test func anEmptyListNeedsNoWatch() async throws {
        let options = SyncOptions(itemTimeout: .seconds(30)).with { $0.stageTimeouts = [.content: .seconds(60)] }
        let report = try await Synchronizer(processor: ScriptedProcessor(), options: options, clock: clock).sync()
        #expect(report.planned == 0)
    }

    static let singleCalls: [(ScriptedProcessor.Call, SyncStage)] = [
        (.begin, .begin), (.list, .list), (.localKeys, .localKeys), (.remove(["x"]), .remove),
        (.shouldUpdate("b"), .shouldUpdate), (.prepare(["a"]), .prepare), (.content("a"), .content), (.end, .end),
    ]

    /// Just before, at and after the end of the stage's time.
    @Test(arguments: [(4_999, false), (5_000, true), (5_001, true)])
    func anErrorThatComesTooLateIsATimeOut(milliseconds: Int, isLate: Bool) async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")]) { [clock] call in
            guard call == .list else { return }
            clock.advance(by: .milliseconds(milliseconds))
            throw TestError("no")
        }
        let options = SyncOptions().with { $0.stageTimeouts = [.list: .seconds(5)] }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let error = try await failure(Task { try await synchronizer.sync() }).errors.first?.underlying
        let reason: SyncError.Reason? = isLate ? .timedOut(after: .seconds(5)) : nil
        #expect(error is TestError == !isLate)
        #expect(error as? SyncError.Reason == reason)
    }

    /// A wait that lasts to the end of the stage's time leaves none for another attempt.
    @Test(arguments: [(4_999, 2), (5_000, 1), (5_001, 1)])
    func anAttemptNeedsTime(milliseconds: Int, attempts: Int) async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .list { throw RetryableTestError(retryAfter: .milliseconds(milliseconds)) }
        }
        let options = SyncOptions(retry: RetryPolicy(maxAttempts: 2)).with { $0.stageTimeouts = [.list: .seconds(5)] }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let events = synchronizer.events
        let sync = Task { try await synchronizer.sync() }
        // From then on, nothing but the wait for the attempt sleeps.
        for await event in events { if case .willRetry = event { break } }
        try await clock.waitForPendingDelays([.milliseconds(min(milliseconds, 5_000))])
        clock.advance(by: .milliseconds(min(milliseconds, 5_000)))
        let failure = try await failure(sync)
        let reason: SyncError.Reason? = attempts == 1 ? .timedOut(after: .seconds(5)) : nil
        #expect(failure.errors.first?.underlying as? SyncError.Reason == reason)
        #expect(failure.report.retries == attempts - 1)
        #expect(processor.calls.count { $0 == .list } == attempts)
    }

    @Test(arguments: singleCalls)
    func aStageThatTakesTooLongEndsThePass(call: ScriptedProcessor.Call, stage: SyncStage) async throws {
        let never = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["b": 1, "x": 1]) {
            if $0 == call { try await never.pass() }
        }
        var options = SyncOptions(stopOnError: false, retry: RetryPolicy())
        options.stageTimeouts[stage] = .seconds(5)
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await never.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(5)])
        clock.advance(by: .seconds(5))
        let failure = try await failure(sync)
        #expect(failure.errors.map(\.stage) == [stage])
        #expect(failure.errors.first?.underlying as? SyncError.Reason == .timedOut(after: .seconds(5)))
        #expect(!failure.isCancelled)
        #expect(processor.calls.count { $0 == call } == 1, "the stage's time is over")
        #expect(processor.calls.last == .end)
    }

    /// Stored items, some of them with a revision, which it asks for in two calls of a stage.
    private struct TwoCalls: SyncProcessor {
        struct Item: SyncItem {
            var owsPrimaryKey: String
            var owsRevision: String?
        }

        let onRevisions: @Sendable () async throws -> Void
        let onUpdates: @Sendable () async throws -> Void

        func owsFetchSourceList() async throws -> SourceList<Item> {
            [Item(owsPrimaryKey: "a", owsRevision: "1"), Item(owsPrimaryKey: "b", owsRevision: nil)]
        }

        func owsGetLocalKeys() async throws -> Set<String> { ["a", "b"] }
        func owsRemoveLocalItems(for keys: Set<String>) async throws {}
        func owsDownloadItem(for item: Item) async throws {}

        func owsGetLocalRevisions() async throws -> [String: String]? {
            try await onRevisions()
            return ["a": "1"]
        }

        func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<String>? {
            try await onUpdates()
            return []
        }
    }

    @Test func theCallsOfAStageShareItsTime() async throws {
        let clock = clock
        let wait: @Sendable () async throws -> Void = { try await clock.sleep(for: .seconds(9)) }
        let options = SyncOptions().with { $0.stageTimeouts = [.shouldUpdate: .seconds(10)] }
        let synchronizer = Synchronizer(
            processor: TwoCalls(onRevisions: wait, onUpdates: wait), options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await clock.waitForPendingDelays([.seconds(9), .seconds(10)])
        clock.advance(by: .seconds(9))
        try await clock.waitForPendingDelays([.seconds(1), .seconds(9)])
        clock.advance(by: .seconds(1))
        let failure = try await failure(sync)
        #expect(failure.errors.map(\.description) == ["shouldUpdate: timed out after 10.0 seconds"])
    }

    @Test func aStageWhoseTimeIsOverMakesNoFurtherCall() async throws {
        let clock = clock
        let processor = TwoCalls {
            clock.advance(by: .seconds(11))
        } onUpdates: {
            Issue.record("called after the time of the stage")
        }
        let options = SyncOptions().with { $0.stageTimeouts = [.shouldUpdate: .seconds(10)] }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        let failure = try await failure(sync)
        #expect(failure.errors.map(\.description) == ["shouldUpdate: timed out after 10.0 seconds"])
    }

    @Test func theWaitsForRetriesAreInTheStagesTime() async throws {
        let processor = ScriptedProcessor(source: []) { call in
            if call == .list { throw RetryableTestError(retryAfter: .seconds(10)) }
        }
        let options = SyncOptions(retry: RetryPolicy(maxAttempts: 9)).with { $0.stageTimeouts = [.list: .seconds(15)] }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await clock.waitForPendingDelays([.seconds(10)])
        clock.advance(by: .seconds(10))
        try await clock.waitForPendingDelays([.seconds(5)])
        clock.advance(by: .seconds(5))
        let failure = try await failure(sync)
        #expect(failure.errors.first?.underlying as? SyncError.Reason == .timedOut(after: .seconds(15)))
        #expect(failure.report.retries == 1, "the second wait was not followed by a call")
    }

    @Test func aPassThatTakesTooLongFailsInItsStage() async throws {
        let never = Gate()
        let processor = ScriptedProcessor(source: (0..<9).map { TestItem("\($0)") }) { call in
            if case .content(let key) = call, key != "0" { try await never.pass() }
        }
        let options = SyncOptions(concurrency: 2, stopOnError: false, passTimeout: .seconds(60))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await never.waitForArrivals(2, orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(60)])
        clock.advance(by: .seconds(60))
        let failure = try await failure(sync)
        #expect(!failure.isCancelled)
        #expect(failure.errors.map(\.description) == ["content: timed out after 60.0 seconds"])
        #expect(failure.report.inserted == 1 && failure.report.remaining == 8)
        #expect(processor.calls.last == .end)
        try await clock.waitForPendingDelays([])
    }

    @Test func aPassThatTimesOutInItsFirstCallHasOneError() async throws {
        let never = Gate()
        let processor = ScriptedProcessor { if $0 == .begin { try await never.pass() } }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(passTimeout: .seconds(60)), clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await never.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(60)])
        clock.advance(by: .seconds(60))
        let failure = try await failure(sync)
        #expect(!failure.isCancelled)
        #expect(failure.errors.map(\.description) == ["begin: timed out after 60.0 seconds"])
        #expect(processor.calls == [.begin, .end])
    }

    static let changingCalls: [(ScriptedProcessor.Call, SyncStage)] = [(.begin, .begin), (.remove(["x"]), .remove)]

    @Test(arguments: changingCalls)
    func aCallThatSucceedsDuringACancelCounts(call: ScriptedProcessor.Call, stage: SyncStage) async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")], local: ["x": 1]) {
            if $0 == call { await gate.passUncancelled() }
        }
        let options = SyncOptions().with { $0.stageTimeouts = [stage: .seconds(60)] }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(60)])
        synchronizer.cancel()
        // The timer ends before the call.
        try await clock.waitForPendingDelays([])
        gate.open()
        let failure = try await failure(sync)
        #expect(failure.isCancelled && failure.errors.isEmpty)
        #expect(failure.report.deleted == (stage == .remove ? 1 : 0))
        #expect(processor.calls.suffix(2) == [call, .end])
    }

    @Test func retriesThatWereNotMadeAreNotCounted() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { throw RetryableTestError(retryAfter: .seconds(10)) }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(retry: RetryPolicy()), clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await clock.waitForPendingDelays([.seconds(10)])
        synchronizer.cancel()
        let failure = try await failure(sync)
        #expect(failure.report.retries == 0)
    }

    /// As many failing items as would once have filled the list of waiting ones.
    @Test func workersDoNotIdleWhileManyItemsWaitForARetry() async throws {
        let attempts = EventLog<String>()
        let processor = ScriptedProcessor(source: (0..<40).map { TestItem("\($0)") }) { call in
            guard case .content(let key) = call else { return }
            attempts.append(key)
            if attempts.events.count(where: { $0 == key }) == 1, key != "39" {
                throw RetryableTestError(retryAfter: .seconds(60))
            }
        }
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 2, retry: RetryPolicy()), clock: clock)
        let sync = Task { try await synchronizer.sync() }
        // Called without the time going on.
        try await processor.log.wait(for: .content("39"))
        try await clock.waitForPendingDelays([.seconds(60), .seconds(60)])
        clock.advance(by: .seconds(60))
        let report = try await sync.value
        #expect(report.inserted == 40 && report.retries == 39)
    }

    @Test func aCallLearnsAboutItsAttempt() async throws {
        let seen = EventLog<RetryPolicy.Attempt?>()
        let clock = clock
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b", revision: 2)], local: ["b": 1]) {
            call in
            switch call {
            case .content:
                let isRetry = seen.events.contains { $0?.isNew == RetryPolicy.Attempt.current?.isNew }
                seen.append(RetryPolicy.Attempt.current)
                if !isRetry {
                    clock.advance(by: .seconds(1))
                    throw RetryableTestError(retryAfter: .zero)
                }
            case .shouldUpdate, .list, .end: #expect(RetryPolicy.Attempt.current == nil)
            default: break
            }
        }
        let options = SyncOptions(
            concurrency: 1, retry: RetryPolicy(baseDelay: .zero), itemTimeout: .seconds(30), passTimeout: .seconds(31)
        ).with { $0.stageTimeouts = [.content: .seconds(100)] }
        try await Synchronizer(processor: processor, options: options, clock: clock).sync()
        #expect(
            seen.events == [
                RetryPolicy.Attempt(isNew: true, number: 1, timeLeft: .seconds(30)),
                RetryPolicy.Attempt(isNew: true, number: 2, timeLeft: .seconds(30)),
                RetryPolicy.Attempt(isNew: false, number: 1, timeLeft: .seconds(30)),
                RetryPolicy.Attempt(isNew: false, number: 2, timeLeft: .seconds(29)),
            ])
    }

    @Test func endlessTimesAreClamped() async throws {
        let longest = Duration.seconds(Int64.max)
        let options = SyncOptions(
            retry: RetryPolicy(baseDelay: longest, maxDelay: longest), itemTimeout: longest, passTimeout: longest
        ).with { $0.stageTimeouts = Dictionary(uniqueKeysWithValues: SyncStage.allCases.map { ($0, longest) }) }
        let processor = ScriptedProcessor(source: [TestItem("a")], local: ["x": 1])
        let report = try await Synchronizer(processor: processor, options: options).sync()
        #expect(report.inserted == 1)
        let policy = RetryPolicy(maxAttempts: 100, baseDelay: longest, maxDelay: longest)
        #expect(policy.delay(afterAttempt: 90, error: RetryableTestError(), random: 0.999) ?? .zero > .zero)
        let schedule = SyncSchedule(interval: longest, jitter: 1, failureDelay: longest, maxFailureDelay: longest)
        #expect(schedule.delay(consecutiveFailures: 9, random: 0.999) > .zero)
        #expect(SyncSchedule(interval: longest).delay(consecutiveFailures: 9, random: 0.999) > .zero)
    }
}
