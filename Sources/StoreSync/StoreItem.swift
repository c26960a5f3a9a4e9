public import OneWaySynchronizer
public import SyncModel

/// What a source list says of one object: its key, and what tells whether it has changed.
public struct StoreItem: SyncItem {
    /// The object's identity.
    public let owsPrimaryKey: RecordKey
    /// The value of the attribute that tells versions apart; null where the list has none.
    public let revision: AttributeValue
    /// The list's own JSON of the object, as UTF-8.
    public let json: [UInt8]
}
