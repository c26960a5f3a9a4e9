import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Tables that are filled without the index of their identities, which are in no order.
@Suite(.endsInTime) struct FillingTests {
    private static func model(_ type: AttributeType) throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", type)
                SyncAttribute("name", .string)
            }
        }
    }

    private static func batch(_ ids: [Int], name: String = "a", _ type: AttributeType = .int64) throws -> RecordBatch {
        var batch = RecordBatch(of: try model(type).layout(of: "User"))
        for id in ids {
            batch.beginRecord()
            batch.setValue(type == .string ? .string("user \(id)") : .int(Int64(id)), at: 0)
            batch.setValue(.string(name), at: 1)
            batch.endRecord()
        }
        return batch
    }

    /// A part of the numbers below 20,011, in no order.
    private static func ids(_ part: Int) -> [Int] {
        (part * 2000..<(part + 1) * 2000).map { ($0 + 1) * 7919 % 20_011 }
    }

    private func withStore(
        _ type: AttributeType = .int64, _ body: (SQLiteStore) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "users").path
        try await body(try await SQLiteStore(exactly: try Self.model(type), at: .file(path)))
    }

    /// The statement of the index, and what SQLite says of the whole file.
    private func checkIndex(_ store: SQLiteStore) async throws {
        let rows = try await store.sql { reader in
            try await reader.rows("SELECT sql FROM sqlite_master WHERE type = 'index'")
                + reader.rows("SELECT * FROM pragma_integrity_check")
        }
        #expect(rows.first?["sql"] == .string(#"CREATE UNIQUE INDEX "User_identity" ON "User" ("id")"#))
        #expect(rows.last?["integrity_check"] == .string("ok"))
    }

    @Test(arguments: [AttributeType.int64, .string])
    func allObjectsAreStoredAndFoundAgain(type: AttributeType) async throws {
        try await withStore(type) { store in
            for (change, name) in [(MergeRequest.Result.Change.inserted, "a"), (.unchanged, "a"), (.updated, "b")] {
                try await store.transaction { transaction in
                    for part in 0..<5 {
                        let batch = try Self.batch(Self.ids(part), name: name, type)
                        let rows = try await transaction.merge(MergeRequest(batch)).rows
                        #expect(rows.allSatisfy { $0?.change == change })
                    }
                }
                #expect(try await store.count(StoreQuery("User")) == 10_000)
                try await checkIndex(store)
            }
        }
    }

    @Test func theIndexIsGoneMeanwhile() async throws {
        try await withStore { store in
            try await store.transaction { transaction in
                _ = try await transaction.merge(MergeRequest(Self.batch(Self.ids(0))))
                _ = try await transaction.merge(MergeRequest(Self.batch([7])))
            }
            try await checkIndex(store)
            await #expect(throws: TestError.self) {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(Self.batch(Self.ids(1))))
                    throw TestError("rolled back")
                }
            }
            try await checkIndex(store)
        }
    }

    @Test func anIdentityThatComesAgainFindsItsObject() async throws {
        try await withStore { store in
            try await store.transaction { transaction in
                let first = try await transaction.merge(MergeRequest(Self.batch(Self.ids(0)))).objects
                let again = Self.ids(1) + [Self.ids(0)[5]]
                let rows = try await transaction.merge(MergeRequest(Self.batch(again, name: "b"))).rows
                #expect(rows.count { $0?.change == .inserted } == 2000)
                #expect(rows.last??.change == .updated && rows.last??.object == first[5])
                let third = try await transaction.merge(MergeRequest(Self.batch(Self.ids(1)))).rows
                #expect(third.allSatisfy { $0?.change == .updated })
            }
            #expect(try await store.count(StoreQuery("User")) == 4000)
            try await checkIndex(store)
        }
    }

    @Test func objectsAreFoundMeanwhile() async throws {
        try await withStore { store in
            try await store.transaction { transaction in
                let first = try await transaction.merge(MergeRequest(Self.batch(Self.ids(0)))).objects
                #expect(try await transaction.find(Self.batch([Self.ids(0)[9], 20_010])) == [first[9], nil])
                _ = try await transaction.merge(MergeRequest(Self.batch(Self.ids(1))))
                #expect(try await transaction.count(StoreQuery("User")) == 4000)
                let query = StoreQuery("User", where: PropertyPath("id") == Self.ids(1)[3])
                #expect(try await transaction.remove(query).counts["User"] == 1)
            }
            #expect(try await store.count(StoreQuery("User")) == 3999)
            try await checkIndex(store)
        }
    }

    @Test func anErrorLeavesTheIndex() async throws {
        try await withStore { store in
            await #expect(throws: TestError.self) {
                try await store.transaction { transaction in
                    _ = try await transaction.merge(MergeRequest(Self.batch(Self.ids(0))))
                    throw TestError("rolled back")
                }
            }
            try await checkIndex(store)
            _ = try await store.transaction { try await $0.merge(MergeRequest(Self.batch(Self.ids(0)))) }
            #expect(try await store.count(StoreQuery("User")) == 2000)
            try await checkIndex(store)
        }
    }

    @Test(arguments: [
        "CREATE TABLE likes (user integer REFERENCES user (ID))",
        """
        CREATE TABLE log (id); CREATE TRIGGER logged AFTER INSERT ON user BEGIN \
        INSERT INTO User (id) VALUES (NEW.id) ON CONFLICT (id) DO NOTHING; INSERT INTO log VALUES (NEW.id); END
        """,
    ])
    func whatOthersHaveAddedKeepsTheIndex(addition: String) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "users").path
        let model = try Self.model(.int64)
        _ = try await SQLiteStore(exactly: model, at: .file(path))
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
            .execute(addition)
        let store = try await SQLiteStore(exactly: model, at: .file(path))
        _ = try await store.transaction { try await $0.merge(MergeRequest(Self.batch(Self.ids(0)))) }
        #expect(try await store.count(StoreQuery("User")) == 2000)
        try await checkIndex(store)
    }

    @Test func hashesAreKnownInAllRuns() throws {
        var known = HashedIdentities()
        let count: UInt64 = 600_000
        for number in 0..<count { try known.insert(number &* 0x9E37_79B9_7F4A_7C15) }
        for number in stride(from: 0, to: count, by: 977) {
            #expect(try known.contains(number &* 0x9E37_79B9_7F4A_7C15))
            #expect(try !known.contains((number + count) &* 0x9E37_79B9_7F4A_7C15))
        }
    }
}
