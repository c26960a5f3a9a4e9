import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// In whose context passes run, and under whose leases.
@Suite(.endsInTime) struct ContextTests {
    @TaskLocal private static var name = "nobody"

    private let clock = ManualClock()

    @Test func aPassRunsWithTheTaskLocalsOfTheRequestThatBeginsIt() async throws {
        let gate = Gate()
        let names = EventLog<String>()
        let processor = ScriptedProcessor(source: []) { call in
            if call == .list {
                names.append(Self.name)
                await gate.passUncancelled()
            }
            if call == .end { names.append("end of \(Self.name)") }
        }
        let synchronizer = Synchronizer(processor: processor)
        let first = Self.$name.withValue("first") { Task { try await synchronizer.sync() } }
        try await gate.waitForArrivals()
        let answered = EventLog<Bool>()
        Self.$name.withValue("second") { synchronizer.sync { _ in answered.append(true) } }
        synchronizer.cancel()
        // A fresh pass after the cancelled one, which runs still.
        let third = Self.$name.withValue("third") { Task { try await synchronizer.sync() } }
        while synchronizer.isSyncing, names.events.isEmpty { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        _ = await first.result
        _ = try await third.value
        try await answered.wait(for: true)
        #expect(names.events == ["first", "end of first", "third", "end of third"])
    }

    @Test func theQueuedPassConfirmsTheLeaseOfItsOwnRequest() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: []) { call in
            if call == .list { await gate.passUncancelled() }
            if call == .localKeys { try await SyncLeaseScope.confirm() }
        }
        let synchronizer = Synchronizer(processor: processor)
        let leases = (0..<2).map { _ in ScriptedLease(clock: clock) }
        let callers = leases.map { lease in
            Task { try await lease.withLease(clock: clock) { _ = try await synchronizer.sync() } }
        }
        for lease in leases { try await lease.log.wait(for: .granted) }
        try await gate.waitForArrivals()
        gate.open()
        for caller in callers { try await caller.value }
        #expect(processor.calls.count { $0 == .begin } == 2, "different leases share no pass")
        for lease in leases { #expect(lease.log.events == [.granted, .renewed, .released]) }
    }

