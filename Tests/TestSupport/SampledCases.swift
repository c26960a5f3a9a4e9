import Foundation

/// The cases of a test that has many: all of them, or every nth where `CASE_STRIDE=n` says so,
/// because each takes long, as under the Thread Sanitizer.
///
/// - Parameter step: The distance between the cases that run unless ``isThorough`` says so, 1 by
///   default.
package func sampled<Cases: Sequence>(_ cases: Cases, every step: Int = 1) -> [Cases.Element] {
    let stride = caseStride * (isThorough ? 1 : step)
    return cases.enumerated().filter { $0.offset.isMultiple(of: stride) }.map(\.element)
}

/// The distance between the cases that run, 1 by default.
package let caseStride = max(ProcessInfo.processInfo.environment["CASE_STRIDE"].flatMap { Int($0) } ?? 1, 1)

/// Whether long tests take all of their seeds and values, as CI does with `THOROUGH=1`. By default
/// they take a sample, so that `swift test` ends soon.
package let isThorough = ProcessInfo.processInfo.environment["THOROUGH"] == "1"

/// The seeds of a property test, from 1.
///
/// - Parameters:
///   - count: Their number by default.
///   - thorough: Their number where ``isThorough`` says so.
package func seeds(_ count: UInt64, thorough: UInt64) -> [UInt64] {
    sampled(1...(isThorough ? thorough : count))
}
