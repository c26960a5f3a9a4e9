import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// Callers, cancels, leases, time-outs and services in random schedules, each repeated by its seed.
///
/// `SCHEDULES=50000 swift test --filter RandomScheduleTests` runs more of them.
@Suite(.endsInTime) struct RandomScheduleTests {
    static let count =
        ProcessInfo.processInfo.environment["SCHEDULES"].flatMap { UInt64($0) }
        ?? (isThorough ? 10_000 : 300) / UInt64(caseStride)
    static let batches = stride(from: 0, to: count, by: 1_000).map { $0..<min($0 + 1_000, count) }

    @Test(arguments: batches)
    func whateverHappensEachCallerIsAnsweredAndNothingRunsOn(seeds: Range<UInt64>) async throws {
        for seed in seeds {
            let violations = await Schedule(seed: seed).run()
            #expect(violations.isEmpty, "seed \(seed): \(violations)")
        }
    }
}

/// One schedule.
private final class Schedule: Sendable {
    /// The leases that the current task runs under, known to the test alone.
    @TaskLocal private static var scopes: Set<Int> = []

    private struct State {
        var random: SeededRandom
        var violations: [String] = []
        /// Callers that were not answered yet.
        var waiting = 0
        var inFlight = 0
        /// Calls by the lease that their pass was begun under.
        var inFlightByScope: [Int: Int] = [:]
        var closedScopes: Set<Int> = []
        var isCalm = false
    }

