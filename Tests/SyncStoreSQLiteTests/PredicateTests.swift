import Foundation
import SyncModel
import SyncStore
import SyncStoreSQLite
import TestSupport
import Testing

@Suite struct PredicateTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func predicatesSelectTheSameAsInMemory(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let model = try Model {
            Entity("Thing") {
                Attribute("whole", .int64)
                Attribute("real", .double)
                Attribute("exact", .decimal)
                Attribute("text", .string)
                Attribute("moment", .date)
                Attribute("flag", .bool)
            }
        }
        var batch = RecordBatch(of: try model.layout(of: "Thing"))
        for _ in 0..<60 {
            batch.beginRecord()
            for slot in 0..<6 { batch.setValue(value(slot, &random), at: slot) }
            batch.endRecord()
        }
        let records = batch
        let memory = MemoryStore(model)
        let stored = try await SQLiteStore(model, at: .memory)
        for store in [memory, stored] as [any Store] {
            try await store.transaction { _ = try await $0.merge(records, handles: nil, policy: MergePolicy()) }
        }
        for _ in 0..<40 {
            let key = Self.names[Int.random(in: 0..<6, using: &random)]
            let query = StoreQuery(
                "Thing", where: predicate(3, &random),
                orderedBy: [Ordering(key, ascending: .random(using: &random), nulls: .last)])
            #expect(try await rows(query, in: stored) == rows(query, in: memory), "\(query.predicate)")
        }
    }

    private static let names = ["whole", "real", "exact", "text", "moment", "flag"]

    private func rows(_ query: StoreQuery, in store: some Store) async throws -> [Int64] {
        try await store.read { reader in
            var rows: [Int64] = []
            try await reader.fetch(query, batchRowCount: 7) { rows += $0.map(\.row) }
            return rows
        }
    }

    private func predicate(_ depth: Int, _ random: inout SeededRandom) -> RecordPredicate {
        let slot = Int.random(in: 0..<6, using: &random)
        let key = Key(Self.names[slot])
        switch Int.random(in: 0..<(depth == 0 ? 4 : 7), using: &random) {
        case 0: return .isNull(key)
        case 1: return .isIn(key, (0..<3).map { _ in value(slot, &random) }.filter { !$0.isNull })
        case 2: return Key("text").contains(["a", "é", "", "b%"][Int.random(in: 0..<4, using: &random)])
        case 3:
            let comparisons = Comparison.allCases
            return .comparison(
                key, comparisons[Int.random(in: 0..<comparisons.count, using: &random)], value(slot, &random))
        case 4: return .not(predicate(depth - 1, &random))
        case 5: return predicate(depth - 1, &random) && predicate(depth - 1, &random)
        default: return predicate(depth - 1, &random) || predicate(depth - 1, &random)
        }
    }

    private func value(_ slot: Int, _ random: inout SeededRandom) -> Value {
        let number = Int.random(in: -3...3, using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 { return .null }
        switch slot {
        case 0: return .int(Int64(number))
        case 1: return .double(Double(number) / 2)
        case 2: return .decimal(Decimal(number * 7) / 4)
        case 3: return .string(["a", "ab", "é", "e\u{301}", "B%", "", "b%a"][number + 3])
        case 4: return .date(Timestamp(microseconds: Int64(number) * 40_000_000_000_000_001))
        default: return .bool(number > 0)
        }
    }
}
