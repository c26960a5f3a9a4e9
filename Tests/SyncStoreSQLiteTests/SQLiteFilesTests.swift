import Foundation
import OneWayTestLimits
import OneWayTestSupport
import Testing

@testable import SyncStoreSQLite

/// The files of an open connection.
@Suite(.endsInTime) struct SQLiteFilesTests {
    /// The first check has nothing to compare the file with but the connection.
    @Test(arguments: [false, true]) func aFileThatWasReplacedBeforeTheFirstCheckIsNoticed(isReplaced: Bool) throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "store.sqlite")
        let connection = try SQLiteConnection(path: url.path, isReadOnly: false, busyTimeout: 1000)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        if isReplaced {
            let other = folder.url.appending(path: "other.sqlite")
            try FileManager.default.moveItem(at: url, to: other)
            try FileManager.default.copyItem(at: other, to: url)
        }
        try connection.execute("BEGIN; SELECT * FROM t")
        let files = SQLiteFiles(of: url.path)
        var isKnown = true
        do { try files.check(connection) } catch { isKnown = false }
        #expect(isKnown == !isReplaced)
    }
}
