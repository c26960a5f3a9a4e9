import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@Suite(.endsInTime) struct PromiseTests {
    @Test func everyWaiterGetsTheFirstResult() async throws {
        let promise = Promise<Int>()
        let waiting = (0..<5).map { _ in Task { try await promise.value() } }
        promise.settle(.success(1))
        promise.settle(.success(2))
        promise.settle(.failure(TestError("late")))
        for task in waiting { #expect(try await task.value == 1) }
        #expect(try await promise.value() == 1)
        #expect(try promise.result?.get() == 1)
    }

    @Test func aFailureIsThrown() async throws {
        let promise = Promise<Void>()
        #expect(promise.result == nil)
        promise.settle(.failure(TestError("no")))
        await #expect(throws: TestError("no")) { try await promise.value() }
    }

    @Test func aWaitEndsWithItsTaskOrDeadline() async throws {
        let promise = Promise<Int>()
        let clock = ManualClock()
        let cancelled = Task { try await promise.value() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let late = Task { try await promise.value(until: Deadline(in: .seconds(1), by: SyncClock(clock))) }
        try await clock.waitForPendingDelays([.seconds(1)])
        clock.advance(by: .seconds(1))
        await #expect(throws: DeadlineExceeded.self) { try await late.value }
        let patient = Task { try await promise.value(isCancellable: false) }
        patient.cancel()
        promise.settle(.success(3))
        #expect(try await patient.value == 3)
    }

    /// A value whose `deinit` uses the promise would deadlock if it were released under its lock.
    @Test func noValueIsReleasedUnderTheLock() async throws {
        final class Probe: Error {
            let promise: Promise<Int>
            init(_ promise: Promise<Int>) { self.promise = promise }
            deinit { _ = promise.result }
        }
        let promise = Promise<Int>()
        promise.settle(.success(1))
        promise.settle(.failure(Probe(promise)))
    }
}
