@testable import OneWaySynchronizer
import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// Reports and errors as values.
@Suite(.endsInTime) struct SyncReportTests {
    @Test func aFloodOfFailuresMakesASmallReport() async throws {
        let count = 50_000
        let processor = ScriptedProcessor(source: (0..<count).map { TestItem("\($0)") }) { call in
            guard case .content(let key) = call else { return }
            if key.hasSuffix("0") { throw RetryableTestError() }
            throw TestError(key)
        }
        let failure = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: SyncOptions(stopOnError: false)).sync()
        }
        let report = try #require(failure?.report)
        #expect(report.errors.count == SyncReport.maximumErrorCount)
        #expect(report.errorCount == count)
        #expect(report.failed == count)
        #expect(
            report.errorCounts == [
                SyncReport.ErrorCount(stage: .content, kind: "OneWayTestSupport.TestError", count: count / 10 * 9),
                SyncReport.ErrorCount(stage: .content, kind: "OneWayTestSupport.RetryableTestError", count: count / 10),
            ])
    }

    @Test func tooManyKindsOfErrorsAreCountedTogether() {
        struct Kind<A, B>: Error {}
        func types<A>(_: A.Type) -> [any Error] {
            [Kind<A, Int>(), Kind<A, Int8>(), Kind<A, Int16>(), Kind<A, UInt>(), Kind<A, UInt8>(), Kind<A, UInt16>()]
        }
        let errors =
            types(Bool.self) + types(String.self) + types(Double.self) + types(Float.self) + types(Int.self)
            + types(Int8.self) + types(Character.self)
        let log = ErrorLog()
        for error in errors { log.record(SyncError(stage: .content, underlying: error)) }
        var report = SyncReport()
        log.fill(&report)
        #expect(report.errorCounts.count == 33)
        #expect(report.errorCount == errors.count)
        #expect(
            report.errorCounts.first == SyncReport.ErrorCount(stage: .content, kind: "other", count: errors.count - 32))
    }

    private struct DiskFull: LocalizedError {
        let errorDescription: String? = "the disk is full"
    }

    @Test func descriptionsAreForPeople() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["a": 1, "x": 1]) { call in
            if call == .content("b") { throw TestError("connection refused") }
        }
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
        #expect(failure?.description == "content of \"b\": connection refused")
        #expect(
            failure?.report.description == "2 listed: 0 inserted, 0 updated, 1 unchanged, 1 deleted, 1 failed")
        let full = SyncError(stage: .content, key: "b", underlying: DiskFull())
        #expect("\(full)" == "content of \"b\": the disk is full")
        #expect(
            "\(SyncEvent.willRetry(RetryPolicy.Retry(error: full, attempt: 1, maxAttempts: 8, delay: .seconds(1))))"
                == "attempt 1 of 8 failed, next in 1.0 seconds: content of \"b\": the disk is full")
        #expect(SyncFailure(report: SyncReport(), isCancelled: true).description == "cancelled")
        #expect("\(SyncError.Reason.timedOut(after: .seconds(3)))" == "timed out after 3.0 seconds")
    }
}
