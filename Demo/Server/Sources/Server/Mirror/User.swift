import Foundation
import OneWaySyncSQLite

/// A user, as the server's own API sends it.
struct User: Codable, Sendable {
    struct Company: Codable, Sendable {
        var id: Int
        var name: String?
    }

    var id: Int
    var name: String
    var email: String?
    var role: String?
    var updatedAt: Date?
}

extension DataModel {
    /// The mirrored data, with the records of syncs and the bookmark of the source.
    static func mirror() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncAttribute("email", .string)
                SyncAttribute("role", .string)
                SyncAttribute("updatedAt", .date)
                SyncRelationship("company", toOne: "Company", inverse: "users")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "company")
            }
        }.adding([SyncHistory.entity, SyncBookmark.entity])
    }
}
