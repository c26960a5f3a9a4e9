public import SyncModel

extension UserGenerator {
    /// What users are in a model, their notes left out.
    public static var entity: Entity {
        Entity("User", identity: "remoteID") {
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
    }
}
