/// Related objects that can be left out when an object is read.
///
/// A property of type `Company?` or `[Note]` must be named in `including:` whenever its type is
/// read; leaving it out is an error. A property of type `Related<Company?>` or `Related<[Note]>` is
/// `notIncluded` then. The enum also lets two types contain each other.
public indirect enum Related<Value: ObjectParts.RelatedValue & Codable>: Sendable {
    /// The objects were not requested; the store may have some.
    case notIncluded
    /// The related objects.
    case included(Value)

    /// The related objects; nil if they were not included.
    public var value: Value? {
        if case .included(let value) = self { value } else { nil }
    }
}

extension Related: ObjectParts.RelatedValue {
    /// The type of the related objects.
    public typealias Object = Value.Object
    /// Whether the property holds any number of objects.
    public static var isToMany: Bool { Value.isToMany }

    /// Creates the included objects.
    public init?(related objects: [Object]) {
        guard let value = Value(related: objects) else { return nil }
        self = .included(value)
    }

    /// The related objects; nil if they were not included.
    public var relatedObjects: [Object]? { value?.relatedObjects }
}

extension Related: Codable {
    /// Decodes the related objects.
    public init(from decoder: any Decoder) throws {
        self = .included(try Value(from: decoder))
    }

    /// Encodes the related objects, or null if they were not included.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .included(let value): try value.encode(to: encoder)
        case .notIncluded:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }
}

extension Related: Equatable where Value: Equatable {}
extension Related: Hashable where Value: Hashable {}

/// A related value that states whether it was included.
package protocol OptionallyIncluded {
    /// The value of a property that was not included.
    static var notIncludedValue: Self { get }
}

extension Related: OptionallyIncluded {
    package static var notIncludedValue: Related { .notIncluded }
}
