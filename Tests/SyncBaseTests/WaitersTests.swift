import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct WaitersTests {
    private struct State: Sendable {
        var isOpen = false
        var waiters = Waiters<Int>()
    }

    private let state = Locked(State())
    private let clock = ManualClock()
    private let syncClock: SyncClock

    init() {
        syncClock = SyncClock(clock)
    }

    private func wait(until deadline: Duration? = nil, isCancellable: Bool = true) async throws -> Int {
        let deadline = deadline.map { Deadline(at: $0, by: syncClock) }
        return try await state.wait(in: \.waiters, until: deadline, isCancellable: isCancellable) {
            $0.isOpen ? .success(0) : nil
        }
    }

    private func waitForCount(_ count: Int) async {
        while state.withLock(\.waiters.count) != count { await Task.yield() }
    }

    @Test func nothingIsWaitedForWhenTheResultIsThere() async throws {
        state.withLock { $0.isOpen = true }
        #expect(try await wait() == 0)
        // A result that is there counts, also for a cancelled task or after the deadline.
        #expect(try await wait(until: .zero) == 0)
        let cancelled = Task {
            try? await Gate().pass()
            return try await wait()
        }
        cancelled.cancel()
        #expect(try await cancelled.value == 0)
    }

    @Test func tasksAreResumedInTheOrderOfTheirArrival() async throws {
        var tasks: [Task<Int, any Error>] = []
        for number in 1...5 {
            tasks.append(Task { try await wait() })
            await waitForCount(number)
        }
        state.withLock { $0.waiters.removeFirst() }?.resume(returning: 1)
        for (offset, waiter) in state.withLock({ $0.waiters.removeAll() }).enumerated() {
            waiter.resume(returning: offset + 2)
        }
        for (offset, task) in tasks.enumerated() { #expect(try await task.value == offset + 1) }
        #expect(state.withLock { $0.waiters.removeFirst() == nil && $0.waiters.isEmpty })
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let task = Task { try await wait() }
        await waitForCount(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(state.withLock { $0.waiters.isEmpty })
    }

    @Test func aCancellationThatComesBeforeTheWaitEndsIt() async throws {
        let gate = Gate()
        let task = Task {
            await gate.passUncancelled()
            return try await wait()
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancellationCanBeIgnored() async throws {
        let gate = Gate()
        let task = Task {
            await gate.passUncancelled()
            return try await wait(isCancellable: false)
        }
        task.cancel()
        gate.open()
        await waitForCount(1)
        task.cancel()
        state.withLock { $0.waiters.removeFirst() }?.resume(returning: 7)
        #expect(try await task.value == 7)
    }

    @Test func aWaitEndsAtItsDeadline() async throws {
        let task = Task { try await wait(until: .seconds(2)) }
        try await clock.waitForPendingDelays([.seconds(2)])
        clock.advance(by: .seconds(1))
        #expect(state.withLock { $0.waiters.count } == 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceeded.self) { try await task.value }
        #expect(state.withLock { $0.waiters.isEmpty })
        await #expect(throws: DeadlineExceeded.self) { try await wait(until: .seconds(2)) }
    }

    @Test func aTaskThatWasResumedLeavesNoTimer() async throws {
        let task = Task { try await wait(until: .seconds(2)) }
        try await clock.waitForPendingDelays([.seconds(2)])
        state.withLock { $0.waiters.removeFirst() }?.resume(returning: 3)
        #expect(try await task.value == 3)
        try await clock.waitForPendingDelays([])
    }

    /// Every step is compared with a list of those that should wait.
    @Test(arguments: seeds(60, thorough: 200))
    func aRandomScheduleGivesEachTaskItsOneAnswer(seed: UInt64) async throws {
        struct Waiting {
            var task: Task<Int, any Error>
            var deadline: Duration?
        }
        var random = SeededRandom(seed: seed)
        var waiting: [Waiting] = []
        var now = Duration.zero
        for step in 0..<40 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let deadline = Bool.random(using: &random) ? now + .seconds(Int.random(in: 1...5, using: &random)) : nil
                waiting.append(Waiting(task: Task { try await wait(until: deadline) }, deadline: deadline))
            case 4 where !waiting.isEmpty:
                state.withLock { $0.waiters.removeFirst() }?.resume(returning: step)
                #expect(try await waiting.removeFirst().task.value == step)
            case 5 where Int.random(in: 0..<4, using: &random) == 0:
                for waiter in state.withLock({ $0.waiters.removeAll() }) { waiter.resume(returning: step) }
                for waiter in waiting { #expect(try await waiter.task.value == step) }
                waiting = []
            case 6 where !waiting.isEmpty:
                let cancelled = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                cancelled.task.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.task.value }
            default:
                // The timers of those that were just resumed may still be on their way out.
                try await clock.waitForPendingDelays(waiting.compactMap { $0.deadline.map { $0 - now } }.sorted())
                now += .seconds(1)
                clock.advance(by: .seconds(1))
                for waiter in waiting where waiter.deadline.map({ $0 <= now }) ?? false {
                    await #expect(throws: DeadlineExceeded.self) { try await waiter.task.value }
                }
                waiting.removeAll { $0.deadline.map { $0 <= now } ?? false }
            }
            await waitForCount(waiting.count)
        }
        for waiter in waiting { waiter.task.cancel() }
        for waiter in waiting { await #expect(throws: CancellationError.self) { try await waiter.task.value } }
        #expect(state.withLock { $0.waiters.isEmpty })
    }

    /// A semaphore whose users are cancelled and time out at any moment loses no permit.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func racesLoseNobodyAndNothing(seed: UInt64) async throws {
        struct Semaphore: Sendable {
            var free = 2
            var inside = 0
            var waiters = Waiters<Void>()
        }
        let semaphore = Locked(Semaphore())
        let clock = self.clock
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                var random = SeededRandom(seed: seed << 8 | UInt64(number))
                let deadline = Bool.random(using: &random) ? Deadline(in: .seconds(1), by: syncClock) : nil
                let yields = Int.random(in: 0..<20, using: &random)
                let task = Task {
                    do {
                        try await semaphore.wait(in: \.waiters, until: deadline) { state in
                            guard state.free > 0 else { return nil }
                            state.free -= 1
                            return .success(())
                        }
                    } catch { return }
                    semaphore.withLock { $0.inside += 1 }
                    for _ in 0..<yields { await Task.yield() }
                    #expect(semaphore.withLock { $0.inside } <= 2)
                    let next = semaphore.withLock { state in
                        state.inside -= 1
                        let next = state.waiters.removeFirst()
                        if next == nil { state.free += 1 }
                        return next
                    }
                    next?.resume()
                }
                group.addTask { await task.value }
                if number % 3 == 0 { group.addTask { task.cancel() } }
                if number == 40 { group.addTask { clock.advance(by: .seconds(1)) } }
            }
        }
        #expect(semaphore.withLock { $0.free == 2 && $0.inside == 0 && $0.waiters.isEmpty })
    }
}
