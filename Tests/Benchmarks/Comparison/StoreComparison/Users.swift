import ComparisonSupport
import Foundation
import GRDB
import JSONMapper
import StoreSync
import SyncModel
import SyncStoreSQLite

/// A file of users, and two ways to get it into an SQLite database.
final class Users: Sendable {
    private let count: Int
    private let folder: URL

    /// Writes the file.
    init(count: Int) throws {
        self.count = count
        folder = FileManager.default.temporaryDirectory.appending(path: "Comparison-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: json)
        let file = try FileHandle(forWritingTo: json)
        var generator = UserGenerator(count: count)
        while let chunk = generator.nextChunk() { try file.write(contentsOf: chunk) }
        try file.close()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private var json: URL {
        folder.appending(path: "users.json")
    }

    /// A file that does not exist, or not any more.
    private func emptyFile(_ name: String) throws -> String {
        let path = folder.appending(path: name).path
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
        return path
    }

    /// Something else than expected is in the database.
    struct WrongCount: Error {
        let count: Int
    }

    // MARK: By a store

    /// Syncs the file into an empty store.
    func sync() async throws -> Int {
        let model = try DataModel { UserGenerator.entity }
        let store = try await SQLiteStore(model, at: .file(emptyFile("store.sqlite")))
        let result = try await store.sync("User", .file(json.path))
        guard result.counts.inserted == count else { throw WrongCount(count: result.counts.inserted) }
        return count
    }

    // MARK: By hand

    private struct User: Codable, PersistableRecord {
        struct Address: Codable {
            var city: String
            var zip: String
        }

        var id: Int64
        var name: String
        var email: String
        var createdAt: Date
        var updatedAt: Date
        var score: Double
        var active: Bool
        var tags: [String]
        var address: Address
    }

    /// Decodes the file, and inserts or updates each user.
    func insertByHand() throws -> Int {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        let users = try decoder.decode([User].self, from: Data(contentsOf: json))
        let database = try DatabasePool(path: emptyFile("grdb.sqlite"))
        try database.write { database in
            try database.create(table: "user") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text)
                table.column("email", .text)
                table.column("createdAt", .datetime)
                table.column("updatedAt", .datetime)
                table.column("score", .double)
                table.column("active", .boolean)
                table.column("tags", .jsonText)
                table.column("address", .jsonText)
            }
            for user in users { try user.upsert(database) }
        }
        let found = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM user") } ?? 0
        guard found == count else { throw WrongCount(count: found) }
        return found
    }
}
