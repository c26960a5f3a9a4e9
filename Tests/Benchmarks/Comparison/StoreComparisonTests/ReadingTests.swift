import Foundation
import GRDB
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// GRDB on a file that a store has written.
@Suite struct ReadingTests {
    private struct User: Codable, Equatable, FetchableRecord, TableRecord {
        static let databaseTableName = "User"
        static let notes = hasMany(Note.self, using: ForeignKey(["user"]))

        var id: Int64
        var name: String?
        var birthday: Date?
        var isActive: Bool?
    }

    private struct Note: Codable, Equatable, FetchableRecord, TableRecord {
        static let databaseTableName = "Note"

        var id: Int64
        var text: String?
    }

    private struct UserWithNotes: Decodable, FetchableRecord {
        var user: User
        var notes: [Note]
    }

    private let folder: URL
    private let path: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "Comparison-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "store.sqlite").path
    }

    @Test func aStoresFileIsReadByGRDB() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = try DataModel {
            SyncEntity("User") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("birthday", .date)
                SyncAttribute("isActive", .bool)
                SyncRelationship("notes", toMany: "Note", inverse: "user")
            }
            SyncEntity("Note") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        let store = try await SQLiteStore(model, at: .file(path))
        let json = """
            [{"id": 1, "name": "Ada", "birthday": "1815-12-10T12:30:15.250Z", "is_active": true,
              "notes": [{"id": 8, "text": "a"}, {"id": 9}]}, {"id": 2, "name": "José"}]
            """
        try await store.sync("User", .text(json))

        let database = try DatabaseQueue(path: path)
        let users = try await database.read { database in
            try User.including(all: User.notes.forKey("notes")).order(Column("id"))
                .asRequest(of: UserWithNotes.self).fetchAll(database)
        }
        let ada = User(
            id: 1, name: "Ada", birthday: Date(timeIntervalSince1970: -4_861_682_984.75), isActive: true)
        #expect(users.map(\.user) == [ada, User(id: 2, name: "José", birthday: nil, isActive: nil)])
        #expect(users.map(\.notes) == [[Note(id: 8, text: "a"), Note(id: 9, text: nil)], []])
        // GRDB's way to write a moment is one that a store reads.
        try await database.write { database in
            try database.execute(
                sql: "UPDATE User SET birthday = ? WHERE id = 2", arguments: [Date(timeIntervalSince1970: 1.5)])
        }
        let jose = try await store.store.record("User", key: .identity(2))
        #expect(jose?.record["birthday"] == .date(Timestamp(microseconds: 1_500_000)))
    }
}
