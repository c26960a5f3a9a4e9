import OneWaySynchronizer
import OneWayTestSupport
import Testing

/// Calls of `sync()` while a pass runs.
@Suite struct QueuedSyncTests {
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
        #expect(await synchronizer.isSyncing)
        #expect(answers.events.isEmpty)
        processor.change { $0.source = [TestItem("a"), TestItem("b")] }
        gate.open()
        try await answers.wait { $0.count == 1001 }

        #expect(processor.calls.count { $0 == .begin } == 2)
        #expect(processor.calls.count { $0 == .end } == 2)
        #expect(Set(answers.events) == [2], "all callers get the last pass's result")
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

    @Test func aQueuedPassRunsAfterAFailedOneAndDecidesTheResult() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            guard call == .content("a"), !gate.isOpen else { return }
            try await gate.pass()
            throw TestError("first pass")
        }
        let synchronizer = Synchronizer(processor: processor)
        async let first = synchronizer.sync()
        try await gate.waitForArrivals()
        let second = EventLog<Bool>()
        synchronizer.sync { second.append((try? $0.get()) != nil) }
        #expect(await synchronizer.isSyncing)
        gate.open()
        #expect(try await first.inserted == 1)
        try await second.wait(for: true)
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
}
