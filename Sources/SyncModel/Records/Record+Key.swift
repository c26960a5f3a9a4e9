extension Record {
    /// An identifier of a record within its entity, sub-entities included.
    public enum Key: Hashable, Sendable {
        /// The values of the identity's attributes, in the order of `EntityLayout.identityColumns`;
        /// none is null.
        case identity([AttributeValue])
        /// The number of an object that has no identity, or null in it. Valid only in one store.
        case object(ObjectID)

        /// Creates a key from the values of an identity, or nil if there are none or one is null.
        public init?(_ identity: [AttributeValue]) {
            guard !identity.isEmpty, !identity.contains(where: \.isNull) else { return nil }
            self = .identity(identity)
        }

        /// Returns the key for an identity of one attribute.
        public static func identity(_ value: some AttributeValue.Convertible) -> Record.Key {
            .identity([value.value])
        }
    }
}

extension Record.Key: Codable {
    private enum CodingKeys: CodingKey {
        case object
    }

    /// Decodes a key that `encode(to:)` has written.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: CodingKeys.self) {
            self = .object(try container.decode(ObjectID.self, forKey: .object))
        } else {
            self = .identity(try [AttributeValue](from: decoder))
        }
    }

    /// Encodes an identity as an array of its values, and an object's number as
    /// `{"object": number}`.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .identity(let values): try values.encode(to: encoder)
        case .object(let number):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .object)
        }
    }
}

extension Record {
    /// The keys of the objects that a relationship of a record leads to.
    public enum Targets: Hashable, Sendable {
        /// The target of a to-one relationship, or nil if it is empty.
        case one(Record.Key?)
        /// The targets of a to-many relationship, in their order if it is ordered, otherwise in any
        /// order.
        case many([Record.Key])

        /// All targets; empty for an empty relationship.
        public var keys: [Record.Key] {
            switch self {
            case .one(let key): key.map { [$0] } ?? []
            case .many(let keys): keys
            }
        }
    }
}
