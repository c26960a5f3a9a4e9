#if os(macOS) || os(Linux)
import Foundation
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStoreSQLite
import OneWayTestSupport
import Testing

private let command = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
    .map { URL(filePath: $0).appending(path: "sqlite3") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

/// SQLite's own command on a file that a store has written.
@Suite(
    .enabled(if: command != nil, "there is no sqlite3 in /usr/bin, /usr/local/bin or /opt/homebrew/bin"), .endsInTime)
struct CommandLineTests {
    @Test func readsJoinsAndDates() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "store.sqlite").path
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("User") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncAttribute("birthday", .date)
                    SyncRelationship("notes", toMany: "Note", inverse: "user")
                    SyncRelationship("tags", toOrdered: "Tag")
                }
                SyncEntity("Note") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
                SyncEntity("Tag", identity: "name") { SyncAttribute("name", .string) }
            })
        let store = try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
        let json = """
            [{"id": 7, "name": "Zoë", "birthday": "2014-02-14T12:30:00+02:00", "notes": [{"id": 1}, {"id": 2}],
              "tags": [{"name": "b"}, {"name": "a"}]}, {"id": 8}]
            """
        try await store.sync(.bytes(Array(json.utf8)), into: "User")
        #expect(
            try await read(
                "SELECT name, datetime(birthday), strftime('%s', birthday), count(Note.id) FROM User "
                    + "JOIN Note ON Note.user = User._id GROUP BY User._id", at: path)
                == ["Zoë|2014-02-14 10:30:00|1392373800|2"])
        #expect(
            try await read(
                "SELECT Tag.name FROM User JOIN User_tags ON User_tags.User = User._id "
                    + "JOIN Tag ON User_tags.Tag = Tag._id WHERE User.id = 7 ORDER BY position", at: path)
                == ["b", "a"])
        #expect(try await read("SELECT id FROM User WHERE birthday IS NULL", at: path) == ["8"])
    }

    private func read(_ statement: String, at path: String) async throws -> [String] {
        let command = try #require(command)
        let end = try await ChildProcess(
            command, ["-readonly", path, statement], input: .nullDevice, errors: ChildOutput()
        ).end()
        #expect(end.code == 0, "\(end.errors)")
        return end.output.split(separator: "\n").map(String.init)
    }
}
#endif
