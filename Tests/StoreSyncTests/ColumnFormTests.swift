import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Columns of existing tables of PostgreSQL that hold only some values of their attribute.
@Suite(.endsInTime) struct ColumnFormTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let column: String
        let type: AttributeType
        /// JSON values that the column holds exactly.
        let held: [String]
        /// JSON values that it would change or that it does not have.
        let unheld: [String]
        var preparation = ""

        var testDescription: String { column }
    }

    static let cases = [
        Case(
            column: "varchar(5)", type: .string, held: [#""abcde""#, #""ab   ""#, #""ä😀""#, #""""#],
            unheld: [#""abcde ""#, #""abcdef""#, #""      ""#]),
        Case(
            column: "numeric(10,2)", type: .decimal, held: ["12345678.25", "-0.5", "1.20", "0"],
            unheld: ["1.234", "123456789", "-0.001"]),
        Case(column: "numeric(3)", type: .decimal, held: ["999", "-1"], unheld: ["1000", "0.5"]),
        Case(
            column: "price", type: .decimal, held: ["1.5"], unheld: ["1.55"],
            preparation: "CREATE DOMAIN price AS numeric(4,1)"),
        Case(
            column: "date", type: .date, held: [#""2024-05-06T00:00:00Z""#, #""0001-01-01T00:00:00Z""#],
            unheld: [#""2024-05-06T10:00:00Z""#, #""2024-05-06T00:00:00.000001Z""#]),
        Case(
            column: "timestamp(0) without time zone", type: .date, held: [#""2024-05-06T10:11:12Z""#],
            unheld: [#""2024-05-06T10:11:12.5Z""#]),
        Case(
            column: "timestamp(3) with time zone", type: .date, held: [#""2024-05-06T10:11:12.125Z""#],
            unheld: [#""2024-05-06T10:11:12.0625Z""#]),
        Case(
            column: "mood", type: .string, held: [#""calm""#, #""very wild""#], unheld: [#""angry""#, #""calm ""#],
            preparation: "CREATE TYPE mood AS ENUM ('calm', 'very wild')"),
        Case(
            column: "citext", type: .string, held: [#""Ab""#, #""AB""#, #""ab ""#], unheld: [],
            preparation: "CREATE EXTENSION citext"),
        Case(column: "smallint", type: .int64, held: ["32767", "-32768"], unheld: ["32768"]),
        Case(column: "integer", type: .int64, held: ["2147483647"], unheld: ["-2147483649"]),
    ]

    private static func model(_ type: AttributeType) throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("value", type)
            }
        }
    }

    private static func sync(
        _ values: [String], _ store: any Store, setsRefusedAside: Bool = false
    ) async throws -> StoreSyncResult {
        let objects = values.enumerated().map { #"{"id":\#($0.offset + 1),"value":\#($0.element)}"# }
        let json = try JSONStore(store, mapper: try RecordMapper(store.model))
        var options = StoreSyncOptions()
        options.setsRefusedAside = setsRefusedAside
        return try await json.sync(
            .bytes(Array("[\(objects.joined(separator: ","))]".utf8)), into: "User", options: options)
    }

    /// An identity with surplus blanks would be another object's after the column has cut them.
    @Test(arguments: UniqueDatabase.sql)
    func anIdentityThatItsColumnWouldCutIsRefused(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            guard !database.isSQLite else { return }
            try await database.make("User", "id varchar(3)")
            let model = try DataModel { SyncEntity("User", identity: "id") { SyncAttribute("id", .string) } }
            let store = try await database.open(model)
            let json = try JSONStore(store, mapper: try RecordMapper(store.model))
            let payload = Array(#"[{"id":"abc"},{"id":"abc "},{"id":"d  "}]"#.utf8)
            do {
                _ = try await json.sync(.bytes(payload), into: "User")
                Issue.record("nothing was refused")
            } catch StoreError.refused(let refusal) {
                #expect(refusal.reason == .unfit && refusal.attributes == ["id"] && refusal.index == 1)
            }
            for count in [0, 2] {
                var options = StoreSyncOptions()
                options.setsRefusedAside = true
                let result = try await json.sync(.bytes(payload), into: "User", options: options)
                #expect(result.rejectedCount == 1 && result.counts.unchanged == count)
            }
        }
    }

    @Test(arguments: UniqueDatabase.sql, cases)
    func aValueIsHeldExactlyOrRefused(kind: UniqueDatabase.Kind, item: Case) async throws {
        try await kind.use { database in
            guard !database.isSQLite else { return }
            if !item.preparation.isEmpty { try await database.run(item.preparation) }
            try await database.make("User", "id bigint NOT NULL, value \(item.column)")
            let store = try await database.open(try Self.model(item.type))
            let count = item.held.count
            // In memory, the same values are the reference.
            let reference = MemoryStore(exactly: store.model)
            _ = try await Self.sync(item.held, reference)
            for values in [item.held, item.held.reversed() + ["null"], item.held] {
                _ = try await Self.sync(values, store)
                #expect(try await Self.sync(values, store).counts.unchanged == values.count)
            }
            let query = StoreQuery("User", orderedBy: [Ordering("id")])
            let expected = try await reference.records(query).map { $0.record["value"] }
            #expect(try await store.records(query).map { $0.record["value"] } == expected)
            for value in expected {
                #expect(try await store.count(StoreQuery("User", where: PropertyPath("value") == value)) == 1)
            }
            let sorted = StoreQuery("User", orderedBy: [Ordering("value")])
            #expect(
                try await store.records(sorted).map { $0.record["value"] }
                    == (try await reference.records(sorted).map { $0.record["value"] }))
            for value in item.unheld {
                // As the value of a stored object, and of a new one.
                for place in [0, count] {
                    var values = item.held
                    if place < count { values[place] = value } else { values.append(value) }
                    do {
                        _ = try await Self.sync(values, store)
                        Issue.record("\(value) was not refused")
                    } catch StoreError.refused(let refusal) {
                        #expect(refusal.reason == .unfit && refusal.attributes == ["value"], "\(refusal)")
                        #expect(refusal.key == .identity(Int64(place + 1)) && refusal.index == place, "\(refusal)")
                    }
                    let result = try await Self.sync(values, store, setsRefusedAside: true)
                    #expect(result.rejectedCount == 1 && result.rejected.first?.index == place)
                    #expect(try await store.records(query).map { $0.record["value"] } == expected)
                }
            }
        }
    }
}
