import Foundation
import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Reports, failures and health as values that users make, keep and send.
@Suite(.endsInTime) struct ReportedValuesTests {
    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func aFailureIsEncodedWithAllThatItSays() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["x": 1]) { call in
            if call == .content("b") { throw RetryableTestError() }
        }
        let options = SyncOptions(concurrency: 1, stopOnError: false).with { $0.reportsKeys = true }
        let thrown = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options, clock: ManualClock()).sync()
        }
        let failure = try #require(thrown)
        let decoded = try roundTrip(failure)
        #expect(decoded.description == failure.description)
        #expect(decoded.report.description == failure.report.description)
        #expect(decoded.report.durations == failure.report.durations)
        #expect(decoded.report.errorCounts == failure.report.errorCounts)
        #expect(decoded.report.keys(.inserted, as: String.self) == ["a"])
        #expect(decoded.errors.first?.key as? String == "b")
        #expect((decoded.errors.first?.underlying as? SyncError.Recorded)?.isRetryable == true)
        #expect(decoded.isRetryable && failure.isRetryable)
        // Once more: a record of a record is the same.
        #expect(try roundTrip(decoded).description == failure.description)
    }

    @Test func theSynchronizersOwnReasonsSurviveTheirEncoding() throws {
        let reasons: [SyncError.Reason] = [
            .duplicateKeys(keys: ["a"], count: 3), .collidingKeys(type: "Key"),
            .removalLimitExceeded(removals: 3, localCount: 4, limit: RemovalLimit(count: 1, fraction: 0.5)),
            .timedOut(after: .seconds(3)), .syncInsidePass,
        ]
        for reason in reasons {
            let decoded = try roundTrip(SyncError(stage: .list, underlying: reason))
            #expect(decoded.underlying as? SyncError.Reason == reason)
            #expect(!(reason.errorDescription ?? "").isEmpty)
        }
    }

    @Test func aRecordedErrorIsRetryableIfTheErrorWas() {
        #expect(!SyncError.Recorded(TestError("no")).isRetryable)
        #expect(SyncError.Recorded(RetryableTestError()).isRetryable)
    }

    @Test func aReportBeginsEmpty() {
        let report = SyncReport()
        #expect(!report.isListPartial)
        let counts: [Int] = [
            report.listed, report.local, report.deleted, report.unchanged, report.planned, report.inserted,
            report.updated, report.failed, report.remaining, report.retries,
        ]
        #expect(counts.allSatisfy { $0 == 0 })
        #expect(report.kept == nil && report.durations.isEmpty && report.errors.isEmpty && report.errorCount == 0)
        #expect(!SyncFailure(report: report, isCancelled: false).isCancelled)
    }

    static let leaseErrors: [(SyncLeaseError, text: String)] = [
        (.held(name: "a", holder: nil), "the lease on a is held by another process"),
        (.notHeld(name: "a"), "the lease on a is not held by this process; its service syncs when it gets the lease"),
        (
            .lost(name: "a", underlying: SyncLeaseError.Reason.notRenewed(within: .seconds(9))),
            "the lease on a was lost: it could not be renewed within 9.0 seconds"
        ),
        (.lost(name: "a", underlying: SyncLeaseError.Reason.released), "the lease on a was lost: it was released"),
    ]

    @Test(arguments: leaseErrors) func aLeaseCanBeRequestedAgain(error: SyncLeaseError, text: String) {
        #expect(error.isRetryable && error.retryAfter == nil)
        #expect(error.description == text && error.errorDescription == text)
        #expect(RetryPolicy().delay(afterAttempt: 1, error: error, random: 0.5) != nil)
        var report = SyncReport()
        report.errors = [SyncError(stage: .begin, underlying: error)]
        #expect(SyncFailure(report: report).isRetryable)
    }

    @Test func descriptionsNameOnlyWhatThereIs() {
        var report = SyncReport()
        #expect(report.description == "0 listed: 0 inserted, 0 updated, 0 unchanged, 0 deleted")
        report.failed = 1
        report.planned = 3
        #expect(report.description.hasSuffix("0 deleted, 1 failed, 2 not downloaded"))
        let reason = SyncError.Reason.duplicateKeys(keys: ["a", "b"], count: 2)
        #expect(reason.description == "the source lists keys more than once: a, b")
        #expect(SyncError.Reason.duplicateKeys(keys: ["a"], count: 3).description.hasSuffix(": a and 2 more"))
    }

    @Test func healthAndProgressCanBeMadeAndSent() throws {
        var report = SyncReport()
        report.listed = 3
        report.setKeys([1, 2], of: .deleted)
        let activity = SyncStatus.Activity(
            kind: .standingBy, since: Date(timeIntervalSince1970: 5), leaseName: "data.sqlite",
            leaseHolder: SyncLeaseHolder(
                host: "web-1", program: "Demo", processID: 7, since: Date(timeIntervalSince1970: 1)))
        let health = SyncService<SyncReport>.Health(
            lastSuccess: Date(timeIntervalSince1970: 3), lastReport: report,
            lastFailure: Date(timeIntervalSince1970: 4), lastError: TestError("no"),
            consecutiveFailures: 2, nextRun: Date(timeIntervalSince1970: 9),
            retry: RetryPolicy.Retry(error: TestError("busy"), attempt: 2, maxAttempts: 8, delay: .seconds(3)),
            activity: activity)
        let decoded = try roundTrip(health)
        #expect(decoded.lastSuccess == health.lastSuccess && decoded.consecutiveFailures == 2)
        #expect(decoded.nextRun == health.nextRun && decoded.lastFailure == health.lastFailure)
        #expect(decoded.lastReport?.listed == 3)
        #expect(decoded.lastReport?.keys(.deleted, as: String.self) == ["1", "2"])
        #expect(decoded.activity == activity && decoded.isStandingBy && decoded.leaseHolder?.host == "web-1")
        #expect((decoded.lastError as? SyncError.Recorded)?.message == "no")
        #expect(decoded.retry?.description == "attempt 2 of 8 failed, next in 3.0 seconds: busy")
        let progress = SyncStatus.Progress(stage: .content, done: 3, failed: 1, total: 9)
        #expect(try roundTrip(progress) == progress)
        #expect(try roundTrip(SyncStatus(isSyncing: true)).isSyncing)
    }

    @Test(
        arguments: [
            (0.29, 29, 100, true), (0.29, 30, 100, false), (0.07, 7, 100, true), (0.1, 1, 10, true), (1, 10, 10, true),
            (0, 0, 10, true), (0, 1, 10, false), (.nan, 1, 10, false), (0.57, 57, 100, true), (0.1, 0, 0, true),
        ] as [(Double, Int, Int, Bool)])
    func aShareAllowsExactlyThatShare(fraction: Double, removals: Int, localCount: Int, isAllowed: Bool) {
        #expect(RemovalLimit(fraction: fraction).allows(removals: removals, of: localCount) == isAllowed)
    }

    @Test(arguments: [RemovalLimit(count: -1), RemovalLimit(fraction: .nan, atLeast: -1)])
    func aLimitThatAllowsNothingAllowsNoRemovals(limit: RemovalLimit) {
        #expect(limit.allows(removals: 0, of: 0) && limit.allows(removals: 0, of: 2))
        #expect(!limit.allows(removals: 1, of: 2))
    }

    @Test func whatWasJustDownloadedIsNotRemoved() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")], local: ["added": 1, "gone": 1])
        processor.change { state in state.prepare = { $0 + [TestItem("added", revision: 2)] } }
        let report = try await Synchronizer(
            processor: processor, options: SyncOptions().with { $0.removalOrder = .afterDownloads }
        ).sync()
        #expect(processor.local == ["a": 1, "added": 2])
        #expect(report.deleted == 1 && report.kept == nil)
    }

    @Test func anActivityAsksForNoStopUnlessSaid() {
        #expect(!SyncStatus.Activity(kind: .waiting, since: Date()).isStopRequested)
    }

    @Test func aFailureCanBeRetriedIfEachOfItsErrorsCan() {
        func failure(_ waits: [Duration?], isCancelled: Bool = false) -> SyncFailure {
            var report = SyncReport()
            report.errors = waits.map { wait in
                SyncError(
                    stage: .content, underlying: wait.map { RetryableTestError(retryAfter: $0) } ?? TestError("no"))
            }
            return SyncFailure(report: report, isCancelled: isCancelled)
        }
        #expect(failure([.seconds(3), .seconds(9), .seconds(6)]).isRetryable)
        #expect(failure([.seconds(3), .seconds(9), .seconds(6)]).retryAfter == .seconds(9))
        #expect(!failure([.seconds(3), nil]).isRetryable)
        #expect(!failure([]).isRetryable)
        #expect(!failure([.seconds(3)], isCancelled: true).isRetryable)
    }

    @Test func optionsHaveTheirDocumentedDefaults() {
        let options = SyncOptions()
        #expect(options.concurrency == 0 && !options.downloadPreview && options.downloadContent && options.stopOnError)
        #expect(options.removalLimit == nil && options.removalOrder == .beforeDownloads && options.retry == nil)
        #expect(options.itemTimeout == nil && options.stageTimeouts.isEmpty && options.passTimeout == nil)
        #expect(!options.concurrentUpdateChecks && !options.reportsKeys)
    }
}
