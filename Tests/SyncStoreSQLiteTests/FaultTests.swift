import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQL
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

@Suite(.endsInTime) struct FaultTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    @Test func aFileThatIsNoDatabaseIsRefusedWithSQLitesCode() async throws {
        try Data(repeating: 7, count: 4096).write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: SQLiteError.self) { try await SQLiteStore(exactly: model(), at: .file(path)) }
        #expect(error?.primaryCode == 26)
    }

    @Test(arguments: [
        ("PRAGMA encoding = 'UTF-16le'; CREATE TABLE other (x)", SQLSchemaError.otherEncoding("UTF-16le")),
        ("CREATE TABLE Person (_id INTEGER PRIMARY KEY)", .missingColumn(table: "Person", column: "id")),
    ])
    func aRefusedFileStaysAsItWas(creation: String, error: SQLSchemaError) async throws {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0).execute(creation)
        let content = try Data(contentsOf: folder.url.appending(path: "store.sqlite"))
        await #expect(throws: error) { try await SQLiteStore(exactly: .people(), at: .file(path)) }
        #expect(try Data(contentsOf: folder.url.appending(path: "store.sqlite")) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.sqlite"])
    }

    @Test func aFullDiskLeavesTheOldState() async throws {
        var options = SQLiteStore.Options()
        options.maximumPageCount = 40
        let store = try await SQLiteStore(exactly: model(), at: .file(path), options: options)
        try await fill(store, 0..<10, nameLength: 10)
        let error = await #expect(throws: SQLiteError.self) { try await fill(store, 10..<2000, nameLength: 1000) }
        #expect(error?.primaryCode == 13)
        #expect(error?.description.contains("nnnn") == false)
        #expect(try await store.read { try await $0.count(StoreQuery("User")) } == 10)
    }

    @Test func aReadOnlyStoreReadsAndRefusesToWrite() async throws {
        let writing = try await SQLiteStore(exactly: model(), at: .file(path))
        try await fill(writing, 0..<3, nameLength: 5)
        let store = try await SQLiteStore(exactly: model(), at: .readOnlyFile(path))
        #expect(try await store.read { try await $0.count(StoreQuery("User")) } == 3)
        let error = await #expect(throws: SQLiteError.self) { try await fill(store, 3..<4, nameLength: 5) }
        #expect(error?.primaryCode == 8)
    }

    @Test func aFileOfANewerModelIsRefused() async throws {
        var options = SQLiteStore.Options()
        options.modelVersion = 2
        _ = try await SQLiteStore(exactly: model(), at: .file(path), options: options)
        await #expect(throws: SQLSchemaError.newer(found: 2, known: 0)) {
            try await SQLiteStore(exactly: model(), at: .file(path))
        }
    }

    @Test func aChangedModelKeepsTheData() async throws {
        let before = try await SQLiteStore(exactly: model(), at: .file(path))
        try await fill(before, 0..<3, nameLength: 5)
        let changed = try DataModel {
            SyncEntity("Person", identity: "id", formerName: "User") {
                SyncAttribute("id", .int64)
                SyncAttribute("fullName", .string, formerName: "name")
                SyncAttribute("age", .int16, default: 7)
            }
        }
        let after = try await SQLiteStore(exactly: changed, at: .file(path))
        let query = StoreQuery("Person", where: PropertyPath("fullName") == "nnnnn" && PropertyPath("age") == 7)
        #expect(try await after.read { try await $0.count(query) } == 3)
    }

    @Test func aChangeThatLosesValuesIsRefused() async throws {
        let store = try await SQLiteStore(exactly: model(), at: .file(path))
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "User"))
            record["id"] = 100_000
            _ = try await transaction.insert(record)
        }
        let narrowed = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int16)
                SyncAttribute("name", .string)
            }
        }
        await #expect(
            throws: SQLSchemaError.unfitValue(
                entity: "User", object: .identity(100_000), attribute: "id", type: .int16, value: 100_000)
        ) {
            try await SQLiteStore(exactly: narrowed, at: .file(path))
        }
        _ = try await SQLiteStore(exactly: model(), at: .file(path))
    }

    private func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
        }
    }

    private func fill(_ store: SQLiteStore, _ ids: Range<Int>, nameLength: Int) async throws {
        let layout = try store.model.layout(of: "User")
        var batch = RecordBatch(of: layout)
        for id in ids {
            batch.beginRecord()
            batch.setInt(Int64(id), at: 0)
            batch.setValue(.string(String(repeating: "n", count: nameLength)), at: 1)
            batch.endRecord()
        }
        let records = batch
        try await store.transaction { transaction in
            _ = try await transaction.merge(MergeRequest(records))
        }
    }
}
