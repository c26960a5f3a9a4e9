import SyncModel

extension DataModel {
    /// People, and what is added to them.
    static func people(
        with others: [SyncEntity] = [], attributes: [SyncAttribute] = [],
        @DataModel.Builder<SyncEntity.Property> _ properties: () -> [SyncEntity.Property] = { [] }
    ) throws -> DataModel {
        var person = SyncEntity("Person", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("name", .string)
            for property in properties() { property }
        }
        person.attributes += attributes
        return try DataModel([person] + others)
    }
}
