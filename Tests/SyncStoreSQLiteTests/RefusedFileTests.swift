import Foundation
import OneWayTestSupport
import SyncModel
import SyncStoreSQL
import Testing

@testable import SyncStoreSQLite

/// Files that a store refuses.
@Suite struct RefusedFileTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    @Test(arguments: [
        ("PRAGMA encoding = 'UTF-16le'; CREATE TABLE other (x)", SQLSchemaError.otherEncoding("UTF-16le")),
        ("CREATE TABLE Person (_id INTEGER PRIMARY KEY)", .missingColumn(table: "Person", column: "id")),
    ])
    func aRefusedFileStaysAsItWas(creation: String, error: SQLSchemaError) async throws {
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0).execute(creation)
        let content = try Data(contentsOf: folder.url.appending(path: "store.sqlite"))
        await #expect(throws: error) { try await SQLiteStore(.people(), at: .file(path)) }
        #expect(try Data(contentsOf: folder.url.appending(path: "store.sqlite")) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["store.sqlite"])
    }
}
