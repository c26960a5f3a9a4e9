public import OneWaySynchronizer
public import SyncModel

extension StoreProcessor {
    /// An entry of a source list: the key, the revision and the JSON of one object.
    public struct Item: SyncItem {
        /// The identity of the object.
        public let owsPrimaryKey: Record.Key
        /// The value of the revision attribute; null if the list has no value.
        public let revision: AttributeValue
        /// The object's JSON from the list, as UTF-8.
        public let json: [UInt8]
    }
}
