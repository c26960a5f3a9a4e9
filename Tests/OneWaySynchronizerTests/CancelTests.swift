import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// Cancelling, in all its ways.
@Suite(.endsInTime) struct CancelTests {
    /// A processor that holds at a call until it is let go or cancelled.
    private func held(at held: ScriptedProcessor.Call, gate: Gate) -> ScriptedProcessor {
        ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["x": 1]) { call in
            if call == held { try await gate.pass() }
        }
    }

    @Test func everyCallerGetsCancelledAndTheQueuedPassIsDropped() async throws {
        let gate = Gate()
        let processor = held(at: .content("a"), gate: gate)
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1))
        let answers = EventLog<Bool>()
        let answer: @Sendable (Result<SyncReport, SyncFailure>) -> Void = { result in
            guard case .failure(let failure) = result else { return answers.append(false) }
            answers.append(failure.isCancelled && failure.errors.isEmpty && failure.report.deleted == 1)
        }
        synchronizer.sync(completion: answer)
        try await gate.waitForArrivals()
        synchronizer.sync(completion: answer)
        synchronizer.cancel()
        try await answers.wait(for: true, count: 2)
        #expect(processor.calls.suffix(2) == [.content("a"), .end])
        #expect(processor.calls.count { $0 == .begin } == 1)
        let result = try #require(processor.current.results.first)
        guard case .failure(let failure) = result else {
            Issue.record("the processor is told that the pass was cancelled")
            return
        }
        #expect(failure.isCancelled)
        #expect(failure.report.remaining == 2)
    }

    @Test func theErrorOfACancelledBeginIsNotReported() async throws {
        let gate = Gate()
        let processor = held(at: .begin, gate: gate)
        let synchronizer = Synchronizer(processor: processor)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: sync)
        synchronizer.cancel()
        let failure = await #expect(throws: SyncFailure.self) { try await sync.value }
        #expect(failure?.isCancelled == true)
        #expect(failure?.errors.isEmpty == true)
        #expect(processor.calls == [.begin, .end])
    }

    @Test func withNothingRunningItDoesNothing() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        synchronizer.cancel()
        #expect(processor.calls.isEmpty)
        try await synchronizer.sync()
        #expect(processor.local == ["a": 1])
    }

    @Test func aCancelBeforeARequestDoesNotReachIt() async throws {
        let synchronizer = Synchronizer(processor: ScriptedProcessor(source: [TestItem("a")]))
        for _ in 0..<200 {
            synchronizer.cancel()
            #expect(!synchronizer.isSyncing)
            try await synchronizer.sync()
        }
    }

    @Test func aCancelRightAfterARequestWithoutAsyncFindsIt() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let answers = EventLog<Bool>()
        synchronizer.sync { result in
            if case .failure(let failure) = result {
                answers.append(failure.isCancelled)
            } else {
                answers.append(false)
            }
        }
        synchronizer.cancel()
        try await answers.wait { !$0.isEmpty }
        #expect(answers.events == [true])
        #expect(processor.calls.first == .begin)
        #expect(processor.calls.last == .end)
    }

    /// Wherever the request is on its way to the pass: it counts at once, and a cancel finds it.
    @Test func aRequestWithoutAsyncIsAPassAtOnce() async throws {
        for _ in 0..<500 {
            let gate = Gate()
            let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
                if call == .begin { await gate.passUncancelled() }
            }
            let synchronizer = Synchronizer(processor: processor)
            let answers = EventLog<Bool>()
            synchronizer.sync { answers.append((try? $0.get()) != nil) }
            for _ in 0..<20 { #expect(synchronizer.isSyncing) }
            synchronizer.cancel()
            gate.open()
            try await answers.wait(for: false, count: 1)
            #expect(processor.calls == [.begin, .end])
        }
    }

    @Test func syncAfterCancelStartsAFreshPass() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            // Ignores its cancellation.
            if call == .content("a") { await gate.passUncancelled() }
        }
        let synchronizer = Synchronizer(processor: processor)
        let first = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: first)
        synchronizer.cancel()
        async let second = synchronizer.sync()
        gate.open()
        #expect(try await second.unchanged == 1)
        let failure = await #expect(throws: SyncFailure.self) { try await first.value }
        #expect(failure?.isCancelled == true)
        #expect(processor.calls.count { $0 == .begin } == 2)
    }

    @Test func endIsCalledInATaskThatIsNotCancelled() async throws {
        let gate = Gate()
        let wasCancelled = EventLog<Bool>()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { try await gate.pass() }
            if call == .end { wasCancelled.append(Task.isCancelled) }
        }
        let synchronizer = Synchronizer(processor: processor)
        let sync = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: sync)
        synchronizer.cancel()
        _ = await sync.result
        #expect(wasCancelled.events == [false])
    }

    @Test func theLastCallerThatIsCancelledReturnsWhenThePassHasEnded() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { await gate.passUncancelled() }
        }
        let synchronizer = Synchronizer(processor: processor)
        let returned = EventLog<Int>()
        let caller = Task {
            defer { returned.append(processor.current.inFlight) }
            return try await synchronizer.sync()
        }
        try await gate.waitForArrivals(orEndOf: caller)
        caller.cancel()
        for _ in 0..<100 { await Task.yield() }
        #expect(returned.events.isEmpty, "a call still runs")
        gate.open()
        let failure = await #expect(throws: SyncFailure.self) { try await caller.value }
        #expect(failure?.isCancelled == true)
        // The call that was not interrupted counts.
        #expect(failure?.report.inserted == 1)
        #expect(processor.calls.last == .end)
        #expect(returned.events == [0])
        #expect(!synchronizer.isSyncing)
    }

    @Test func aCallerThatIsCancelledWhileOthersWaitReturnsAtOnce() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { await gate.passUncancelled() }
        }
        let synchronizer = Synchronizer(processor: processor)
        let first = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: first)
        let second = EventLog<Bool>()
        synchronizer.sync { second.append((try? $0.get()) != nil) }
        first.cancel()
        // Answered although the pass cannot end yet.
        await #expect(throws: SyncFailure.self) { try await first.value }
        #expect(synchronizer.isSyncing)
        gate.open()
        try await second.wait(for: true)
    }

    /// Wide and often, so that a worker that is faster than the cancel would be seen.
    @Test func aCancelStartsNoFurtherCall() async throws {
        for _ in 0..<50 {
            let held = Watched<Synchronizer<ScriptedProcessor>?>(nil)
            let wasCancelled = Watched(false)
            let late = EventLog<String>()
            let arrivals = Gate()
            let processor = ScriptedProcessor(source: (0..<64).map { TestItem("\($0)") }) { call in
                guard case .content(let key) = call else { return }
                if wasCancelled.value { late.append(key) }
                if key == "0" {
                    try await arrivals.waitForArrivals(7)
                    held.value?.cancel()
                    wasCancelled.update { $0 = true }
                } else {
                    // Returns as soon as it is cancelled.
                    try? await arrivals.pass()
                }
            }
            held.update { $0 = Synchronizer(processor: processor, options: SyncOptions(concurrency: 8)) }
            _ = try? await held.value?.sync()
            #expect(late.events.isEmpty)
            #expect(processor.calls.count { if case .content = $0 { true } else { false } } == 8)
            held.update { $0 = nil }
        }
    }

    @Test func thePassGoesOnWhileAnotherCallerWaits() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") { try await gate.pass() }
        }
        let synchronizer = Synchronizer(processor: processor)
        let first = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: first)
        let other = EventLog<Int>()
        synchronizer.sync { other.append((try? $0.get().unchanged) ?? -1) }
        #expect(synchronizer.isSyncing)
        first.cancel()
        await #expect(throws: SyncFailure.self) { try await first.value }
        gate.open()
        try await other.wait(for: 1)
        #expect(processor.local == ["a": 1])
    }

    @Test func aCallerThatIsCancelledAlreadyStartsNothing() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let start = Gate()
        let caller = Task {
            await start.passUncancelled()
            return try await synchronizer.sync()
        }
        caller.cancel()
        start.open()
        let failure = await #expect(throws: SyncFailure.self) { try await caller.value }
        #expect(failure?.isCancelled == true)
        #expect(processor.calls.isEmpty)
    }

    /// Cancels at every suspension point of a pass, one after another.
    @Test(arguments: [1, 3])
    func cancelledAtAnyCallThePassEndsAndTheNextConverges(concurrency: Int) async throws {
        let options = SyncOptions(concurrency: concurrency, downloadPreview: true).with {
            $0.concurrentUpdateChecks = concurrency > 1
        }
        for point in 1... {
            let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
            let calls = Watched(0)
            let processor = ScriptedProcessor(
                source: (0..<5).map { TestItem("\($0)", revision: $0) }, local: ["0": 9, "1": 1, "x": 1]
            ) { _ in
                let isPoint = calls.update { calls in
                    calls += 1
                    return calls == point
                }
                if isPoint { synchronizer.value?.cancel() }
            }
            synchronizer.update { $0 = Synchronizer(processor: processor, options: options) }
            let subject = try #require(synchronizer.value)

            let answers = EventLog<Bool>()
            subject.sync { result in
                if case .failure(let failure) = result {
                    answers.append(failure.isCancelled)
                } else {
                    answers.append(false)
                }
            }
            try await answers.wait { !$0.isEmpty }
            let reached = calls.value >= point
            #expect(answers.events == [reached], "point \(point)")
            #expect(processor.calls.count { $0 == .begin } == 1)
            #expect(processor.calls.count { $0 == .end } == 1)
            #expect(processor.calls.last == .end)
            #expect(!subject.isSyncing)
            if concurrency == 1, reached {
                #expect(
                    processor.calls.count <= point + 1,
                    "point \(point): no call after the cancelled one, except the end")
            }

            synchronizer.update { $0 = nil }
            try await subject.sync()
            #expect(processor.local == processor.sourceRevisions)
            #expect(answers.events.count == 1, "each completion is called once")
            guard reached else { break }
        }
    }

    /// A clock that calls a function whenever it is asked for the time.
    private struct AskedClock: Clock {
        let onNow: @Sendable () -> Void

        var now: ContinuousClock.Instant {
            onNow()
            return ContinuousClock().now
        }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            throw TestError("a pass without retries and time limits waits for nothing")
        }
    }

    /// A pass asks for the time right before its calls.
    @Test func noCallBeginsAfterACancelWheneverTheClockIsRead() async throws {
        for place in 1...100 {
            let processor = ScriptedProcessor(source: [TestItem("a")], local: ["x": 1])
            let readCount = Locked(0)
            let cancel = Locked<(@Sendable () -> Void)?>(nil)
            let clock = AskedClock {
                let isHere = readCount.withLock { count in
                    count += 1
                    return count == place
                }
                if isHere { cancel.value?() }
            }
            let synchronizer = Synchronizer(processor: processor, clock: clock)
            let before = Locked<Int?>(nil)
            cancel.value = {
                guard synchronizer.isSyncing else { return }
                synchronizer.cancel()
                before.value = processor.calls.count
            }
            _ = try? await synchronizer.sync()
            cancel.value = nil
            guard readCount.value >= place else { return }
            let after = processor.calls.dropFirst(before.value ?? .max)
            #expect(after.allSatisfy { $0 == .begin || $0 == .end }, "reading \(place)")
        }
        Issue.record("a pass of one item reads the clock a hundred times")
    }
}
