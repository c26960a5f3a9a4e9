import Foundation
import OneWayTestSupport

extension StoreLife {
    /// The seeds of the lives to live.
    ///
    /// `DIFFERENTIAL_SEED=17` repeats one life, `DIFFERENTIAL_LIVES=50000` runs for hours.
    ///
    /// - Parameter count: How many lives there are without such a setting; a quarter of them unless
    ///   the tests are thorough.
    package static func seeds(count: Int) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["DIFFERENTIAL_SEED"].flatMap(UInt64.init) { return [seed] }
        let lives = environment["DIFFERENTIAL_LIVES"].flatMap(UInt64.init)
        return Array(1...max(lives ?? UInt64((isThorough ? count : count / 4) / caseStride), 1))
    }
}
