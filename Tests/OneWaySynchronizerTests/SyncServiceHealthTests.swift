import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import Testing

/// A service's health agrees with itself, whenever it is read.
@Suite(.endsInTime) struct SyncServiceHealthTests {
    private typealias Step = SyncServiceStep<Int>

    private static let holders = [SyncLeaseHolder(host: "web-1"), SyncLeaseHolder(host: "web-2")]

    private static func steps(at round: Int) -> [Step] {
        let next = Date(timeIntervalSince1970: Double(round) + 60)
        return [
            .waitsForSync(next: next), .beginsNoMore, .beginsSync, .endsSync(.success(round), next: next),
            .endsSync(.failure(TestError("no")), next: next), .endsSync(nil, next: next), .requestsLease,
            .isRefused(holder: holders[0]), .isRefused(holder: holders[1]), .isRefused(holder: nil),
            .hasNoLease(TestError("lost")), .releasesLease, .ends,
        ]
    }

    /// The contradictions in a snapshot.
    private static func contradictions<Report>(in health: SyncService<Report>.Health) -> [String] {
        let kind = health.activity?.kind
        let isUnanswered = health.activity?.unansweredSince != nil
        let rules: [(String, Bool)] = [
            ("only who stands by knows a holder", health.leaseHolder == nil || kind == .standingBy),
            ("who requests the lease has no answer", kind != .requestingLease || isUnanswered),
            (
                "only who requests the lease waits for an answer",
                !isUnanswered || kind == .requestingLease || kind == .standingBy
            ),
            ("the next sync is known only before it begins", health.nextRun == nil || kind == .waiting),
            ("a report comes with a success", (health.lastReport == nil) == (health.lastSuccess == nil)),
            ("an error comes with a failure", (health.lastError == nil) == (health.lastFailure == nil)),
            ("failures have an error", health.consecutiveFailures == 0 || health.lastError != nil),
            ("only a sync has a stage", health.activity?.stage == nil || kind == .syncing),
            (
                "a stage has a beginning",
                (health.activity?.stage == nil) == (health.activity?.stageSince == nil)
            ),
        ]
        return rules.filter { !$0.1 }.map(\.0)
    }

    @Test func datesAreISO8601InTheBodyOfAHealthCheck() throws {
        var health = SyncService<Int>.Health()
        health.record(
            .waitsForSync(next: Date(timeIntervalSince1970: 60)), at: Date(timeIntervalSince1970: 0), leaseName: "a/b")
        #expect(
            String(decoding: try health.json(), as: UTF8.self)
                == #"{"activity":{"isStopRequested":false,"kind":"waiting","leaseName":"a/b","since":"1970-01-01T00:00:00Z"},"#
                + #""consecutiveFailures":0,"nextRun":"1970-01-01T00:01:00Z"}"#)
    }

    @Test func noSequenceOfStepsContradictsItself() {
        func walk(_ health: SyncService<Int>.Health, depth: Int) -> Int {
            var count = 0
            let date = Date(timeIntervalSince1970: Double(depth))
            for step in Self.steps(at: depth) {
                var next = health
                next.record(step, at: date, leaseName: "the test")
                let found = Self.contradictions(in: next)
                if !found.isEmpty { Issue.record("\(step) after \(health): \(found)") }
                count += found.count
                if depth < 4, count == 0 { count += walk(next, depth: depth + 1) }
            }
            return count
        }
        #expect(walk(SyncService<Int>.Health(), depth: 1) == 0)
    }

    @Test func eachStepTellsWhatTheServiceDoes() {
        let (now, next) = (Date(second: 5), Date(second: 65))
        let cases: [(Step, SyncStatus.Activity.Kind?, next: Date?, failures: Int)] = [
            (.waitsForSync(next: next), .waiting, next, 2), (.beginsSync, .syncing, nil, 2),
            (.endsSync(.success(1), next: next), .waiting, next, 0),
            (.endsSync(.failure(TestError("no")), next: next), .waiting, next, 3),
            (.endsSync(nil, next: next), .waiting, next, 2), (.requestsLease, .requestingLease, nil, 2),
            (.isRefused(holder: Self.holders[0]), .standingBy, nil, 2), (.isRefused(holder: nil), .standingBy, nil, 2),
            (.hasNoLease(TestError("lost")), .standingBy, nil, 3), (.releasesLease, .releasingLease, nil, 2),
            (.ends, nil, nil, 2),
        ]
        for (step, kind, next, failures) in cases {
            let activity = SyncStatus.Activity(kind: .waiting, since: Date(second: 1), leaseName: "a")
            var health = SyncService<Int>.Health(
                consecutiveFailures: 2, nextRun: Date(second: 2),
                retry: RetryPolicy.Retry(error: TestError("no"), attempt: 1, maxAttempts: 2, delay: .zero),
                activity: activity)
            health.record(step, at: now, leaseName: "b")
            #expect(health.activity?.kind == kind, "\(step)")
            #expect(health.activity?.since == (kind == nil ? nil : now), "\(step)")
            #expect(health.activity?.leaseName == (kind == nil ? nil : "b"), "\(step)")
            #expect(health.nextRun == next && health.retry == nil, "\(step)")
            #expect(health.consecutiveFailures == failures, "\(step)")
            #expect((health.lastSuccess == now) == (failures == 0), "\(step)")
            #expect((health.lastFailure == now) == (failures == 3), "\(step)")
            #expect(health.isSyncing == (kind == .syncing) && health.isStandingBy == (kind == .standingBy), "\(step)")
            var stopping = SyncService<Int>.Health(nextRun: Date(second: 2), activity: activity)
            stopping.record(.beginsNoMore, at: now, leaseName: "b")
            #expect(stopping.activity == activity && stopping.nextRun == nil)
        }
    }

