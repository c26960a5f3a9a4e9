#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Extreme values of each type, beside a store in memory.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresValueTests {
    static let values: [(type: AttributeType, values: [AttributeValue])] = [
        (
            .double,
            [0.1, -0.0, 0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1 + 0.2, 1e22]
                .map { .double($0) }
        ),
        (
            .float,
            [0.1, -0.0, .greatestFiniteMagnitude, .leastNonzeroMagnitude].map { (value: Float) in .double(Double(value))
            }
        ),
        (.int64, [.min, .max, 0, -1].map { .int($0) }), (.int16, [-32768, 32767, 0].map { .int($0) }),
        (
            .decimal,
            [
                "0", "1.5", "-1.50", "99999999999999999999999999999999999999",
                "0.00000000000000000000000000000000000001",
                "-123456789012345678901234567890.12345678", "1e100", "1e-100", "10000", "0.0001",
            ].compactMap { Decimal(string: $0).map { .decimal($0) } }
        ),
        (
            .string,
            [
                "", " ", "a ", "a", "A", "\u{0}", "\u{1}", "a\u{301}", "\u{e1}", "\\", "'", "\u{FFFF}", "\u{10FFFF}",
                "%", "_",
            ]
            .map { .string($0) }
        ),
        (.string, [.string(String(repeating: "x\u{1F600}", count: 200_000))]),
        (
            .date,
            [
                0, 1, -1, 253_402_300_799_999_999, 253_402_300_800_000_000, -62_135_596_800_000_001, .max,
                -210_866_803_200_000_000,
            ]
            .map { .date(Timestamp(microseconds: $0)) }
        ),
        (
            .json,
            [
                "1", "1.0", "-0", "-0.0", "1e400", "1e-400", "1e5000", "123456789012345678901234567890123456789012345",
                "0.10",
                "null", "true", #""\u0000""#, #""\u0001\u0002""#, #"{"\u0000":1,"a":[]}"#, #"{"b":1,"a":2}"#,
                #""\ud83d\ude00""#,
                #""\\u0000""#, #"{"":{"":""}}"#, #""/\u2028""#, "[1,[2,[3]]]", "1E+2", "100", "0.1e-7",
                String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
            ].compactMap { text in
                var text = text
                return text.withUTF8 { CanonicalJSON(utf8: $0) }.map { .json($0) }
            }
        ),
        (.binary, [Data(), Data([0]), Data([0, 255]), Data(repeating: 92, count: 10)].map { .binary($0) }),
        (.bool, [.bool(false), .bool(true)]), (.int32, [.int(-2_147_483_648), .int(2_147_483_647)]),
        (
            .uuid,
            ["00000000-0000-0000-0000-000000000000", "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"].compactMap {
                UUID(uuidString: $0).map { .uuid($0) }
            }
        ),
        (.uri, ["", "a", "http://x/%20?\u{e4}"].map { .uri($0) }),
    ]

    /// A large batch is copied; the values of a small one are in the text of a statement. Either
    /// finds unchanged what the other has written.
    @Test(arguments: values, [[false, true, false], [true, false, true]])
    func valuesAreThoseOfAStoreInMemory(
        cases: (type: AttributeType, values: [AttributeValue]), areLarge: [Bool]
    ) async throws {
        let (type, values) = cases
        try await SharedPostgres.withSchemas { schemas in
            let model = try DataModel {
                SyncEntity("Thing", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("value", type)
                    SyncAttribute("padding", .string)
                }
            }
            let stored = try await PostgresStore(exactly: model, at: schemas.url, options: schemas.emptyStore())
            let memory = MemoryStore(exactly: model)
            func records(isLarge: Bool) throws -> RecordBatch {
                var batch = RecordBatch(of: try model.layout(of: "Thing"))
                func add(_ id: Int64, _ value: AttributeValue, at column: Int) {
                    batch.beginRecord()
                    batch.setInt(id, at: 0)
                    batch.setValue(value, at: column)
                    batch.endRecord()
                }
                for (id, value) in (values + [.null]).enumerated() { add(Int64(id), value, at: 1) }
                if isLarge { add(-1, .string(String(repeating: "p", count: 1 << 16)), at: 2) }
                return batch
            }
            for (turn, isLarge) in areLarge.enumerated() {
                let records = try records(isLarge: isLarge)
                for store in [stored, memory] as [any Store] {
                    let result = try await store.transaction { try await $0.merge(MergeRequest(records)) }
                    let changes = result.rows.prefix(values.count + 1).map { $0?.change }
                    #expect(changes.allSatisfy { $0 == (turn == 0 ? .inserted : .unchanged) })
                }
            }
            let path = PropertyPath("value")
            var queries = [StoreQuery("Thing", orderedBy: [Ordering("id")])]
            if type != .json, type != .binary {
                queries.append(StoreQuery("Thing", orderedBy: [Ordering("value"), Ordering("id")]))
            }
            for value in values {
                queries.append(
                    StoreQuery("Thing", where: .comparison(path, .equal, value), orderedBy: [Ordering("id")]))
                guard type != .json, type != .binary else { continue }
                queries.append(StoreQuery("Thing", where: .comparison(path, .less, value), orderedBy: [Ordering("id")]))
                queries.append(
                    StoreQuery("Thing", where: .comparison(path, .greaterOrEqual, value), orderedBy: [Ordering("id")]))
            }
            for query in queries {
                let found = try await stored.records(query).map(\.record)
                let expected = try await memory.records(query).map(\.record)
                #expect(found.map { $0["id"] } == expected.map { $0["id"] }, "\("\(query)".prefix(300))")
                for (one, other) in zip(found, expected) {
                    #expect(one["value"] == other["value"])
                }
            }
        }
    }

    @Test func aConditionCanHaveMoreValuesThanAStatementHasParameters() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let store = try await PostgresStore(
                exactly:
                    try PostgresWorld.model(), at: schemas.url, options: schemas.emptyStore())
            try await store.put(0..<5)
            let ids = StoreQuery("User", where: .isIn(PropertyPath("id"), (3..<70_003).map { .int($0) }))
            #expect(try await store.count(ids) == 2)
            let names = StoreQuery(
                "User", where: .isIn(PropertyPath("name"), (0..<70_000).map { .string("\($0)") } + ["a"]))
            #expect(try await store.count(names) == 5)
        }
    }
}
#endif
