import SyncBase
import Foundation
import OneWayTestSupport

/// Runs every task of the process on one thread, in an order that a seed decides, and lets time
/// pass only when none of them can go on.
///
/// It takes the place of the global executor, so that a run depends on its seed alone. Code that
/// leaves the thread on executors of its own says so by ``leaving(_:)``. `Task.yield()` is not
/// seen, and must not be used.
final class Scheduler: @unchecked Sendable {
    // Sendable because `condition` protects what other threads write to; all else belongs to the
    // one thread that runs.
    private let condition = NSCondition()
    /// What can go on, and came from the one thread.
    private var ready: [UnownedJob] = []
    /// The same, from others: what has left comes back.
    private var returned: [UnownedJob] = []
    private var awayCount = 0
    private let thread = Thread.current
    private var random = SeededRandom(seed: 0)
    private(set) var clock = ManualClock()
    private var interruption: (step: Int, action: @Sendable () -> Void)?
    private var stepCount = 0

    /// The one there is, from the first use on in place of the global executor.
    static let shared = Scheduler()

    /// The global executor, as the runtime names it: by nothing. What runs on it need not change
    /// over to it.
    private static let global = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)

    private init() {
        typealias Original = @convention(thin) (UnownedJob) -> Void
        typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
        guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
            preconditionFailure("this runtime's global executor cannot be replaced")
        }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in Scheduler.shared.add(job) }
    }

    private func add(_ job: UnownedJob) {
        condition.withLock {
            if Thread.current == thread { ready.append(job) } else { returned.append(job) }
            condition.signal()
        }
    }

    /// Runs a function to its end, and then all that it has left running.
    ///
    /// - Returns: Its result; nil where it waits for what never happens.
    func run<Value: Sendable>(seed: UInt64, _ body: @escaping @Sendable () async -> Value) -> Value? {
        random = SeededRandom(seed: seed)
        clock = ManualClock()
        interruption = nil
        stepCount = 0
        let result = Locked<Value?>(nil)
        Task.detached {
            let value = await body()
            result.withLock { $0 = value }
        }
        while true {
            if let job = next() {
                stepCount += 1
                job.runSynchronously(on: Self.global)
                interruptIfDue()
            } else if let delay = clock.pendingDelays.first {
                clock.advance(by: delay)
            } else {
                return result.withLock { $0 }
            }
        }
    }

    /// Calls a function between two steps, so many from now.
    func interrupt(afterSteps count: Int, _ action: @escaping @Sendable () -> Void) {
        interruption = (stepCount + count, action)
    }

    /// Forgets what was to be called.
    func dropInterruption() {
        interruption = nil
    }

    /// Makes a call that goes on on other threads; nothing else runs until it returns.
    func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        awayCount += 1
        defer { awayCount -= 1 }
        return try await call()
    }

    /// Makes a call on this thread from inside of one that has left it.
    func returning<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        awayCount -= 1
        defer { awayCount += 1 }
        return try await call()
    }

    private func next() -> UnownedJob? {
        condition.withLock {
            while awayCount > 0, returned.isEmpty { condition.wait() }
            if !returned.isEmpty { return returned.removeFirst() }
            guard !ready.isEmpty else { return nil }
            let index = Int(random.next() % UInt64(ready.count))
            ready.swapAt(index, ready.count - 1)
            return ready.removeLast()
        }
    }

    private func interruptIfDue() {
        guard let due = interruption, stepCount >= due.step else { return }
        interruption = nil
        due.action()
    }
}
