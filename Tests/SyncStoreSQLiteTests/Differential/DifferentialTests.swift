import OneWayStoreLives
import OneWayTestLimits
import Testing

/// Random models, payloads, operations and migrations, on an SQLite store beside one in memory, and
/// a plain expectation beside both.
@Suite(.endsInTime) struct DifferentialTests {
    private static let seeds = StoreLife.seeds(count: 40)

    @Test(arguments: seeds)
    func bothStoresHoldWhatIsExpected(seed: UInt64) async throws {
        var life = try await StoreLife(seed: seed, in: try SQLiteLifeDatabase(origin: nil))
        try await life.live(stepCount: 12, "seed \(seed)")
    }

    /// The same in tables that another tool made.
    @Test(.enabled(if: SQLiteShell.command != nil, "there is no sqlite3"), arguments: ForeignSchema.all)
    func tablesOfOtherToolsHoldWhatIsExpected(origin: ForeignSchema) async throws {
        for seed in Self.seeds.prefix(max(Self.seeds.count / ForeignSchema.all.count, 1)) {
            var life = try await StoreLife(seed: seed, in: try SQLiteLifeDatabase(origin: origin))
            try await life.live(stepCount: 8, "\(origin.tool), seed \(seed)")
        }
    }
}
