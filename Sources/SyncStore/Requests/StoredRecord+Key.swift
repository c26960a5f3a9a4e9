public import SyncModel

extension StoredRecord {
    /// The number and the key of an object.
    public struct Key: Hashable, Sendable {
        /// The number of the object.
        public let object: ObjectID
        /// The object's identity, or its number if it has no identity.
        public let key: Record.Key

        /// Creates a pair of an object number and a key.
        public init(object: ObjectID, key: Record.Key) {
            self.object = object
            self.key = key
        }
    }
}
