import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// What runs under a lease, and what becomes of it when the lease is lost.
@Suite(.endsInTime) struct SyncLeaseTests {
    private let clock = ManualClock()
    private let other = SyncLeaseHolder(
        host: "web-1", program: "Demo", processID: 4711, since: Date(timeIntervalSince1970: 0))

    @Test func theBodyRunsOnceTheLeaseIsGrantedAndBeforeItIsReleased() async throws {
        let lease = ScriptedLease(clock: clock)
        let answer = try await lease.withLease(clock: clock) {
            #expect(lease.holder?.processID == ProcessInfo.processInfo.processIdentifier)
            #expect(lease.log.events == [.granted])
            return 42
        }
        #expect(answer == 42)
        #expect(lease.log.events == [.granted, .released])
        #expect(lease.holder == nil)
    }

    @Test func theLeaseIsReleasedWhenTheBodyFails() async throws {
        let lease = ScriptedLease(clock: clock)
        await #expect(throws: TestError("broken")) {
            try await lease.withLease(clock: clock) { throw TestError("broken") }
        }
        #expect(lease.log.events == [.granted, .released])
    }

    @Test func theLeaseIsReleasedWhenTheTaskIsCancelled() async throws {
        let lease = ScriptedLease(clock: clock)
        let gate = Gate()
        let task = Task { try await lease.withLease(clock: clock) { try await gate.pass() } }
        try await gate.waitForArrivals(orEndOf: task)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(lease.log.events == [.granted, .released])
    }

    @Test func aHeldLeaseIsAnErrorThatSaysWhoHoldsIt() async throws {
        let lease = ScriptedLease(clock: clock)
        lease.seize(by: other)
        let error = await #expect(throws: SyncLeaseError.self) {
            try await lease.withLease(clock: clock) { Issue.record("ran beside the holder") }
        }
        guard case .held(_, let holder) = error else { throw try #require(error) }
        #expect(holder == other)
        #expect(
            error?.description
                == "the lease on the test is held by Demo (process 4711 on web-1) since 1970-01-01T00:00:00Z")
    }

    @Test func oneProcessHoldsItOnceAtATime() async throws {
        let lease = ScriptedLease(clock: clock)
        try await lease.withLease(clock: clock) { [clock] in
            await #expect(throws: SyncLeaseError.self) { try await lease.withLease(clock: clock) {} }
        }
    }

    @Test func aKeeperWithoutRoomIsAskedAgainByWhoeverWaits() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        lease.beUnavailable(TestError("full"))
        await #expect(throws: TestError("full")) {
            try await lease.withLease(clock: clock) { Issue.record("ran without the lease") }
        }
        let brief = Task { try await lease.withLease(waiting: .upTo(.seconds(2)), clock: clock) {} }
        try await clock.waitForPendingDelays([.seconds(2)])
        clock.advance(by: .seconds(2))
        await #expect(throws: TestError("full")) { try await brief.value }

        let met = EventLog<String>()
        let patient = Task {
            try await lease.withLease(waiting: .forever, clock: clock, onWait: { met.append("\($0)") }, { 42 })
        }
        for _ in 0..<5 {
            try await clock.waitForPendingDelays([.seconds(3)])
            clock.advance(by: .seconds(3))
        }
        try await clock.waitForPendingDelays([.seconds(3)])
        lease.beUnavailable(nil)
        clock.advance(by: .seconds(3))
        #expect(try await patient.value == 42)
        #expect(met.events == ["\(TestError("full"))"])
    }

    @Test func aWaitingTaskGetsTheLeaseWithinAThirdOfItsTimeAfterItsRelease() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        lease.seize(by: other)
        let met = EventLog<String>()
        let task = Task {
            try await lease.withLease(
                waiting: .forever, clock: clock, onWait: { met.append("\($0)") }, { [clock] in clock.now.offset })
        }
        for _ in 0..<2 {
            try await clock.waitForPendingDelays([.seconds(3)])
            clock.advance(by: .seconds(3))
        }
        try await clock.waitForPendingDelays([.seconds(3)])
        lease.giveUp()
        clock.advance(by: .seconds(3))
        #expect(try await task.value == .seconds(9))
        #expect(met.events == ["\(SyncLeaseError.held(name: lease.name, holder: other))"])
    }

    @Test func theLeaseOfADeadHolderIsGrantedWithinItsTime() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        lease.seize(by: other)  // and never renewed
        let task = Task { try await lease.withLease(waiting: .forever, clock: clock) { [clock] in clock.now.offset } }
        for _ in 0..<3 {
            try await clock.waitForPendingDelays([.seconds(3)])
            clock.advance(by: .seconds(3))
        }
        #expect(try await task.value == .seconds(9))
    }

    @Test func waitingEndsWhenItsLimitIsReached() async throws {
        let lease = ScriptedLease(duration: .seconds(90), clock: clock)
        lease.seize(by: other)
        let task = Task { try await lease.withLease(waiting: .upTo(.seconds(40)), clock: clock) {} }
        for delay in [30, 10] {
            try await clock.waitForPendingDelays([.seconds(delay)])
            clock.advance(by: .seconds(delay))
        }
        await #expect(throws: SyncLeaseError.self) { try await task.value }
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let lease = ScriptedLease(clock: clock)
        lease.seize(by: other)
        let task = Task { try await lease.withLease(waiting: .forever, clock: clock) {} }
        try await clock.waitForPendingDelays([.seconds(3)])
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func itIsRenewedForAsLongAsTheBodyRuns() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let gate = Gate()
        let task = Task { try await lease.withLease(clock: clock) { try await gate.pass() } }
        for round in 1...10 {
            // The renewal and the end of the lease's time.
            try await clock.waitForPendingDelays(
                [.seconds(3), .seconds(3)], [.seconds(3), .seconds(6)], [.seconds(3), .seconds(9)])
            clock.advance(by: .seconds(3))
            try await lease.log.wait(for: .renewed, count: round)
        }
        gate.open()
        try await task.value
        #expect(lease.log.events.last == .released)
    }

    /// Advances the time over several renewals, more than the lease's time in all.
    private func expectRenewals(of lease: ScriptedLease) async throws {
        for round in 1...4 {
            // The renewal and the end of the lease's time.
            try await clock.waitForPendingDelays(
                [.seconds(3), .seconds(3)], [.seconds(3), .seconds(6)], [.seconds(3), .seconds(9)])
            clock.advance(by: .seconds(3))
            try await lease.log.wait(for: .renewed, count: round)
        }
    }

    /// Runs a body that ignores its cancellation until a gate opens.
    private func runUncancelled(under lease: ScriptedLease, until gate: Gate) -> Task<String, any Error> {
        Task {
            try await lease.withLease(clock: clock) {
                await gate.passUncancelled()
                return "done"
            }
        }
    }

    @Test func itIsRenewedUntilACancelledBodyHasReturned() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let gate = Gate()
        let task = runUncancelled(under: lease, until: gate)
        try await gate.waitForArrivals()
        task.cancel()
        try await expectRenewals(of: lease)
        gate.open()
        #expect(try await task.value == "done")
        #expect(lease.log.events.last == .released)
        try await clock.waitForPendingDelays([])
    }

    @Test func itIsRenewedUntilAPassThatOutlivesTheBodyHasEnded() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let (gate, isStopped) = (Gate(), Gate())
        let confirmations = EventLog<Bool>()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .content("a") {
                await withTaskCancellationHandler {
                    await gate.passUncancelled()
                } onCancel: {
                    isStopped.open()
                }
            }
            if call == .end { confirmations.append((try? await SyncLeaseScope.confirm()) != nil) }
        }
        let synchronizer = Synchronizer(processor: processor)
        let task = Task {
            try await lease.withLease(clock: clock) {
                synchronizer.sync { _ in }
                try await gate.waitForArrivals()
            }
        }
        // The body has returned.
        try await isStopped.pass(orEndOf: task)
        try await expectRenewals(of: lease)
        gate.open()
        try await task.value
        #expect(confirmations.events == [true])
        #expect(lease.log.events.suffix(2) == [.renewed, .released])
    }

    /// Neither for the next renewal nor for the end of the lease.
    @Test(arguments: [3, 1]) func theBodyIsCancelledWhenTheClockCannotWait(part: Int) async throws {
        struct BrokenClock: Clock {
            let refused: Duration
            let now = ManualClock().now
            var minimumResolution: Duration { .zero }
            func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
                guard now.duration(to: deadline) == refused else { return try await Gate().pass() }
                throw TestError("broken")
            }
        }
        let lease = ScriptedLease(clock: clock)
        let error = await #expect(throws: SyncLeaseError.self) {
            try await lease.withLease(clock: BrokenClock(refused: lease.duration / part)) { try await Gate().pass() }
        }
        guard case .lost(_, let underlying) = error else { throw try #require(error) }
        #expect(underlying as? TestError == TestError("broken"))
        #expect(lease.holder == nil)
    }

    @Test func theBodyIsCancelledWhenARenewalFails() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let gate = Gate()
        let task = Task { try await lease.withLease(clock: clock) { try await gate.pass() } }
        try await gate.waitForArrivals(orEndOf: task)
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9)])
        lease.seize(by: other)
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: SyncLeaseError.self) { try await task.value }
        guard case .lost(_, let underlying) = error else { throw try #require(error) }
        #expect(underlying as? TestError == TestError("taken by another"))
        #expect(lease.holder == other)
    }

    @Test func theBodyIsCancelledWhenNoRenewalSucceedsWithinTheLeasesTime() async throws {
        let silence = Gate()
        let lease = ScriptedLease(duration: .seconds(9), clock: clock) { await silence.passUncancelled() }
        let isCancelled = Gate()
        let task = Task {
            try await lease.withLease(clock: clock) {
                let body = Gate()
                do { try await body.pass() } catch {
                    isCancelled.open()
                    throw error
                }
            }
        }
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9)])
        clock.advance(by: .seconds(3))
        try await silence.waitForArrivals(orEndOf: task)
        clock.advance(by: .seconds(6))
        try await isCancelled.pass(orEndOf: task)
        silence.open()
        let error = await #expect(throws: SyncLeaseError.self) { try await task.value }
        guard case .lost(_, let underlying) = error else { throw try #require(error) }
        #expect(underlying as? SyncLeaseError.Reason == .notRenewed(within: .seconds(9)))
    }

    @Test func aHolderThatWasStoppedForLongerThanTheLeaseDoesNotCommit() async throws {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let gate = Gate()
        let commits = EventLog<String>()
        let paused = Task {
            try await lease.withLease(clock: clock) {
                await gate.passUncancelled()
                try await SyncLeaseScope.confirm()
                commits.append("paused")
            }
        }
        try await gate.waitForArrivals(orEndOf: paused)
        clock.advance(by: .seconds(60))
        try await lease.withLease(waiting: .forever, clock: clock) { commits.append("successor") }
        gate.open()
        await #expect(throws: SyncLeaseError.self) { try await paused.value }
        #expect(commits.events == ["successor"])
    }

    @Test func aLossThatIsNoticedByConfirmingCancelsWhateverElseRuns() async throws {
        let lease = ScriptedLease(clock: clock)
        let task = Task { [clock, other] in
            try await lease.withLease(clock: clock) {
                let confirmed = Task {
                    lease.seize(by: other)
                    try await SyncLeaseScope.confirm()
                }
                await #expect(throws: SyncLeaseError.self) { try await confirmed.value }
                try await Gate().pass()
            }
        }
        await #expect(throws: SyncLeaseError.self) { try await task.value }
    }

    @Test func confirmingRenewsEveryLeaseThatSurroundsTheTask() async throws {
        let outer = ScriptedLease(clock: clock)
        let inner = ScriptedLease(clock: clock)
        try await outer.withLease(clock: clock) { [clock] in
            try await inner.withLease(clock: clock) {
                try await Task { try await SyncLeaseScope.confirm() }.value
            }
        }
        #expect(outer.log.events == [.granted, .renewed, .released])
        #expect(inner.log.events == [.granted, .renewed, .released])
        try await SyncLeaseScope.confirm()
    }

    @Test func aCancelledTaskConfirmsNothing() async throws {
        let lease = ScriptedLease(clock: clock)
        try await lease.withLease(clock: clock) {
            let confirming = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await SyncLeaseScope.confirm()
            }
            await #expect(throws: CancellationError.self) { try await confirming.value }
        }
        #expect(lease.log.events == [.granted, .released])
    }

    @Test func aCancelledTaskDoesNotAskForTheLease() async throws {
        let lease = ScriptedLease(clock: clock)
        let task = Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await lease.withLease(clock: clock) {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(lease.log.events.isEmpty)
    }

    @Test func aRenewalThatEndsWithTheBodyIsNoLoss() async throws {
        let renewals = Gate()
        let lease = ScriptedLease(clock: clock) { try await renewals.pass() }
        let body = Gate()
        let task = Task { [clock] in
            try await lease.withLease(clock: clock) {
                try await body.pass()
                throw TestError("of the body")
            }
        }
        try await clock.waitForPendingDelays([.seconds(3), .seconds(9)])
        clock.advance(by: .seconds(3))
        // Cancelled when the body has ended.
        try await renewals.waitForArrivals(orEndOf: task)
        body.open()
        await #expect(throws: TestError("of the body")) { try await task.value }
    }

    @Test func aRenewalThatTookLongerThanTheLeaseConfirmsNothing() async throws {
        let renewals = Gate()
        let lease = ScriptedLease(duration: .seconds(9), clock: clock) { await renewals.passUncancelled() }
        let body = Gate()
        let task = Task { [clock] in
            try await lease.withLease(clock: clock) {
                let confirming = Task { try await SyncLeaseScope.confirm() }
                try await renewals.waitForArrivals(orEndOf: confirming)
                clock.advance(by: .seconds(60))
                renewals.open()
                await #expect(throws: SyncLeaseError.self) { try await confirming.value }
                try await body.pass()
            }
        }
        await #expect(throws: SyncLeaseError.self) { try await task.value }
    }

    @Test func aTaskThatOutlivesTheLeaseCannotConfirmIt() async throws {
        let lease = ScriptedLease(clock: clock)
        let gate = Gate()
        let survivor = try await lease.withLease(clock: clock) {
            Task {
                try await gate.pass()
                try await SyncLeaseScope.confirm()
            }
        }
        gate.open()
        let error = await #expect(throws: SyncLeaseError.self) { try await survivor.value }
        guard case .lost(_, let underlying) = error else { throw try #require(error) }
        #expect(underlying as? SyncLeaseError.Reason == .released)
    }

    @Test func aBodyThatSucceedsInSpiteOfALossHasSucceeded() async throws {
        let lease = ScriptedLease(clock: clock)
        let gate = Gate()
        let task = runUncancelled(under: lease, until: gate)
        try await gate.waitForArrivals()
        clock.advance(by: .seconds(60))
        gate.open()
        #expect(try await task.value == "done")
    }

    @Test func aHolderNamesItsHost() throws {
        let host = SyncLeaseHolder().host
        #expect(!host.isEmpty && host != "unknown host")
        #if os(Linux)
        let name = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
        #expect(host == name.trimmingCharacters(in: .whitespacesAndNewlines))
        #endif
    }
}
