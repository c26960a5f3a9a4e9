import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@testable import SyncStoreSQLite

/// Databases whose triggers, views and indexes others may have written.
@Suite(.endsInTime) struct UntrustedFileTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.url.appending(path: "store.sqlite").path
    }

    private func insertPerson(_ options: SQLiteStore.Options) async throws {
        let store = try await SQLiteStore(exactly: .people(), at: .file(path), options: options)
        var batch = RecordBatch(of: try store.model.layout(of: "Person"))
        batch.beginRecord()
        batch.setInt(1, at: 0)
        batch.endRecord()
        let records = batch
        try await store.transaction { _ = try await $0.merge(MergeRequest(records)) }
    }

    /// `pragma_table_info` stands for anything that SQLite does not regard as harmless.
    @Test func aTriggerOfTheFileCannotReachBeyondItUnlessTheFileIsTrusted() async throws {
        _ = try await SQLiteStore(exactly: .people(), at: .file(path))
        try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0).execute(
            """
            CREATE TABLE seen (name TEXT);
            CREATE TRIGGER spy AFTER INSERT ON Person BEGIN
                INSERT INTO seen SELECT name FROM pragma_table_info('Person');
            END
            """)
        var options = SQLiteStore.Options()
        let error = await #expect(throws: SQLiteError.self) { try await insertPerson(options) }
        #expect(error?.description.contains("unsafe use of virtual table") == true, "\(String(describing: error))")
        #expect(error?.description.contains("SQLiteStore.Options.trustsSchema allows it") == true)
        options.trustsSchema = true
        try await insertPerson(options)
        let connection = try SQLiteConnection(path: path, isReadOnly: true, busyTimeout: 0)
        #expect(try connection.integer("SELECT count(*) > 0 FROM seen") == 1)
    }

    @Test(arguments: [
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = sql",
        "CREATE VIRTUAL TABLE words USING fts5 (text); DELETE FROM words_data",
    ])
    func noStatementDamagesTheFile(statement: String) throws {
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        #expect(throws: SQLiteError.self) { try connection.execute(statement) }
    }
}