    private let state: Locked<State>
    private let clock = ManualClock()
    private let never = Gate()
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = Locked(State(random: SeededRandom(seed: seed)))
    }

    private func random(_ range: Range<Int>) -> Int {
        state.withLock { Int.random(in: range, using: &$0.random) }
    }

    private func yields(_ bound: Int) async {
        for _ in 0..<random(0..<bound + 1) { await Task.yield() }
    }

    // MARK: The processor

    private func call(_ call: ScriptedProcessor.Call) async throws {
        let scopes = Self.scopes
        state.withLock { state in
            state.inFlight += 1
            if state.waiting == 0 { state.violations.append("\(call) begins for nobody") }
            for scope in scopes {
                state.inFlightByScope[scope, default: 0] += 1
                if state.closedScopes.contains(scope) { state.violations.append("\(call) begins after its lease") }
            }
        }
        defer {
            state.withLock { state in
                state.inFlight -= 1
                for scope in scopes { state.inFlightByScope[scope, default: 0] -= 1 }
            }
        }
        guard !state.withLock(\.isCalm) else { return }
        switch random(0..<24) {
        case 0: throw TestError("no")
        case 1: throw RetryableTestError(retryAfter: .seconds(random(0..<4)))
        // Ends with a cancel or a time-out; the end of a pass has neither.
        case 2 where call != .end && call != .begin: try await never.pass()
        case 3..<12: await yields(6)
        default: break
        }
    }

    private var options: SyncOptions {
        var options = SyncOptions(
            concurrency: random(1..<4), downloadPreview: random(0..<2) == 0, stopOnError: random(0..<2) == 0,
            retry: random(0..<2) == 0 ? RetryPolicy() : nil, itemTimeout: random(0..<2) == 0 ? .seconds(3) : nil
        ).with { $0.removalOrder = random(0..<2) == 0 ? .beforeDownloads : .afterDownloads }
        if random(0..<3) == 0 { options.stageTimeouts = [.list: .seconds(2), .content: .seconds(9)] }
        // Something has to end every hanging call.
        options.passTimeout = .seconds(random(5..<30))
        return options
    }

    // MARK: The schedule

    /// Runs the schedule; returns the rules that were broken.
    func run() async -> [String] {
        let items = (0..<random(0..<5)).map { TestItem("\($0)", revision: random(1..<3)) }
        let processor = ScriptedProcessor(source: items, local: ["0": 1, "x": 1]) { try await self.call($0) }
        let synchronizer = Synchronizer(processor: processor, options: options, clock: clock)
        let ticker = Task {
            while !Task.isCancelled {
                for _ in 0..<20 { await Task.yield() }
                clock.advance(by: .seconds(1))
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<random(1..<6) {
                let kind = random(0..<10)
                group.addTask {
                    await self.yields(40)
                    switch kind {
                    case 0..<4: await self.callAndPerhapsCancel(synchronizer)
                    case 4..<6: self.request(synchronizer)
                    case 6: synchronizer.cancel()
                    case 7..<9: await self.callUnderALease(number, synchronizer)
                    default: await self.serve(synchronizer)
                    }
                }
            }
        }
        await synchronizer.waitUntilIdle()
        while state.withLock(\.waiting) > 0 { await Task.yield() }
        let begun = processor.calls.count { $0 == .begin }
        check(begun == processor.calls.count { $0 == .end }, "begin and end pair up")
        check(processor.current.inFlight == 0, "nothing runs when it is idle")
        check(processor.current.maximumInFlight <= 3, "never more calls than the concurrency allows")
        // Whatever happened, a pass that nobody disturbs converges.
        state.withLock { state in
            state.isCalm = true
            state.waiting += 1
        }
        ticker.cancel()
        await ticker.value
        synchronizer.options = SyncOptions(concurrency: 2)
        do { try await synchronizer.sync() } catch { check(false, "a calm pass succeeds, not: \(error)") }
        check(processor.local == processor.sourceRevisions, "the local collection equals the source")
        return state.withLock(\.violations)
    }

    private func check(_ holds: Bool, _ rule: String) {
        if !holds { state.withLock { $0.violations.append(rule) } }
    }

    private func enter() {
        state.withLock { $0.waiting += 1 }
    }

    private func leave() {
        state.withLock { state in
            state.waiting -= 1
            if state.waiting == 0, state.inFlight > 0 { state.violations.append("a call runs for nobody") }
        }
    }

    private func callAndPerhapsCancel(_ synchronizer: Synchronizer<ScriptedProcessor>) async {
        enter()
        let caller = Task {
            defer { self.leave() }
            _ = try? await synchronizer.sync()
        }
        if random(0..<2) == 0 {
            await yields(30)
            caller.cancel()
        }
        await caller.value
    }

    private func request(_ synchronizer: Synchronizer<ScriptedProcessor>) {
        enter()
        synchronizer.sync { _ in self.leave() }
    }

    private func callUnderALease(_ scope: Int, _ synchronizer: Synchronizer<ScriptedProcessor>) async {
        let lease = ScriptedLease(duration: .seconds(9), clock: clock)
        let isLost = random(0..<3) == 0
        let waits = random(0..<3) > 0
        let holder = Task {
            try await lease.withLease(clock: self.clock) {
                await Self.$scopes.withValue([scope]) {
                    self.request(synchronizer)
                    guard waits else { return await self.yields(20) }
                    self.enter()
                    _ = try? await synchronizer.sync()
                    self.leave()
                }
            }
        }
        if isLost {
            await yields(60)
            lease.seize(by: SyncLeaseHolder(host: "web-1", program: "Demo", processID: 4711))
        }
        _ = await holder.result
        state.withLock { state in
            state.closedScopes.insert(scope)
            if state.inFlightByScope[scope, default: 0] > 0 { state.violations.append("a call outlives its lease") }
        }
    }

    private func serve(_ synchronizer: Synchronizer<ScriptedProcessor>) async {
        let service = SyncService(
            synchronizer: synchronizer, schedule: SyncSchedule(interval: .seconds(4)), clock: clock)
        enter()
        let run = Task {
            defer { self.leave() }
            try await service.run()
        }
        await yields(100)
        service.trigger()
        await yields(100)
        switch random(0..<3) {
        case 0: run.cancel()
        case 1: service.requestStop(within: .seconds(random(0..<5)))
        default: service.requestStop()
        }
        _ = await run.result
        check(service.health.activity == nil, "a service that has ended does nothing")
    }
}
