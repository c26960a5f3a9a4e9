/// The key of an object within its entity and its sub-entities.
public enum RecordKey: Hashable, Sendable {
    /// The values of its identity's attributes, in the order of `EntityLayout.identitySlots`; none
    /// of them is null.
    case identity([AttributeValue])
    /// The number of an object that has no identity, or a null in it. Valid only in one store.
    case object(ObjectID)

    /// Creates a key from identity values in order; nil if there are none or one is null.
    public init?(_ identity: [AttributeValue]) {
        guard !identity.isEmpty, !identity.contains(where: \.isNull) else { return nil }
        self = .identity(identity)
    }

    /// Creates a key from the value of a single identity attribute.
    public static func identity(_ value: some ValueConvertible) -> RecordKey {
        .identity([value.value])
    }
}

extension Record {
    /// The keys of the objects that a relationship of a record leads to.
    public enum Targets: Hashable, Sendable {
        /// Those of a to-one relationship: one or nothing.
        case one(RecordKey?)
        /// Those of a to-many relationship; in their order where it is ordered, else in an order
        /// without meaning.
        case many([RecordKey])

        /// All keys, however many.
        public var keys: [RecordKey] {
            switch self {
            case .one(let key): key.map { [$0] } ?? []
            case .many(let keys): keys
            }
        }
    }
}
