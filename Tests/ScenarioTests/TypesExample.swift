import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

struct User: SyncObject {
    var id: Int
    var name: String
    var age: Int?
    var company: Company?
    var notes: [Note]

    static let declaration = SyncDeclaration<User>(
        .toMany(\.notes, inverse: \.author, deleteRule: .cascade), .index(\.name))
}

struct Company: SyncObject {
    var id: Int
    var name: String

    static let declaration = SyncDeclaration<Company>(.unique(\.name))
}

struct Note: SyncObject {
    var id: Int
    var text: String
    var author: Related<User?>  // may be left out of a query
}

/// The example of types in the documentation, compiled and run.
@Suite(.endsInTime) struct TypesExample {
    @Test func typesAreSyncedAndRead() async throws {
        let json = """
            [{"id": 1, "name": "Ada", "age": 36, "company": {"id": 7, "name": "Apple"},
              "notes": [{"id": 1, "text": "x"}]}, {"id": 2, "name": "Bob", "age": 20, "company": null, "notes": []}]
            """
        let store = try await SQLiteStore(User.self, at: .memory)  // with Company and Note
        try await store.sync(User.self, .text(json))
        let users = try await store.all(
            User.self, where: \.age > 30 && \.company.name == "Apple", orderedBy: \.name, limit: 50,
            including: \.company, \.notes)
        #expect(users.map(\.name) == ["Ada"])
        #expect(users.first?.company?.name == "Apple")
        #expect(users.first?.notes.map(\.text) == ["x"])
    }

    /// Compiled only: live queries have tests of their own.
    private func watch(_ store: any Store, _ show: ([User]) -> Void) async throws {
        for try await users in store.values(
            of: User.self, where: \.age > 30, orderedBy: \.name, including: \.company, \.notes)
        {
            show(users)
        }
    }
}
