import SyncModel

/// An object of a memory store.
struct MemoryObject: Sendable {
    /// The index of its entity in the model.
    var entity: Int
    /// The values by column.
    var values: [AttributeValue]
}
