import JSONMapper
import OneWayBenchmarkSupport
import OneWayStoreBenchmarkSupport
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQLite

extension StoreUnderTest {
    /// Secondary indices, for stores and floors alike.
    static let indices = ["name", "email", "createdAt"].map { "CREATE INDEX User_by_\($0) ON User (\($0))" }

    /// Opens or makes the store of a file.
    static func sqlite(_ path: String, nested: Bool = false) async throws -> JSONStore {
        let mapper = try mapper(nested: nested)
        return try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
    }

    /// Opens or makes the store of orders of a file.
    static func sqliteOrders(_ path: String) async throws -> JSONStore {
        let mapper = try orderMapper()
        return try JSONStore(try await SQLiteStore(exactly: mapper.model, at: .file(path)), mapper: mapper)
    }

    /// Makes a store in memory.
    static func memory() throws -> JSONStore {
        let mapper = try mapper()
        return try JSONStore(MemoryStore(exactly: mapper.model), mapper: mapper)
    }
}

extension StoreUnderTest {
    /// What each user contains.
    enum Nesting: String, CaseIterable {
        /// A company, which a hundred users share.
        case company
        /// A note of its own.
        case note

        /// The key and value of a user.
        func json(of id: Int) -> String {
            switch self {
            case .company: #""company":{"id":\#(id / 100),"name":"Company \#(id / 100)"}"#
            case .note: #""notes":[{"id":\#(id),"text":"Note \#(id)"}]"#
            }
        }

        /// The mapper of such users.
        func mapper() throws -> RecordMapper {
            var user = UserGenerator.entity
            let nested: SyncEntity
            switch self {
            case .company:
                user.relationships.append(SyncRelationship("company", toOne: "Company", inverse: "users"))
                nested = SyncEntity("Company", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncRelationship("users", toMany: "User", inverse: "company")
                }
            case .note:
                user.relationships.append(
                    SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade))
                nested = SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("text", .string)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
            }
            return try RecordMapper(
                try DataModel {
                    user
                    nested
                })
        }
    }
}
