import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

@testable import OneWaySynchronizer

/// The positions of a stage's workers, and the tasks in which they work.
@Suite(.endsInTime) struct ItemCursorTests {
    private let clock = ManualClock()

    private func cursor(
        count: Int = 3, width: Int = 1, stopsOnFailure: Bool = false, keepsAnswers: Bool = false,
        callTimeout: Duration? = nil
    ) -> ItemCursor {
        ItemCursor(
            stage: .content, count: count, width: width, stopsOnFailure: stopsOnFailure, keepsAnswers: keepsAnswers,
            callTimeout: callTimeout, clock: SyncClock(clock), events: .ofEvents())
    }

    // MARK: Results

    @Test(arguments: [true, false]) func whatEachCallDidIsCounted(keepsAnswers: Bool) {
        let cursor = cursor(count: 6, keepsAnswers: keepsAnswers)
        let ends: [ItemCursor.CallEnd?] = [nil, .done(0, true), .done(1, false), .failed, .interrupted, .done(4, true)]
        #expect(ends.map { cursor.advance(0, after: $0)?.index } == [0, 1, 2, 3, 4, 5])
        #expect(cursor.advance(0, after: .failed) == nil)
        let counts = cursor.counts
        #expect([counts.done, counts.trueCount, counts.failed, counts.retries] == [3, 2, 2, 0])
        #expect(counts.answers == (keepsAnswers ? [true, false, nil, nil, true, nil] : []))
        #expect(counts.positions(answering: true) == (keepsAnswers ? [0, 4] : []))
        #expect(counts.positions(answering: false) == (keepsAnswers ? [1] : []))
    }

    @Test func aCallThatIsRepeatedCountsOnce() throws {
        let cursor = cursor(count: 1)
        let step = try #require(cursor.advance(0, after: nil))
        #expect(step.index == 0 && step.attempt == 1 && step.delay == nil)
        let next = ItemCursor.Step(index: 0, attempt: 2, delay: .seconds(5))
        let again = try #require(cursor.advance(0, after: .retry(next)))
        #expect(again.index == 0 && again.attempt == 2 && again.delay == .seconds(5))
        #expect(cursor.counts.retries == 0)
        #expect(cursor.begin(again, by: 0))
        #expect(cursor.advance(0, after: .done(0, true)) == nil)
        #expect(cursor.counts.retries == 1 && cursor.counts.done == 1)
    }

    // MARK: Stops

    /// Errors that come after the stop are consequences of it.
    @Test(arguments: [(true, [true, false, false]), (false, [true, true, false])])
    func onlyWhatFailsBeforeTheStopIsAFailure(stopsOnFailure: Bool, claims: [Bool]) {
        let cursor = cursor(stopsOnFailure: stopsOnFailure)
        #expect(cursor.claimFailure() == claims[0])
        #expect(cursor.isStopped == stopsOnFailure)
        #expect(cursor.claimFailure() == claims[1])
        cursor.stop()
        #expect(cursor.isStopped)
        #expect(cursor.claimFailure() == claims[2])
    }

    @Test func nothingBeginsAfterTheStop() throws {
        let cursor = cursor()
        let step = try #require(cursor.advance(0, after: nil))
        #expect(cursor.begin(step, by: 0))
        cursor.stop()
        #expect(cursor.advance(0, after: .interrupted) == nil)
        #expect(!cursor.begin(step, by: 0))
    }

    /// The first stop tells why.
    @Test(arguments: [([true, false], true), ([false, true], false), ([true, true], true), ([false], false)])
    func theReasonOfTheFirstStopStays(stops: [Bool], isTimedOut: Bool) {
        let cursor = cursor()
        #expect(!cursor.counts.isTimedOut)
        for stop in stops { cursor.stop(isTimedOut: stop) }
        #expect(cursor.counts.isTimedOut == isTimedOut)
    }

    // MARK: Late calls

    /// A call is late at the end of its time, not before.
    @Test(arguments: [(4_999, false), (5_000, true), (5_001, true)])
    func aLateCallIsCancelledAndItsWorkerReplaced(milliseconds: Int, isLate: Bool) {
        let cursor = cursor(width: 2, callTimeout: .seconds(5))
        let cancelled = EventLog<Int>()
        for worker in 0..<2 { cursor.enter(worker) { cancelled.append(worker) } }
        _ = cursor.advance(0, after: nil)
        clock.advance(by: .milliseconds(milliseconds))
        _ = cursor.advance(1, after: nil)
        let now = Duration.milliseconds(milliseconds)
        #expect(cursor.cancelLateCalls(.seconds(5)) == (isLate ? now + .seconds(5) : .seconds(5)))
        #expect(cancelled.events == (isLate ? [0] : []))
        #expect(cursor.isTimedOut(0) == isLate && !cursor.isTimedOut(1))
        #expect((cursor.advance(0, after: .failed) == nil) == isLate)
        #expect(cursor.leave(0) == isLate)
        #expect(!cursor.leave(1))
    }

    @Test func aLateCallIsCancelledAsSoonAsItsTaskIsKnown() {
        let cursor = cursor(callTimeout: .seconds(5))
        _ = cursor.advance(0, after: nil)
        clock.advance(by: .seconds(5))
        _ = cursor.cancelLateCalls(.seconds(5))
        let cancelled = EventLog<Bool>()
        cursor.enter(0) { cancelled.append(true) }
        #expect(cancelled.events == [true])
        // Once the stage is stopped, nobody takes its place.
        cursor.stop()
        #expect(!cursor.leave(0))
    }

    /// Without time, the watch would never rest.
    @Test func theNextLookIsAMillisecondLaterAtTheEarliest() {
        let cursor = cursor(callTimeout: .zero)
        _ = cursor.advance(0, after: nil)
        #expect(cursor.cancelLateCalls(.zero) == .milliseconds(1))
    }

    // MARK: Workers

    @Test func eachWorkerHasATaskThatIsCancelledAlone() async {
        let cursor = cursor(count: 1, callTimeout: .seconds(5))
        let seen = EventLog<Bool>()
        await runWorkers(cursor, width: 1, clock: SyncClock(clock), deadline: nil) { [clock] worker in
            guard cursor.advance(worker, after: nil) != nil else { return }
            clock.advance(by: .seconds(5))
            _ = cursor.cancelLateCalls(.seconds(5))
            for _ in 0..<100_000 where !Task.isCancelled { await Task.yield() }
            seen.append(Task.isCancelled)
            _ = cursor.advance(worker, after: .failed)
        }
        #expect(seen.events == [true])
        #expect(cursor.counts.failed == 1 && !cursor.isStopped)
    }

    @Test(arguments: [nil, .seconds(5)] as [Duration?])
    func theStageIsStoppedAtItsDeadline(callTimeout: Duration?) async {
        let cursor = cursor(callTimeout: callTimeout)
        await runWorkers(cursor, width: 1, clock: SyncClock(clock), deadline: .zero) { _ in
            for _ in 0..<100_000 where !cursor.isStopped { await Task.yield() }
        }
        #expect(cursor.isStopped && cursor.counts.isTimedOut)
    }

    @Test func withoutWorkersNothingRuns() async {
        let cursor = cursor(count: 0, width: 0)
        await runWorkers(cursor, width: 0, clock: SyncClock(clock), deadline: .zero) { _ in
            Issue.record("there is no worker")
        }
        #expect(!cursor.isStopped)
    }
}
