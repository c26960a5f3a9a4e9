import Foundation

/// The cases of a test that has many: all of them, or every nth where `CASE_STRIDE=n` says so,
/// because each takes long, as under the Thread Sanitizer.
package func sampled<Cases: Sequence>(_ cases: Cases) -> [Cases.Element] {
    cases.enumerated().filter { $0.offset.isMultiple(of: caseStride) }.map(\.element)
}

/// The distance between the cases that run, 1 by default.
package let caseStride = max(ProcessInfo.processInfo.environment["CASE_STRIDE"].flatMap { Int($0) } ?? 1, 1)
