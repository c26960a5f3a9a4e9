import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// Statements that would run for ever, and are broken off.
@Suite(.endsInTime) struct SQLiteCancellationTests {
    private let folder: TemporaryDirectory
    private let path: String
    private let store: SQLiteStore

    init() async throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
        }
        store = try await SQLiteStore(exactly: model, at: .file(path))
        // An insertion of -1 goes on without end, and shows that it does so by the growth of the
        // log.
        let connection = try connection()
        try connection.execute(
            """
            CREATE TABLE sink (content TEXT);
            CREATE TRIGGER endless AFTER INSERT ON User WHEN new.id = -1 BEGIN
                INSERT INTO sink SELECT hex(randomblob(10000)) FROM
                    (WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers) SELECT n FROM numbers);
            END
            """)
    }

    @Test func aRunningStatementIsBrokenOff() async throws {
        try await put(1)
        let hasEnded = Gate()
        let task = Task {
            defer { hasEnded.open() }
            try await put(-1)
        }
        while try logSize() < 20 << 20, !hasEnded.isOpen { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.count(StoreQuery("User")) == 1)
        #expect(try connection().integer("SELECT count(*) FROM sink") == 0)
        try await put(2)
        #expect(try await store.count(StoreQuery("User")) == 2)
    }

    @Test func aReadIsBrokenOff() async throws {
        try await put(1)
        let connection = try connection()
        let selection =
            "(SELECT count(*) FROM (WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n))"
        try connection.execute(
            "ALTER TABLE User RENAME TO Users; CREATE VIEW User AS SELECT _id, \(selection) AS id, name FROM Users")
        let gate = Gate()
        let store = self.store
        let task = Task {
            try await store.read { reader in
                gate.open()
                return try await reader.count(StoreQuery("User", where: PropertyPath("id") == 1))
            }
        }
        try await gate.pass(orEndOf: task)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancellationInterruptsACustomStatement() async throws {
        let gate = Gate()
        let store = self.store
        let task = Task {
            try await store.sql { reader in
                gate.open()
                return try await reader.rows(
                    "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n")
            }
        }
        try await gate.pass(orEndOf: task)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func theWaitForAnotherProcessIsBrokenOff() async throws {
        var options = SQLiteStore.Options()
        options.busyTimeout = .seconds(3600)
        let store = try await SQLiteStore(exactly: store.model, at: .file(path), options: options)
        let other = try connection()
        try other.execute("BEGIN IMMEDIATE")
        let task = Task { try await store.transaction { try await $0.count(StoreQuery("User")) } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let gate = Gate()
        let waiting = Task {
            gate.open()
            return try await store.transaction { try await $0.count(StoreQuery("User")) }
        }
        try await gate.pass(orEndOf: waiting)
        for _ in 0..<1000 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try other.execute("ROLLBACK")
        #expect(try await store.transaction { try await $0.count(StoreQuery("User")) } == 0)
    }

    /// Each cancelled somewhere, the others not at all.
    @Test func aCancellationBreaksOffNoOtherTransaction() async throws {
        let store = self.store
        for round in 0..<100 {
            let cancelled = Task { try await put(Int64(1000 + round)) }
            let other = Task {
                try await store.transaction { transaction in
                    _ = try await transaction.insert(record(Int64(round)))
                    for _ in 0..<5 {
                        _ = try await transaction.count(StoreQuery("User", where: PropertyPath("name") != "x"))
                    }
                }
            }
            for _ in 0..<(round % 20) { await Task.yield() }
            cancelled.cancel()
            _ = await cancelled.result
            try await other.value
        }
        #expect(try await store.count(StoreQuery("User", where: PropertyPath("id") < 1000)) == 100)
    }

    private func connection() throws -> SQLiteConnection {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 1000)
    }

    private func logSize() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    }

    private func put(_ id: Int64) async throws {
        let user = try record(id)
        try await store.transaction { _ = try await $0.insert(user) }
    }

    private func record(_ id: Int64) throws -> Record {
        var record = Record(of: try store.model.layout(of: "User"))
        record["id"] = .int(id)
        return record
    }
}
