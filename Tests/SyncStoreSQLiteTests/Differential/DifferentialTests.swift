import Foundation
import OneWayTestSupport
import Testing

/// Random models, payloads, operations and migrations, on an SQLite store beside one in memory, and
/// a plain expectation beside both.
///
/// `DIFFERENTIAL_SEED=17` repeats one life, `DIFFERENTIAL_LIVES=50000` runs for hours.
@Suite struct DifferentialTests {
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["DIFFERENTIAL_SEED"].flatMap(UInt64.init) { return [seed] }
        return Array(1...max(environment["DIFFERENTIAL_LIVES"].flatMap(UInt64.init) ?? UInt64(40 / caseStride), 1))
    }()

    @Test(arguments: seeds)
    func bothStoresHoldWhatIsExpected(seed: UInt64) async throws {
        var life = try await StoreLife(seed: seed, origin: nil)
        for step in 0..<12 {
            let action = try await life.act()
            try await life.check("seed \(seed), step \(step): \(action)")
        }
    }

    /// The same in tables that another tool made.
    @Test(.enabled(if: SQLiteShell.command != nil, "there is no sqlite3"), arguments: ForeignSchema.all)
    func tablesOfOtherToolsHoldWhatIsExpected(origin: ForeignSchema) async throws {
        for seed in Self.seeds.prefix(max(Self.seeds.count / ForeignSchema.all.count, 1)) {
            var life = try await StoreLife(seed: seed, origin: origin)
            for step in 0..<8 {
                let action = try await life.act()
                try await life.check("\(origin.tool), seed \(seed), step \(step): \(action)")
            }
        }
    }
}