    @Test func aRefusalKeepsTheBeginningOfTheStandbyForItsHolder() {
        var health = SyncService<Int>.Health()
        for (second, step) in [Step.isRefused(holder: Self.holders[0]), .requestsLease].cycled(3).enumerated() {
            health.record(step, at: Date(timeIntervalSince1970: Double(second)), leaseName: nil)
            #expect(health.activity?.since == Date(timeIntervalSince1970: 0))
            #expect(health.activity?.unansweredSince == (second.isMultiple(of: 2) ? nil : Date(second: second)))
        }
        health.record(.isRefused(holder: Self.holders[1]), at: Date(second: 9), leaseName: nil)
        #expect(health.activity?.since == Date(second: 9) && health.leaseHolder == Self.holders[1])
    }

    /// Its closures and its lease read the health before each step and between the steps, and so
    /// does another task all the time. They would deadlock if they were called under the lock.
    @Test func aReaderNeverSeesHalfOfAStep() async throws {
        let clock = ManualClock()
        let reader = Reader()
        let lease = ReadingLease(reader: reader, holders: Self.holders)
        let schedule = SyncSchedule(interval: .seconds(60), jitter: 0, failureDelay: .seconds(60))
        let service = SyncService(
            schedule: schedule, lease: lease, clock: clock,
            date: {
                reader.read()
                return Date(timeIntervalSince1970: clock.now.offset / .seconds(1))
            },
            sync: {
                let count = reader.begin()
                reader.read()
                switch count % 3 {
                case 0: throw TestError("no")
                case 1: return count
                default: throw CancellationError()
                }
            })
        reader.service.value = service
        let events = service.events
        let observing = Task { for await _ in events { reader.read() } }
        let isOver = Locked(false)
        let reading = Task.detached {
            while !isOver.withLock(\.self) {
                reader.read()
                await Task.yield()
            }
        }
        let run = Task { try await service.run() }
        // Refused by each holder and by nobody that is known, not answered, and granted.
        for round in 0..<20 {
            try await clock.waitForPendingDelays([.seconds(3)])
            reader.read()
            clock.advance(by: .seconds(3))
            try await lease.requestCount.wait { $0 >= min(round + 2, 21) }
        }
        for round in 1...20 {
            try await clock.waitForPendingDelays([.seconds(300), .seconds(900), .seconds(60)].sorted())
            reader.read()
            #expect(reader.begun.value == round)
            service.trigger()
            try await reader.begun.wait { $0 == round + 1 }
        }
        service.requestStop()
        try await run.value
        isOver.withLock { $0 = true }
        await reading.value
        observing.cancel()
        await observing.value
        reader.service.value = nil
        #expect(reader.contradictions.value == [])
    }

    /// Reads the health of a service, and keeps what contradicts itself.
    private final class Reader: Sendable {
        let service = Locked<SyncService<Int>?>(nil)
        let contradictions = Locked<Set<String>>([])
        /// The number of syncs that began.
        let begun = Watched(0)

        func begin() -> Int {
            begun.update { count in
                count += 1
                return count
            }
        }

        func read() {
            guard let service = service.value else { return }
            let before = begun.value
            let health = service.health
            let isSettled = before == begun.value && health.activity?.kind == .waiting && before > 0
            var found = SyncServiceHealthTests.contradictions(in: health)
            // One sync in three succeeds, the first one at once.
            if isSettled, before % 3 == 1, health.lastReport != before {
                found.append("a sync ended without its report")
            }
            if isSettled, before % 3 == 0, health.consecutiveFailures != 1 {
                found.append("a sync ended without its error")
            }
            contradictions.withLock { $0.formUnion(found) }
        }
    }

    /// Is refused twenty times, and then granted.
    private struct ReadingLease: SyncLease {
        let reader: Reader
        let holders: [SyncLeaseHolder]
        let requestCount = Watched(0)
        let duration = Duration.seconds(900)
        var retryInterval: Duration { .seconds(3) }

        var name: String {
            reader.read()
            return "the test"
        }

        func tryAcquire(for holder: SyncLeaseHolder) async throws -> SyncLeaseAnswer {
            reader.read()
            let count = requestCount.update { count in
                count += 1
                return count
            }
            switch count {
            case 21...: return .granted(Grant(reader: reader))
            case let count where count.isMultiple(of: 4): throw TestError("no answer")
            default: return .held(by: count % 4 == 3 ? nil : holders[count / 8 % 2])
            }
        }

        struct Grant: SyncLeaseGrant {
            let reader: Reader

            func renew() async throws { reader.read() }
            func release() async { reader.read() }
        }
    }
}

extension Array {
    /// The elements, this many times one after the other.
    fileprivate func cycled(_ count: Int) -> [Element] { (0..<count).flatMap { _ in self } }
}

extension Date {
    fileprivate init(second: Int) { self.init(timeIntervalSince1970: Double(second)) }
}
