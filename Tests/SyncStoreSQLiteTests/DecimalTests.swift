import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Decimal numbers, which SQLite keeps as text.
@Suite(.endsInTime) struct DecimalTests {
    private let model: DataModel
    private let folder: TemporaryDirectory

    init() throws {
        model = try DataModel {
            SyncEntity("Price", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("amount", .decimal)
            }
        }
        folder = try TemporaryDirectory()
    }

    private func store() async throws -> SQLiteStore {
        try await SQLiteStore(exactly: model, at: .file(folder.url.appending(path: "store.sqlite").path))
    }

    /// The amounts as they are read with whole records, and as single values.
    private func amounts(_ store: SQLiteStore) async throws -> [[AttributeValue]] {
        let query = StoreQuery("Price")
        let selection = StoreSelection(query, columns: [.value(PropertyPath("amount"))])
        return try await store.read { reader in
            [
                try await reader.records(query).map { $0.record["amount"] },
                try await reader.rows(selection).map { $0[0] },
            ]
        }
    }

    @Test func allDigitsOfADecimalAreReadAndSummed() async throws {
        let numbers = [
            "3.14159265358979323846264338327950288419", "-0.00000000000000000000000000000000000001",
            "99999999999999999999999999999999999999", "99999999999999999999999999999999999999", "0", "1.5",
        ].compactMap { Decimal(string: $0) }
        try #require(numbers.count == 6)
        let (store, memory) = (try await store(), MemoryStore(exactly: model))
        for store in [store, memory] as [any Store] {
            try await store.transaction { transaction in
                for (id, number) in numbers.enumerated() {
                    var record = Record(of: try transaction.model.layout(of: "Price"))
                    record["id"] = .int(Int64(id))
                    record["amount"] = .decimal(number)
                    try await transaction.insert(record)
                }
            }
        }
        let wanted = numbers.map { AttributeValue.decimal($0) }
        #expect(try await amounts(store) == [wanted, wanted])
        let sum = StoreSelection(StoreQuery("Price"), columns: [.aggregate(.sum, PropertyPath("amount"))])
        let found = try await store.read { try await $0.rows(sum) }
        #expect(found == (try await memory.read { try await $0.rows(sum) }))
        #expect(found != [[.null]])
    }

    /// A number in a predicate keeps its digits, and may be beyond all decimals.
    @Test(arguments: [
        ("amount = 12345678901234567890.12345", [1]), ("amount > 9007199254740992.4", [1, 2]),
        ("amount in (9007199254740992.5, 1e400)", [2]), ("not amount in (9007199254740992.5, 1e400)", [1, 3]),
        ("amount < 1e400", [1, 2, 3]), ("amount >= 1e400", []), ("amount != -1e400", [1, 2, 3]),
        ("amount <= -1e200", []), ("not amount = 1e400", [1, 2, 3]), ("id < 9007199254740992.5", [1, 2, 3, 4]),
    ])
    func numbersOfPredicatesAreExact(predicate: String, ids: [Int64]) async throws {
        let numbers = ["12345678901234567890.12345", "9007199254740992.5", "-1", nil]
        for store in [try await store(), MemoryStore(exactly: model)] as [any Store] {
            try await store.transaction { transaction in
                for (index, number) in numbers.enumerated() {
                    var record = Record(of: try transaction.model.layout(of: "Price"))
                    record["id"] = .int(Int64(index + 1))
                    record["amount"] = number.flatMap { Decimal(string: $0) }.map { .decimal($0) } ?? .null
                    try await transaction.insert(record)
                }
            }
            let query = try StoreQuery("Price", where: RecordPredicate(parsing: predicate))
            let found = try await store.read { try await $0.records(query).map { $0.record["id"] } }
            #expect(Set(found) == Set(ids.map { .int($0) }))
        }
    }

    @Test func whatOthersWroteIsReadInOneWay() async throws {
        let store = try await store()
        let texts = ["'1.50'", "'12 EUR'", "'1,5'", "'1e3'", "'.5'", "' 7'", "'NaN'", "''", "7"]
        let rows = texts.enumerated().map { "(\($0 + 1), \($0), \($1))" }.joined(separator: ", ")
        _ = try SQLiteConnection.texts("INSERT INTO Price VALUES \(rows)", at: store.filePath)
        let wanted: [AttributeValue] = [
            .decimal(1.5), .null, .null, .decimal(1000), .null, .null, .null, .null, .decimal(7),
        ]
        #expect(try await amounts(store) == [wanted, wanted])
    }
}
