public import SyncModel

/// The model of what a ``UserGenerator`` makes.
public enum UserModel {
    /// Flat users, or users with notes.
    public static func entities(nested: Bool = false) -> [Entity] {
        var user = Entity("User", identity: "remoteID") {
            Attribute("remoteID", .int64, optional: false)
            Attribute("name", .string)
            Attribute("email", .string)
            Attribute("createdAt", .date)
            Attribute("updatedAt", .date)
            Attribute("score", .double)
            Attribute("active", .bool)
            Attribute("tags", .binary)
            Attribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
            Attribute("zip", .string, userInfo: ["sync.remoteKey": "address.zip"])
        }
        guard nested else { return [user] }
        user.relationships.append(Relationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade))
        let note = Entity("Note", identity: "remoteID") {
            Attribute("remoteID", .int64, optional: false)
            Attribute("text", .string)
            Attribute("createdAt", .date)
            Relationship("user", toOne: "User", inverse: "notes")
        }
        return [user, note]
    }
}
