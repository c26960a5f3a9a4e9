import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Files that others use, or that cannot be opened, while a store opens them.
@Suite(.endsInTime) struct BusyFileTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    /// Another program that reads, in a file without a write-ahead log.
    private func reader() async throws -> SQLiteConnection {
        _ = try await SQLiteStore(exactly: .people(), at: .file(path))
        let other = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        try other.execute("PRAGMA journal_mode = DELETE; BEGIN")
        _ = try other.integer("SELECT count(*) FROM Person")
        return other
    }

    @Test func aLogIsMadeWhenNobodyReadsAnyMore() async throws {
        let other = try await reader()
        var options = SQLiteStore.Options()
        options.busyTimeout = .zero
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(exactly: .people(), at: .file(path), options: options)
        }
        #expect(error?.primaryCode == SQLiteError.Code.busy)
        #expect(error?.statement == "PRAGMA journal_mode = WAL")
        let gate = Gate()
        let opening = Task { [path] in
            gate.open()
            return try await SQLiteStore(exactly: .people(), at: .file(path))
        }
        try await gate.pass(orEndOf: opening)
        for _ in 0..<2000 { _ = try other.integer("SELECT count(*) FROM Person") }
        try other.execute("COMMIT")
        #expect(try await opening.value.count(StoreQuery("Person")) == 0)
        #expect(try SQLiteConnection.texts("PRAGMA journal_mode", at: path) == ["wal"])
    }

    @Test func whatIsNoFaultOfTheFileIsNotExplainedByIt() async throws {
        _ = try await SQLiteStore(exactly: .people(), at: .file(path))
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try FileManager.default.createDirectory(atPath: path + "-wal", withIntermediateDirectories: false)
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(exactly: .people(), at: .file(path))
        }
        #expect(error?.primaryCode == SQLiteError.Code.cannotOpen)
        #expect(error?.message.hasPrefix("unable to open database file") == true)
    }

    @Test func aReadOnlyStoreReadsAFileWithoutALog() async throws {
        let other = try await reader()
        try other.execute("COMMIT; INSERT INTO Person (id, name) VALUES (1, 'a')")
        let store = try await SQLiteStore(exactly: .people(), at: .readOnlyFile(path))
        #expect(try await store.count(StoreQuery("Person")) == 1)
        try other.execute("INSERT INTO Person (id, name) VALUES (2, 'b')")
        // A file without a log has none that could be missing.
        #expect(try await store.count(StoreQuery("Person")) == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.sqlite"])
    }

    /// A copy of the files amid a transaction is what a killed process leaves.
    @Test(arguments: ["store", "note", "copy"])
    func aTransactionThatWasInterruptedIsUndoneByWhoeverReads(door: String) async throws {
        let copy = try await interruptedCopy()
        switch door {
        case "note": #expect(try await SQLiteStore.note(at: copy).isStore)
        case "copy": try await SQLiteStore.copy(copy, to: copy + "-copy")
        default: break
        }
        let first = StoreQuery("Person", where: PropertyPath("id") == 1)
        #expect(try await SQLiteStore(exactly: .people(), at: .readOnlyFile(copy)).count(first) == 1)
        #expect(try await SQLiteStore(exactly: .people(), at: .file(copy)).count(first) == 1)
    }

    @Test func whoUndoesATransactionToReadCannotWrite() async throws {
        let copy = try await interruptedCopy()
        let settings = SQLiteSettings(path: copy, isReadOnly: true, folder: nil, SQLiteStore.Options())
        let connection = try settings.openUnchanged()
        let error = #expect(throws: SQLiteError.self) { try connection.execute("CREATE TABLE mine (a)") }
        #expect(error?.primaryCode == SQLiteError.Code.readOnly)
    }

    /// A superuser may write anywhere.
    @Test(.enabled(if: getuid() != 0, "the system lets root write everywhere"))
    func aTransactionThatCannotBeUndoneIsExplained() async throws {
        let copy = try await interruptedCopy()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: copy)
        let error = await #expect(throws: SQLiteError.self) {
            try await SQLiteStore(exactly: .people(), at: .readOnlyFile(copy))
        }
        #expect(error?.primaryCode == SQLiteError.Code.readOnly)
        #expect(error?.message.contains("the journal of an interrupted transaction") == true)
    }

    private func interruptedCopy() async throws -> String {
        let other = try await reader()
        try other.execute(
            "COMMIT; INSERT INTO Person (id) VALUES (1); PRAGMA cache_size = 1; BEGIN; UPDATE Person SET id = 2; "
                + "CREATE TABLE other AS SELECT zeroblob(100000)")
        let copy = folder.url.appending(path: "copy.sqlite").path
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try FileManager.default.copyItem(atPath: path + "-journal", toPath: copy + "-journal")
        try other.execute("ROLLBACK")
        return copy
    }
}
