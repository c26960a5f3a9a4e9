public import SyncModel

/// The number and the key of an object.
public struct StoredKey: Hashable, Sendable {
    /// The number of the object.
    public let object: ObjectID
    /// The object's identity, or its number if it has no identity.
    public let key: RecordKey

    /// Creates a pair of an object number and a key.
    public init(object: ObjectID, key: RecordKey) {
        self.object = object
        self.key = key
    }
}
