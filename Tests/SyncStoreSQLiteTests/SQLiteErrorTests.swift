import Foundation
import OneWayTestLimits
import SyncStoreSQL
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

@Suite(.endsInTime) struct SQLiteErrorTests {
    @Test func boundValuesAreForDebuggingAlone() throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        try connection.execute("CREATE TABLE user (email TEXT UNIQUE)")
        let insertion = try connection.prepare("INSERT INTO user VALUES (?)")
        try insertion.run([.text("ada@example.com")])
        let error = #expect(throws: SQLiteError.self) { try insertion.run([.text("ada@example.com")]) }
        #expect(error?.code == 2067)
        #expect(
            error?.description
                == "SQLite: UNIQUE constraint failed: user.email (code 2067) in: INSERT INTO user VALUES (?)")
        #expect(error?.debugDescription.hasSuffix("INSERT INTO user VALUES ('ada@example.com')") == true)
        // Without values, both are the same.
        let other = #expect(throws: SQLiteError.self) { try connection.execute("SELECT nothing") }
        #expect(other?.debugDescription == other?.description)
    }

    @Test func anErrorOfTheFileNamesIt() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "store.sqlite")
        try Data(repeating: 7, count: 4096).write(to: file)
        let error = await #expect(throws: SQLiteError.self) {
            _ = try await SQLiteStore(exactly: .people(), at: .file(file.path))
        }
        #expect(error?.primaryCode == SQLiteError.Code.notADatabase)
        #expect(error?.message == "\(file.path): file is not a database")
    }

    @Test(
        arguments: [
            (779, "database disk image is malformed", "SQLiteStore.repair(at:) or the statement REINDEX"),
            (11, "database disk image is malformed", "PRAGMA integrity_check"),
            (11, "malformed database schema (a) - unsafe use of json_valid()", "SQLiteStore.Options.trustsSchema"),
        ] as [(Int32, String, String)])
    func theErrorOfADamagedFileSaysHowToGoOn(code: Int32, message: String, advice: String) {
        #expect(SQLiteError(code: code, message: message).description.contains(advice))
    }

    /// A trigger can quote the values of a row.
    @Test func theMessageOfATriggerIsForDebuggingOnly() throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        let connection = try SQLiteConnection(path: path, isReadOnly: false, busyTimeout: 0)
        try connection.execute(
            """
            CREATE TABLE user (email TEXT);
            CREATE TRIGGER guard BEFORE INSERT ON user BEGIN SELECT RAISE(ABORT, 'no ada@example.com'); END
            """)
        let insertion = try connection.prepare("INSERT INTO user VALUES (?)")
        let error = #expect(throws: SQLiteError.self) { try insertion.run([.text("ada@example.com")]) }
        #expect(
            error?.description == "SQLite: a trigger raised an error (code 1811) in: INSERT INTO user VALUES (?)")
        #expect(error?.debugDescription.contains("no ada@example.com") == true)
    }

    @Test(arguments: [(5, true), (261, true), (6, true), (262, true), (1, false), (13, false), (2067, false)])
    func locksOfOthersAreWorthAnotherAttempt(code: Int32, isRetryable: Bool) {
        #expect(SQLiteError(code: code, message: "").isRetryable == isRetryable)
    }
}
