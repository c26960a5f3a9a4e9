import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Trying again, and giving up on time.
@Suite(.endsInTime) struct RetryTests {
    /// A processor whose call fails the first `failures` times.
    private func failing(
        _ failing: ScriptedProcessor.Call, times failures: Int, error: any Error, source: [TestItem] = [TestItem("a")]
    ) -> ScriptedProcessor {
        let attempts = Watched(0)
        return ScriptedProcessor(source: source) { call in
            guard call == failing else { return }
            let attempt = attempts.update { attempts in
                attempts += 1
                return attempts
            }
            if attempt <= failures { throw error }
        }
    }

    @Test(arguments: [ScriptedProcessor.Call.list, .localKeys, .prepare(["a"]), .preview("a"), .content("a")])
    func aCallThatFailedIsTriedAgainAfterAWait(call: ScriptedProcessor.Call) async throws {
        let clock = ManualClock()
        let processor = failing(call, times: 2, error: RetryableTestError(retryAfter: .seconds(7)))
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(downloadPreview: true, retry: RetryPolicy()), clock: clock)
        async let report = synchronizer.sync()
        for attempt in 1...2 {
            try await clock.waitForPendingDelays([.seconds(7)])
            #expect(processor.calls.count { $0 == call } == attempt)
            clock.advance(by: .seconds(7))
        }
        #expect(try await report.inserted == 1)
        #expect(try await report.retries == 2)
        #expect(processor.calls.count { $0 == call } == 3)
    }

    @Test(arguments: [ScriptedProcessor.Call.list, .localKeys, .prepare(["a"]), .preview("a"), .content("a")])
    func aCallIsTriedAgainAtOnceIfItsErrorSaysSo(call: ScriptedProcessor.Call) async throws {
        let processor = failing(call, times: 2, error: RetryableTestError(retryAfter: .zero))
        let options = SyncOptions(downloadPreview: true, retry: RetryPolicy(maxAttempts: 3, baseDelay: .zero))
        let report = try await Synchronizer(processor: processor, options: options, clock: ManualClock()).sync()
        #expect(report.inserted == 1 && report.retries == 2 && report.failed == 0)
        #expect(processor.calls.count { $0 == call } == 3)
    }

    @Test(arguments: [ScriptedProcessor.Call.content("a"), .list, .localKeys])
    func afterTheLastAttemptItsErrorIsReported(call: ScriptedProcessor.Call) async throws {
        let clock = ManualClock()
        let processor = failing(call, times: .max, error: RetryableTestError(retryAfter: .seconds(1)))
        let options = SyncOptions(retry: RetryPolicy(maxAttempts: 3))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        for _ in 1...2 {
            try await clock.waitForPendingDelays([.seconds(1)])
            clock.advance(by: .seconds(1))
        }
        let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
        #expect(failure?.errors.count == 1)
        #expect(failure?.report.retries == 2)
        #expect(processor.calls.count { $0 == call } == 3)
    }

    @Test func onlyErrorsThatAllowItAreRetried() async throws {
        let options = SyncOptions(retry: RetryPolicy(baseDelay: .zero))
        let processor = failing(.content("a"), times: 1, error: TestError("final"))
        await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        #expect(processor.calls.count { $0 == .content("a") } == 1)
    }

    @Test(arguments: [ScriptedProcessor.Call.begin, .end])
    func theFirstAndTheLastCallAreNotRetried(call: ScriptedProcessor.Call) async throws {
        let processor = failing(call, times: 1, error: RetryableTestError(retryAfter: .zero))
        await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: SyncOptions(retry: RetryPolicy())).sync()
        }
        #expect(processor.calls.count { $0 == call } == 1)
    }

    @Test func aComparisonIsNotRetried() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("a")])
        let options = SyncOptions(retry: RetryPolicy(baseDelay: .zero) { _ in true })
        let failure = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        #expect(failure?.report.retries == 0)
    }

    @Test func aClosureCanAcceptFurtherErrors() async throws {
        let policy = RetryPolicy(baseDelay: .zero) { ($0 as? TestError)?.name == "busy" }
        let processor = failing(.content("a"), times: 1, error: TestError("busy"))
        let report = try await Synchronizer(processor: processor, options: SyncOptions(retry: policy)).sync()
        #expect(report.retries == 1)
    }

    @Test func anItemThatWaitsLeavesItsPlaceToTheNext() async throws {
        let clock = ManualClock()
        let items = (0..<4).map { TestItem("\($0)") }
        let processor = failing(
            .content("0"), times: 1, error: RetryableTestError(retryAfter: .seconds(60)), source: items)
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 1, retry: RetryPolicy()), clock: clock)
        async let report = synchronizer.sync()
        try await processor.log.wait(for: .content("3"))
        try await clock.waitForPendingDelays([.seconds(60)])
        clock.advance(by: .seconds(60))
        #expect(try await report.inserted == 4)
        #expect(
            processor.calls.suffix(6) == [
                .content("0"), .content("1"), .content("2"), .content("3"), .content("0"), .end,
            ])
    }

    @Test func aWaitingItemIsTriedAgainAsSoonAsItIsDue() async throws {
        let clock = ManualClock()
        let items = (0..<4).map { TestItem("\($0)") }
        let attempts = Watched(0)
        let processor = ScriptedProcessor(source: items) { call in
            if call == .content("0") {
                let attempt = attempts.update { attempts in
                    attempts += 1
                    return attempts
                }
                if attempt == 1 { throw RetryableTestError(retryAfter: .seconds(5)) }
            }
            if call == .content("2") { clock.advance(by: .seconds(5)) }
        }
        let options = SyncOptions(concurrency: 1, retry: RetryPolicy())
        try await Synchronizer(processor: processor, options: options, clock: clock).sync()
        #expect(
            processor.calls.suffix(6) == [
                .content("0"), .content("1"), .content("2"), .content("0"), .content("3"), .end,
            ])
    }

    @Test func aCancelEndsTheWaitForARetry() async throws {
        let clock = ManualClock()
        for call in [ScriptedProcessor.Call.list, .content("a")] {
            let processor = failing(call, times: .max, error: RetryableTestError(retryAfter: .seconds(60)))
            let synchronizer = Synchronizer(
                processor: processor, options: SyncOptions(retry: RetryPolicy()), clock: clock)
            let sync = Task { try await synchronizer.sync() }
            try await clock.waitForPendingDelays([.seconds(60)])
            synchronizer.cancel()
            let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
            #expect(failure?.isCancelled == true)
            #expect(failure?.errors.isEmpty == true)
        }
    }

    /// A clock that cannot wait.
    private struct BrokenClock: Clock {
        let now = ManualClock().now
        var minimumResolution: Duration { .zero }
        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { throw TestError("broken") }
    }

    @Test(arguments: [ScriptedProcessor.Call.list, .content("a")])
    func aWaitThatFailsNeverLooksLikeASuccess(call: ScriptedProcessor.Call) async throws {
        let processor = failing(call, times: 1, error: RetryableTestError(retryAfter: .seconds(1)))
        let options = SyncOptions(retry: RetryPolicy())
        await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options, clock: BrokenClock()).sync()
        }
        #expect(processor.calls.last == .end)
    }

    static let delays: [(attempt: Int, random: Double, expected: Duration?)] = [
        (1, 0, .milliseconds(250)), (1, 0.5, .milliseconds(375)), (2, 0.5, .milliseconds(750)),
        (3, 0.5, .milliseconds(1500)), (8, 0.5, .milliseconds(7500)), (99, 0.999, .milliseconds(9995)),
        (100, 0.5, nil),
    ]

    @Test(arguments: delays)
    func waitsDoubleUpToACapWithJitter(attempt: Int, random: Double, expected: Duration?) {
        let policy = RetryPolicy(maxAttempts: 100, baseDelay: .milliseconds(500), maxDelay: .seconds(10))
        #expect(policy.delay(afterAttempt: attempt, error: RetryableTestError(), random: random) == expected)
    }

    /// The sum of all waits of a policy.
    private static func patience(of policy: RetryPolicy, random: Double) -> Duration {
        (1..<policy.maxAttempts).reduce(.zero) { sum, attempt in
            sum + (policy.delay(afterAttempt: attempt, error: RetryableTestError(), random: random) ?? .zero)
        }
    }

    /// Waits of at least a second each; one more only beyond their sum.
    @Test(arguments: [(0, 1), (2_999, 4), (3_000, 4), (3_001, 5)])
    func aPolicyHasNoMoreAttemptsThanItsOutageNeeds(milliseconds: Int, attempts: Int) {
        let policy = RetryPolicy(
            outlasting: .milliseconds(milliseconds), baseDelay: .seconds(2), maxDelay: .seconds(2))
        #expect(policy.maxAttempts == attempts)
    }

    @Test(arguments: [Duration.zero, .seconds(1), .seconds(30), .seconds(3_600)])
    func thePolicyOfAnOutageWaitsAtLeastSoLong(outage: Duration) {
        let policy = RetryPolicy(outlasting: outage)
        #expect(Self.patience(of: policy, random: 0) >= outage)
        #expect(Self.patience(of: policy, random: 0.999) <= outage * 2 + policy.maxDelay)
        #expect(RetryPolicy(outlasting: outage, baseDelay: .zero).maxAttempts <= 1_000)
    }

    @Test func byDefaultWaitsOutlastARestart() {
        #expect(Self.patience(of: RetryPolicy(), random: 0) >= .seconds(30))
        #expect(RetryPolicy().maxAttempts == RetryPolicy(outlasting: .seconds(30)).maxAttempts)
    }

    static let wishes: [(wish: Duration, expected: Duration)] = [
        (.seconds(3), .seconds(3)), (.seconds(86_400), .seconds(60)),
        // At once means after the base delay.
        (.zero, .milliseconds(500)), (.milliseconds(1), .milliseconds(500)), (.seconds(-5), .milliseconds(500)),
    ]

    @Test(arguments: wishes)
    func anErrorsWishIsGrantedFromTheBaseDelayUpToTheCap(wish: Duration, expected: Duration) {
        let delay = RetryPolicy().delay(afterAttempt: 1, error: RetryableTestError(retryAfter: wish), random: 0.3)
        #expect(delay == expected)
    }

    @Test func theCapOfWishesIsItsOwn() {
        let wish = RetryableTestError(retryAfter: .seconds(100))
        let policies = [
            RetryPolicy(maxDelay: .seconds(2), maxRequestedDelay: .seconds(90)), RetryPolicy(maxDelay: .seconds(90)),
            RetryPolicy(outlasting: .seconds(90)),
        ]
        for policy in policies { #expect(policy.delay(afterAttempt: 1, error: wish, random: 0) == .seconds(90)) }
        #expect(policies[0].delay(afterAttempt: 7, error: RetryableTestError(), random: 0) == .seconds(1))
        #expect(RetryPolicy(outlasting: .seconds(10)).maxRequestedDelay == .seconds(60))
    }

    /// A server that asks for short waits is given as much time as one that asks for none.
    @Test(arguments: [Duration.zero, .seconds(1), .seconds(20)]) func shortWishesDoNotShortenTheWaits(wish: Duration) {
        let policy = RetryPolicy()
        for attempt in 1..<policy.maxAttempts {
            let own = policy.delay(afterAttempt: attempt, error: RetryableTestError(), random: 0.5)
            let granted = policy.delay(afterAttempt: attempt, error: RetryableTestError(retryAfter: wish), random: 0.5)
            #expect(granted == max(own ?? .zero, wish, policy.baseDelay))
        }
    }

    // MARK: Time-outs

    @Test func aCallThatTakesTooLongIsCancelledAndFails() async throws {
        let clock = ManualClock()
        let never = Gate()
        let processor = ScriptedProcessor(source: [TestItem("slow"), TestItem("quick")]) { call in
            if call == .content("slow") { try await never.pass() }
        }
        let options = SyncOptions(concurrency: 1, stopOnError: false, itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let sync = Task { try await synchronizer.sync() }
        try await never.waitForArrivals(orEndOf: sync)
        try await clock.waitForPendingDelays([.seconds(30)])
        clock.advance(by: .seconds(30))
        let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
        #expect(failure?.errors.first?.underlying as? SyncError.Reason == .timedOut(after: .seconds(30)))
        #expect(processor.local == ["quick": 1])
    }

    @Test func aTimeOutIsTriedAgain() async throws {
        let clock = ManualClock()
        let never = Gate()
        let attempts = Watched(0)
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a") else { return }
            let attempt = attempts.update { attempts in
                attempts += 1
                return attempts
            }
            if attempt == 1 { try await never.pass() }
        }
        let options = SyncOptions(retry: RetryPolicy(baseDelay: .zero), itemTimeout: .seconds(30))
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        async let report = synchronizer.sync()
        try await never.waitForArrivals()
        try await clock.waitForPendingDelays([.seconds(30)])
        clock.advance(by: .seconds(30))
        #expect(try await report.retries == 1)
    }
}
