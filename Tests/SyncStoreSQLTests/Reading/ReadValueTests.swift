import Foundation
import OneWayStoreKinds
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Values are the same however they are read.
@Suite(.endsInTime) struct ReadValueTests {
    private static let values: [(AttributeType, [AttributeValue])] = [
        (.bool, [.bool(true), .bool(false)]), (.int16, [.int(-32_768), .int(32_767)]),
        (.int32, [.int(-2_147_483_648), .int(7)]), (.int64, [.int(.min), .int(.max)]),
        (.double, [.double(-.infinity), .double(0.1)]), (.float, [.double(0.5), .double(-1024)]),
        (.decimal, [.decimal(Decimal(-1) / 8), .decimal(100)]), (.string, ["", "a\u{0}é"]),
        (.date, [.date(Timestamp(microseconds: -1)), .date(Timestamp(microseconds: 1_700_000_000_000_001))]),
        (.binary, [.binary(Data()), .binary(Data([0, 255]))]),
        (.uuid, [.uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .uuid(UUID())]),
        (.uri, [.uri("https://example.com/?a=b"), .uri("urn:x")]),
        (.json, [#"{"a":[1,null]}"#, "7"].map { CanonicalJSON($0).map { .json($0) } ?? .null }),
    ]

    @Test(arguments: StoreKind.all) func recordsAndSelectionsHaveTheSameValues(kind: StoreKind) async throws {
        let model = try DataModel([
            SyncEntity(
                "Thing", identity: ["id"],
                attributes: [SyncAttribute("id", .int64)]
                    + Self.values.map { SyncAttribute("a_\($0.0.rawValue)", $0.0) },
                relationships: [])
        ])
        try await kind.use { makeStore in
            let store = try await makeStore(model)
            let layout = try store.model.layout(of: "Thing")
            try await store.transaction { transaction in
                for id in 0...2 {
                    var record = Record(of: layout)
                    record["id"] = .int(Int64(id))
                    // The third object has none.
                    for (type, values) in Self.values where id < 2 { record["a_\(type.rawValue)"] = values[id] }
                    try await transaction.insert(record)
                }
            }
            let query = StoreQuery("Thing", orderedBy: [Ordering("id")])
            for (type, values) in Self.values {
                let name = "a_\(type.rawValue)"
                let read = try await store.read { reader in
                    let selection = StoreSelection(
                        query, columns: [.value(PropertyPath("id")), .value(PropertyPath(name))])
                    return [
                        try await reader.records(query).map { $0.record[name] },
                        try await reader.rows(selection).map { $0[1] },
                    ]
                }
                #expect(read == [values + [.null], values + [.null]], "\(name)")
            }
        }
    }

    /// The values of objects that are there before the attribute.
    @Test func defaultsOfNewAttributesAreExact() async throws {
        let folder = try TemporaryDirectory()
        let location = SQLiteStore.Location.file(folder.url.appending(path: "store.sqlite").path)
        let defaults: [(AttributeType, AttributeValue)] = [
            (.double, .double(-.infinity)), (.double, .double(.infinity)), (.double, .double(0.1)),
            (.double, .double(-0.0)), (.bool, .bool(true)), (.int64, .int(.min)), (.string, "it's"),
        ]
        func model(_ count: Int) throws -> DataModel {
            let added = defaults.prefix(count).enumerated().map { index, pair in
                SyncAttribute("a\(index)", pair.0, optional: false, default: pair.1)
            }
            return try DataModel([
                SyncEntity(
                    "Thing", identity: ["id"], attributes: [SyncAttribute("id", .int64)] + added, relationships: [])
            ])
        }
        for count in 0...defaults.count {
            let store = try await SQLiteStore(exactly: try model(count), at: location)
            if count == 0 {
                var record = Record(of: try store.model.layout(of: "Thing"))
                record["id"] = 1
                let first = record
                _ = try await store.transaction { try await $0.insert(first) }
            }
            let stored = try await store.records(StoreQuery("Thing"))
            #expect(stored.map { Array($0.record.values.dropFirst()) } == [defaults.prefix(count).map(\.1)])
        }
    }
}
