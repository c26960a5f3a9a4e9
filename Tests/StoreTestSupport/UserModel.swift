package import SyncModel

/// The models of users that tests of several targets share.
package enum UserModel {
    /// Users with notes of their own.
    package static func withNotes() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
    }

    /// Users with notes of their own, tags and a company that they share, other users, and an
    /// address without a key.
    package static func withEverything() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("age", .int32)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade)
                SyncRelationship("tags", toOrdered: "Tag", inverse: "users")
                SyncRelationship("company", toOne: "Company", inverse: "users")
                SyncRelationship("manager", toOne: "User", inverse: "reports")
                SyncRelationship("reports", toMany: "User", inverse: "manager")
                SyncRelationship("address", toOne: "Address")
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
            SyncEntity("Tag", identity: "name") {
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "tags")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("users", toMany: "User", inverse: "company")
            }
            SyncEntity("Address", attributes: [SyncAttribute("city", .string)], relationships: [])
        }
    }
}
