public import OneWaySynchronizer
public import SyncModel

extension StoreProcessor {
    /// An entry of a source list: the key and the revision of one object.
    public struct Item: SyncItem {
        /// The identity of the object.
        public let owsPrimaryKey: RecordKey
        /// The value of the revision attribute; null if the list has none.
        public let revision: AttributeValue
        /// The list's JSON of the object, as UTF-8.
        public let json: [UInt8]
    }
}
