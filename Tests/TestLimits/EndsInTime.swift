package import Testing

/// Ends the process when a test hangs, and names the tests that had begun and not ended.
///
/// Every suite has it. The time of each case is counted from its beginning, without its turn in the
/// queue. It needs nothing of the tests' threads and tasks, so also a deadlock ends. The
/// environment can set:
///
/// - `TEST_LIMIT`: the limit of a case in seconds, 900 by default. For slow runs, as under a
///   sanitizer.
/// - `TEST_JOURNAL`: a file that gets a line for each case that begins, and another one with its
///   duration when it ends.
package struct EndsInTime: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    /// Only around cases: a suite and a test without a case wait for their turn.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> EndsInTime? {
        testCase == nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let run = RunningTests.shared.begin("\(test.sourceLocation.fileName):\(test.sourceLocation.line) \(test.name)")
        defer { RunningTests.shared.end(run) }
        try await function()
    }
}

extension Trait where Self == EndsInTime {
    /// Ends the process when a test of the suite hangs.
    package static var endsInTime: Self { EndsInTime() }
}
