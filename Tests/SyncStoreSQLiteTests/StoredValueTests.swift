import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Values as the store, selections and merges have them, also those that other programs wrote.
@Suite(.endsInTime) struct StoredValueTests {
    private let folder: TemporaryDirectory
    private let path: String
    private let store: SQLiteStore
    private static let types: [AttributeType] = [.bool, .int64, .date, .double, .string, .decimal, .binary, .uuid]

    init() async throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
        let types = Self.types
        store = try await SQLiteStore(
            exactly:
                DataModel {
                    SyncEntity("Item", identity: "id") {
                        SyncAttribute("id", .int64)
                        for type in types { SyncAttribute("a_\(type.rawValue)", type) }
                    }
                }, at: .file(path))
    }

    private func run(_ statements: String) throws {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 1000).execute(statements)
    }

    /// The values of an attribute in the order of the identities, as a selection has them.
    private func selected(_ type: AttributeType) async throws -> [AttributeValue?] {
        let query = StoreQuery("Item", orderedBy: [Ordering("id")])
        let selection = StoreSelection(query, columns: [.value(PropertyPath("a_\(type.rawValue)"))])
        return try await store.read { reader in
            let values = Locked<[AttributeValue?]>([])
            try await (reader as? any StoreSelection.Reader)?.selectRows(selection, batchRowCount: 2) { batch in
                values.withLock { $0 += (0..<batch.count).map { batch.value(row: $0, column: 0) } }
            }
            return values.withLock(\.self)
        }
    }

    private func read(_ type: AttributeType) async throws -> [AttributeValue?] {
        try await store.records(StoreQuery("Item", orderedBy: [Ordering("id")])).map { $0.record["a_\(type.rawValue)"] }
    }

    private static let stored: [(type: AttributeType, stored: String)] = [
        (.bool, "0, 1, 2, 1.0, 'x', NULL"), (.int64, "7, 1.5, 2.0, 'x', x'01', NULL"),
        (.date, "'2014-02-14T00:00:00.000000Z', 'never', -5, 0.5, x'00', x'0000000000000007', NULL"),
        (.double, "0.5, 3, NULL"), (.string, "'a', '', NULL"),
        (.decimal, "'1.5', 'x', '340282366920938463463374607431768211455', NULL"), (.binary, "x'0102', x'', NULL"),
        (.uuid, "'6F9619FF-8B86-D011-B42D-00C04FC964FF', 'x', NULL"),
    ]

    private static func values(_ type: AttributeType) throws -> [AttributeValue] {
        switch type {
        case .bool: return [false, true, .null, true, .null, .null]
        case .int64: return [7, .null, 2, .null, .null, .null]
        case .date:
            let moments: [Int64?] = [1_392_336_000_000_000, nil, -5, 500_000, nil, 7, nil]
            return moments.map { $0.map { .date(Timestamp(microseconds: $0)) } ?? .null }
        case .double: return [.double(0.5), .double(3), .null]
        case .string: return ["a", "", .null]
        case .decimal:
            let large = try #require(Decimal(string: "340282366920938463463374607431768211455"))
            return [.decimal(Decimal(1.5)), .null, .decimal(large), .null]
        case .binary: return [.binary(Data([1, 2])), .binary(Data()), .null]
        default: return [.uuid(try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))), .null, .null]
        }
    }

    @Test(arguments: stored)
    func valuesAreReadAndSelectedTheSame(type: AttributeType, stored: String) async throws {
        let values = try Self.values(type)
        for (place, value) in stored.components(separatedBy: ", ").enumerated() {
            try run("INSERT INTO Item (id, a_\(type.rawValue)) VALUES (\(place), \(value))")
        }
        #expect(try await read(type) == values)
        #expect(try await selected(type) == values)
    }

    @Test func whatIsNoNumberIsNull() async throws {
        func merge(_ values: [AttributeValue]) async throws -> [MergeRequest.Result.Change?] {
            var batch = RecordBatch(of: store.model.layouts[0])
            for (id, value) in values.enumerated() {
                batch.beginRecord()
                batch.setInt(Int64(id), at: 0)
                batch.setValue(value, at: 1 + Self.types.firstIndex(of: .double)!)
                batch.endRecord()
            }
            let request = MergeRequest(batch)
            return try await store.transaction { try await $0.merge(request).rows.map { $0?.change } }
        }
        #expect(try await merge([.double(.nan), .double(1), .null]) == [.inserted, .inserted, .inserted])
        #expect(try await merge([.double(.nan), .double(.nan), .double(.nan)]) == [.unchanged, .updated, .unchanged])
        #expect(try await read(.double) == [.null, .null, .null])
        #expect(try await merge([.double(-0.5), .double(.infinity), .null]) == [.updated, .updated, .unchanged])
        #expect(try await selected(.double) == [.double(-0.5), .double(.infinity), .null])
    }

    @Test func numbersOfObjectsGoOnAfterTheHighest() async throws {
        func insert(_ id: Int64) async throws -> ObjectID {
            var record = Record(of: store.model.layouts[0])
            record["id"] = .int(id)
            let item = record
            return try await store.transaction { try await $0.insert(item) }
        }
        try run("INSERT INTO Item (_id, id) VALUES (-5, 0)")
        #expect(try await insert(1) == 1)
        try run("INSERT INTO Item (_id, id) VALUES (\(Int64.max - 1), 2)")
        #expect(try await insert(3) == .max)
        let error = await #expect(throws: SQLiteError.self) { _ = try await insert(4) }
        #expect(error == SQLiteError(code: SQLiteError.Code.full, message: "no object numbers are left"))
        #expect(try await store.count(StoreQuery("Item")) == 4)
    }

    @Test func aSelectionThatWasBrokenOffBeginsAnew() async throws {
        struct Broken: Error {}
        try run("INSERT INTO Item (id) VALUES (1), (2), (3), (4)")
        let query = StoreQuery("Item", orderedBy: [Ordering("id")])
        let selection = StoreSelection(query, columns: [.value(PropertyPath("id"))])
        func ids(upTo limit: Int) async throws -> [AttributeValue?] {
            let values = Locked<[AttributeValue?]>([])
            try? await store.read { reader in
                try await (reader as? any StoreSelection.Reader)?.selectRows(selection, batchRowCount: 1) { batch in
                    let count = values.withLock { values in
                        values.append(batch.value(row: 0, column: 0))
                        return values.count
                    }
                    if count == limit { throw Broken() }
                }
            }
            return values.withLock(\.self)
        }
        #expect(try await ids(upTo: 2) == [1, 2])
        #expect(try await ids(upTo: 9) == [1, 2, 3, 4])
        try run("INSERT INTO Item (id) VALUES (5)")
        #expect(try await ids(upTo: 3) == [1, 2, 3])
        #expect(try await ids(upTo: 9) == [1, 2, 3, 4, 5])
    }

    @Test func patternsNeverMatchNull() async throws {
        try run("INSERT INTO Item (id, a_string) VALUES (1, 'abc'), (2, NULL), (3, ''), (4, 'b')")
        func ids(_ text: String) async throws -> [AttributeValue?] {
            let query = StoreQuery("Item", where: try RecordPredicate(parsing: text), orderedBy: [Ordering("id")])
            return try await store.records(query).map { $0.record["id"] }
        }
        #expect(try await ids("a_string like '%b%'") == [1, 4])
        #expect(try await ids("not a_string like '%b%'") == [3])
        #expect(try await ids("a_string like '%'") == [1, 3, 4])
        #expect(try await ids("a_string like ''") == [3])
    }

    @Test func averagesCountEveryNumberOnce() async throws {
        try run("INSERT INTO Item (id, a_double, a_int64) VALUES (1, 1.5, 1), (2, 2.5, 4), (3, NULL, NULL), (4, 3, 4)")
        let columns: [StoreSelection.Column] = [
            .aggregate(.average, PropertyPath("a_double")), .aggregate(.average, PropertyPath("a_int64")),
            .aggregate(.sum, PropertyPath("a_double")), .aggregate(.sum, PropertyPath("a_int64")),
            .aggregate(.average, PropertyPath("a_decimal")),
        ]
        let selection = StoreSelection(StoreQuery("Item"), columns: columns)
        let values = try await store.read { reader in
            let values = Locked<[AttributeValue?]>([])
            try await (reader as? any StoreSelection.Reader)?.selectRows(selection, batchRowCount: 9) { batch in
                values.withLock { $0 += (0..<columns.count).map { batch.value(row: 0, column: $0) } }
            }
            return values.withLock(\.self)
        }
        let expected: [AttributeValue?] = [.double(7.0 / 3), .double(3), .double(7), .int(9)]
        #expect(Array(values.prefix(4)) == expected)
    }
}
