public import SyncModel

/// The number and the values of an object in a store.
public struct StoredRecord: Hashable, Sendable {
    /// The number of the object.
    public let object: ObjectID
    /// The entity and the values. Related objects are known only if they were requested.
    public var record: Record

    /// Creates a pair of an object number and a record.
    public init(object: ObjectID, record: Record) {
        self.object = object
        self.record = record
    }

    /// The object's identity, or its number if it has no identity.
    public var key: Record.Key {
        record.key ?? .object(object)
    }

    /// The value of the attribute with a name; null if the entity has no such attribute.
    public subscript(attribute: String) -> AttributeValue {
        get { record[attribute] }
        set { record[attribute] = newValue }
    }
}

extension StoredRecord: CustomStringConvertible {
    /// The record as text, such as `User id=7 name="Ada"`. An object without an identity has its
    /// number: `Note object 3 text="x"`.
    public var description: String {
        record.text(of: record.key == nil ? object : nil)
    }
}
