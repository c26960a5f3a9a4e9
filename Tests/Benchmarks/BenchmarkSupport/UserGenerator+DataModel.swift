public import SyncModel

extension UserGenerator {
    /// What users are in a model, their notes left out.
    public static var entity: SyncEntity {
        SyncEntity("User", identity: "remoteID") {
            SyncAttribute("remoteID", .int64, optional: false)
            SyncAttribute("name", .string)
            SyncAttribute("email", .string)
            SyncAttribute("createdAt", .date)
            SyncAttribute("updatedAt", .date)
            SyncAttribute("score", .double)
            SyncAttribute("active", .bool)
            SyncAttribute("tags", .binary)
            SyncAttribute("city", .string, userInfo: ["sync.remoteKey": "address.city"])
            SyncAttribute("zip", .string, userInfo: ["sync.remoteKey": "address.zip"])
        }
    }
}
