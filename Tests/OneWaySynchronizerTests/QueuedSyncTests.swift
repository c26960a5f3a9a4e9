import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Calls of `sync()` while a pass runs.
@Suite(.endsInTime) struct QueuedSyncTests {
    @Test func aThousandCallsDuringAPassMakeOneMore() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { if $0 == .list { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor)
        let answers = EventLog<Int>()
        let answer: @Sendable (Result<SyncReport, SyncFailure>) -> Void = { result in
            answers.append((try? result.get().listed) ?? -1)
        }
        synchronizer.sync(completion: answer)
        try await gate.waitForArrivals()
        for _ in 0..<1000 { synchronizer.sync(completion: answer) }
        #expect(synchronizer.isSyncing)
        #expect(answers.events.isEmpty)
        processor.change { $0.secondSource = [TestItem("a"), TestItem("b")] }
        gate.open()
        try await answers.wait { $0.count == 1001 }

        #expect(processor.calls.count { $0 == .begin } == 2)
        #expect(processor.calls.count { $0 == .end } == 2)
        #expect(
            answers.events == [1] + [Int](repeating: 2, count: 1000), "each caller gets the first pass after its call")
    }

    @Test func eachCallerSeesAPassThatBeganAfterItsCall() async throws {
        let processor = ScriptedProcessor(source: [])
        let synchronizer = Synchronizer(processor: processor)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<200 {
                group.addTask {
                    processor.change { $0.source.items.append(TestItem("\(caller)")) }
                    _ = try await synchronizer.sync()
                    #expect(processor.local["\(caller)"] == 1)
                }
            }
            try await group.waitForAll()
        }
        #expect(processor.calls.count { $0 == .begin } == processor.calls.count { $0 == .end })
    }

    @Test func aFailedPassAnswersItsCallersAndTheQueuedOneItsOwn() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a"), !gate.isOpen else { return }
            try await gate.pass()
            throw TestError("first pass")
        }
        let synchronizer = Synchronizer(processor: processor)
        let first = Task { try await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: first)
        let second = EventLog<Int>()
        synchronizer.sync { second.append((try? $0.get().inserted) ?? -1) }
        gate.open()
        let failure = await #expect(throws: SyncFailure.self) { try await first.value }
        #expect(failure?.errors.map { $0.underlying as? TestError } == [TestError("first pass")])
        try await second.wait(for: 1)
    }

    /// A request during each pass, for ever: nobody starves.
    @Test func callersAreAnsweredWhileRequestsKeepComing() async throws {
        let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let passCount = Watched(0)
        let processor = ScriptedProcessor(source: []) { call in
            guard call == .list else { return }
            let pass = passCount.update { count in
                count += 1
                return count
            }
            if pass < 50 { synchronizer.value?.sync { _ in } }
        }
        synchronizer.update { $0 = Synchronizer(processor: processor) }
        let subject = try #require(synchronizer.value)
        try await subject.sync()
        #expect(processor.current.results.count < 50)
        await subject.waitUntilIdle()
        #expect(processor.current.results.count == 50)
        synchronizer.update { $0 = nil }
    }

    @Test func awaitedFromInsideAPassItFailsInsteadOfWaitingForItself() async throws {
        let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let inner = EventLog<String>()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a"), let synchronizer = synchronizer.value else { return }
            do {
                try await synchronizer.sync()
            } catch {
                inner.append("\(error)")
            }
        }
        synchronizer.update { $0 = Synchronizer(processor: processor) }
        let report = try await #require(synchronizer.value).sync()
        #expect(report.inserted == 1)
        #expect(inner.events.count == 1)
        #expect(inner.events.first?.contains("from inside a pass") == true)
        #expect(processor.calls.count { $0 == .begin } == 1)
        synchronizer.update { $0 = nil }
    }

    @Test func aPassCanQueueAReSyncWithoutWaitingForIt() async throws {
        let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let answers = EventLog<Bool>()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a"), let synchronizer = synchronizer.value else { return }
            synchronizer.sync { answers.append((try? $0.get()) != nil) }
        }
        synchronizer.update { $0 = Synchronizer(processor: processor) }
        try await #require(synchronizer.value).sync()
        try await answers.wait(for: true)
        #expect(processor.calls.count { $0 == .begin } == 2)
        synchronizer.update { $0 = nil }
    }

    @Test func aTaskThatOutlivesItsPassCanSync() async throws {
        let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let passEnded = Gate()
        let later = EventLog<Bool>()
        let processor = ScriptedProcessor(source: []) { call in
            guard call == .begin, later.events.isEmpty, !passEnded.isOpen else { return }
            let synchronizer = synchronizer.value
            Task {
                try await passEnded.pass()
                later.append((try? await synchronizer?.sync()) != nil)
            }
        }
        synchronizer.update { $0 = Synchronizer(processor: processor) }
        try await #require(synchronizer.value).sync()
        passEnded.open()
        try await later.wait(for: true)
        synchronizer.update { $0 = nil }
    }

    /// Two synchronizers that await each other from inside their passes, in any interleaving.
    @Test func twoThatAwaitEachOtherGetAnErrorInsteadOfADeadlock() async throws {
        let second = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let meeting = Gate()
        let errors = EventLog<Bool>()
        let first = Synchronizer(
            processor: ScriptedProcessor { call in
                guard call == .list, errors.events.isEmpty else { return }
                try await meeting.pass()
                do throws(SyncFailure) { try await second.value?.sync() } catch {
                    errors.append(error.errors.first?.underlying as? SyncError.Reason == .syncInsidePass)
                }
            })
        second.update {
            $0 = Synchronizer(
                processor: ScriptedProcessor { call in
                    guard call == .list, errors.events.isEmpty else { return }
                    try await meeting.pass()
                    do throws(SyncFailure) { try await first.sync() } catch {
                        errors.append(error.errors.first?.underlying as? SyncError.Reason == .syncInsidePass)
                    }
                })
        }
        let passes = [Task { _ = try? await first.sync() }, Task { _ = try? await second.value?.sync() }]
        try await meeting.waitForArrivals(2)
        meeting.open()
        for pass in passes { await pass.value }
        #expect(errors.events == [true])
        second.update { $0 = nil }
    }

    @Test func aPassCanAwaitAnotherSynchronizer() async throws {
        let inner = ScriptedProcessor(source: [TestItem("b")])
        let other = Synchronizer(processor: inner)
        let outer = ScriptedProcessor(source: [TestItem("a")]) { if $0 == .list { try await other.sync() } }
        try await Synchronizer(processor: outer).sync()
        #expect(inner.local == ["b": 1])
    }

    @Test func aChainOfSynchronizersIsNoCircle() async throws {
        let last = ScriptedProcessor(source: [TestItem("c")])
        let third = Synchronizer(processor: last)
        let second = Synchronizer(processor: ScriptedProcessor { if $0 == .list { try await third.sync() } })
        // The second time it would be one, if the first wait were not forgotten.
        let first = Synchronizer(
            processor: ScriptedProcessor { call in
                if call == .list || call == .localKeys { try await second.sync() }
            })
        try await first.sync()
        #expect(last.calls.count { $0 == .end } == 2)
    }

    @Test func aWaitThatIsOverMakesNoCircle() async throws {
        let first = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let answers = EventLog<Bool>()
        let passCount = Watched(0)
        let second = Synchronizer(
            processor: ScriptedProcessor { call in
                guard call == .list,
                    passCount.update({
                        $0 += 1; return $0
                    }) == 2
                else { return }
                try await first.value?.sync()
            })
        let isOver = Watched(false)
        first.update {
            $0 = Synchronizer(
                processor: ScriptedProcessor { call in
                    guard call == .list, !isOver.value else { return }
                    try await second.sync()
                    isOver.update { $0 = true }
                    // Its pass waits for the pass after this one, and this one for nobody any more.
                    second.sync { answers.append((try? $0.get()) != nil) }
                    try await second.processor.log.wait(for: .list, count: 2)
                })
        }
        try await #require(first.value).sync()
        try await answers.wait(for: true)
        first.update { $0 = nil }
    }

    @Test func aRequestInTheLastCallIsQueuedBehindThePass() async throws {
        for _ in 0..<20 {
            let synchronizer = Watched<Synchronizer<ScriptedProcessor>?>(nil)
            let ends = Watched(0)
            let processor = ScriptedProcessor { call in
                guard call == .end,
                    ends.update({
                        $0 += 1; return $0
                    }) == 1
                else { return }
                synchronizer.value?.sync { _ in }
                #expect(synchronizer.value?.isSyncing == true)
            }
            synchronizer.update { $0 = Synchronizer(processor: processor) }
            let subject = try #require(synchronizer.value)
            #expect(!subject.isSyncing)
            let events = subject.events(bufferSize: 1_000)
            try await subject.sync()
            await subject.waitUntilIdle()
            synchronizer.update { $0 = nil }
            #expect(ends.value == 2)
            var changes: [Bool] = []
            for await event in events {
                guard case .statusChanged(let status) = event else { continue }
                changes.append(status.isSyncing)
                if !status.isSyncing { break }
            }
            #expect(changes == [true, false] && processor.calls.count { $0 == .end } == 2)
            #expect(events.droppedCount == 0)
        }
    }

    @Test func aRequestCountsAsSyncingBeforeItsPassBegins() async {
        let gate = Gate()
        let processor = ScriptedProcessor(source: []) { if $0 == .list { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor)
        synchronizer.sync { _ in }
        #expect(synchronizer.isSyncing)
        gate.open()
        await synchronizer.waitUntilIdle()
        #expect(!synchronizer.isSyncing)
    }

    @Test func waitingUntilIdleSeesARequestThatWasJustMade() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        for round in 1...50 {
            synchronizer.sync { _ in }
            await synchronizer.waitUntilIdle()
            #expect(processor.calls.count { $0 == .end } == round)
        }
    }

    @Test func requestsThatShareAPassLeaveNothingBehind() async throws {
        final class Witness: Sendable {
            let gone: Gate
            init(_ gone: Gate) { self.gone = gone }
            deinit { gone.open() }
        }
        let (gate, gone) = (Gate(), Gate())
        do {
            let witness = Witness(gone)
            let processor = ScriptedProcessor(source: []) { call in
                withExtendedLifetime(witness) {}
                if call == .list { try await gate.pass() }
            }
            let synchronizer = Synchronizer(processor: processor)
            for _ in 0..<3 { synchronizer.sync { _ in } }
            try await gate.waitForArrivals()
            gate.open()
            await synchronizer.waitUntilIdle()
        }
        try await gone.pass()
    }

    @Test func aRequestWithoutWaitingMakesNoCircle() async throws {
        let first = Watched<Synchronizer<ScriptedProcessor>?>(nil)
        let answers = EventLog<Bool>()
        // Requested inside a pass of the first, and waits for another pass of it.
        let second = Synchronizer(
            processor: ScriptedProcessor { if $0 == .list { try await first.value?.sync() } })
        let passCount = Watched(0)
        first.update {
            $0 = Synchronizer(
                processor: ScriptedProcessor { call in
                    guard call == .list,
                        passCount.update({
                            $0 += 1; return $0
                        }) == 1
                    else { return }
                    second.sync { answers.append((try? $0.get()) != nil) }
                })
        }
        try await #require(first.value).sync()
        try await answers.wait(for: true)
        first.update { $0 = nil }
    }

    @Test func waitingUntilIdleSeesEveryQueuedPass() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { if $0 == .list { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor)
        await synchronizer.waitUntilIdle()
        synchronizer.sync { _ in }
        try await gate.waitForArrivals()
        synchronizer.sync { _ in }
        let waiting = Task { await synchronizer.waitUntilIdle() }
        gate.open()
        await waiting.value
        #expect(!synchronizer.isSyncing)
        #expect(processor.calls.count { $0 == .end } == 2)
    }
}