    @Test(arguments: [false, true])
    func noCallRunsAfterTheLeaseWasReturnedWhoeverElseWaits(isCancelled: Bool) async throws {
        let gate = Gate()
        let cancelled = EventLog<Bool>()
        let processor = ScriptedProcessor(source: (0..<20).map { TestItem("\($0)") }) { call in
            guard case .content = call else { return }
            await withTaskCancellationHandler {
                await gate.passUncancelled()
            } onCancel: {
                cancelled.append(true)
            }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 2))
        let lease = ScriptedLease(clock: clock)
        let answer = EventLog<Bool>()
        let holder = Task {
            try await lease.withLease(clock: clock) {
                // Nobody of the body waits for it.
                synchronizer.sync { result in
                    if case .failure(let failure) = result { answer.append(failure.isCancelled) }
                }
                try await gate.waitForArrivals(2)
            }
        }
        try await gate.waitForArrivals(2, orEndOf: holder)
        if isCancelled { holder.cancel() }
        // The lease is being returned, and waits for the calls.
        try await cancelled.wait(for: true, count: 2)
        for _ in 0..<100 { await Task.yield() }
        #expect(lease.holder != nil)
        gate.open()
        _ = await holder.result
        #expect(lease.holder == nil && processor.current.inFlight == 0)
        try await answer.wait(for: true)
        #expect(processor.calls.count { if case .content = $0 { true } else { false } } == 2)
        #expect(processor.calls.last == .end)
    }

    @Test func aLostLeaseStopsThePassWhoeverWaits() async throws {
        let never = Gate()
        let processor = ScriptedProcessor(source: (0..<20).map { TestItem("\($0)") }) { call in
            if case .content = call { try await never.pass() }
        }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 2))
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let body = Gate()
        let holder = Task {
            try await lease.withLease(clock: clock) {
                synchronizer.sync { _ in }
                // Does not notice that it is cancelled.
                await body.passUncancelled()
            }
        }
        try await never.waitForArrivals(2, orEndOf: holder)
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9)])
        lease.seize(by: SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711))
        clock.advance(by: .seconds(3))
        // Although the body goes on.
        try await processor.log.wait(for: .end)
        body.open()
        _ = await holder.result
        #expect(processor.calls.count { if case .content = $0 { true } else { false } } == 2)
    }

    @Test func aRequestUnderALeaseThatHasEndedFails() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let lease = ScriptedLease(clock: clock)
        let gate = Gate()
        let outliving = try await lease.withLease(clock: clock) {
            Task {
                try await gate.pass()
                return try await synchronizer.sync()
            }
        }
        gate.open()
        let failure = await #expect(throws: SyncFailure.self) { try await outliving.value }
        #expect(failure?.errors.first?.underlying is SyncLeaseError)
        #expect(processor.calls.isEmpty)
        try await synchronizer.sync()
    }

    #if compiler(>=6.2)
    @Test func aCallerOfHigherPriorityRaisesThePass() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (gate, raised) = (Gate(), Gate())
        let priorities = EventLog<TaskPriority>()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .list {
                priorities.append(Task.currentPriority)
                try await withTaskPriorityEscalationHandler {
                    try await gate.pass()
                } onPriorityEscalated: { _, _ in
                    raised.open()
                }
            }
            if call == .content("a"), priorities.events.count == 1 { priorities.append(Task.currentPriority) }
        }
        let synchronizer = Synchronizer(processor: processor)
        let low = Task(priority: .background) { _ = try? await synchronizer.sync() }
        try await gate.waitForArrivals(orEndOf: low)
        let high = Task(priority: .high) { _ = try? await synchronizer.sync() }
        // The call that waits in the pass learns of it.
        try await raised.pass(orEndOf: high)
        gate.open()
        await low.value
        await high.value
        #expect(priorities.events.first == .background)
        #expect(priorities.events.last ?? .background > .background)
    }
    #endif

    @Test func severalSynchronizersAreKeptInOneArray() async throws {
        struct Number: SyncItem { var owsPrimaryKey: Int }
        struct Numbers: SyncProcessor {
            func owsFetchSourceList() async throws -> SourceList<Number> { [] }
            func owsGetLocalKeys() async throws -> Set<Int> { [] }
            func owsRemoveLocalItems(for keys: Set<Int>) async throws {}
            func owsDownloadItem(for item: Number) async throws {}
        }
        let all: [any AnySynchronizer] = [
            Synchronizer(processor: Numbers()), Synchronizer(processor: ScriptedProcessor(source: [TestItem("a")])),
        ]
        for synchronizer in all {
            var events = synchronizer.events.makeAsyncIterator()
            try await synchronizer.sync()
            guard case .statusChanged(let status)? = await events.next() else {
                Issue.record("the status is the first event")
                return
            }
            #expect(status.isSyncing)
            await synchronizer.waitUntilIdle()
            #expect(!synchronizer.isSyncing)
            synchronizer.cancel()
        }
    }

    /// Would deadlock if an option were released under the lock of the options.
    @Test func aClosureOfTheOptionsThatLooksAtThemWhenItIsReleasedDoesNoHarm() {
        final class Probe: Sendable {
            let look: @Sendable () -> Void
            init(_ look: @escaping @Sendable () -> Void) { self.look = look }
            deinit { look() }
        }
        let processor = ScriptedProcessor()
        let looks = EventLog<Int>()
        let held = Watched<Synchronizer<ScriptedProcessor>?>(Synchronizer(processor: processor))
        func policy(_ number: Int) -> RetryPolicy {
            let probe = Probe {
                looks.append(number)
                _ = held.value?.options
            }
            return RetryPolicy { _ in
                withExtendedLifetime(probe) {}
                return false
            }
        }
        held.value?.options.retry = policy(1)
        held.value?.options.retry = policy(2)
        held.value?.options = SyncOptions(retry: policy(3))
        held.value?.changeOptions { $0.retry = nil }
        #expect(looks.events == [1, 2, 3])
    }

    @Test func optionsOfTwoTasksAreNotLost() async {
        let synchronizer = Synchronizer(processor: ScriptedProcessor())
        synchronizer.options = SyncOptions(concurrency: 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    switch number % 3 {
                    case 0: synchronizer.options.concurrency += 1
                    case 1: synchronizer.changeOptions { $0.stageTimeouts[.list, default: .zero] += .seconds(1) }
                    default: synchronizer.options.itemTimeout = (synchronizer.options.itemTimeout ?? .zero)
                    }
                }
            }
        }
        #expect(synchronizer.options.concurrency == 67)
        #expect(synchronizer.options.stageTimeouts[.list] == .seconds(67))
        synchronizer.options.concurrency = -3
        #expect(synchronizer.options.concurrency == 0)
        #expect(SyncOptions(concurrency: -1).concurrency == 0)
    }
}
