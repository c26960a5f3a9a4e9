import Foundation

extension AttributeValue {
    /// A Swift type whose values convert to attribute values.
    public protocol Convertible {
        /// The type itself, the default, if conditions and orderings can use the order of its
        /// values; otherwise another type, so that they do not compile.
        associatedtype Ordered = Self

        /// The attribute value of this instance.
        var value: AttributeValue { get }
    }
}

extension AttributeValue: AttributeValue.Convertible {
    /// The value itself.
    public var value: AttributeValue { self }
}

extension Optional: AttributeValue.Convertible where Wrapped: AttributeValue.Convertible {
    /// The type itself if the wrapped values have an order.
    public typealias Ordered = Wrapped.Ordered?

    /// The wrapped value, or null for nil.
    public var value: AttributeValue { self?.value ?? .null }
}

extension AttributeValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// Creates a `.bool` value.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates an `.int` value.
    public init(integerLiteral value: Int64) {
        self = .int(value)
    }

    /// Creates a `.double` value.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    /// Creates a `.string` value.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension AttributeValue {
    /// Values as text for people, the first ten of them one by one.
    package static func list(_ values: [AttributeValue]) -> String {
        let surplus = values.count - 10
        return (values.prefix(10).map(\.description) + (surplus > 0 ? ["\(surplus) more"] : []))
            .joined(separator: ", ")
    }
}

extension AttributeValue: CustomStringConvertible {
    /// The content as text for people, in a format that may change.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let flag): flag.description
        case .int(let number): number.description
        case .double(let number): number.description
        case .decimal(let number): number.description
        case .string(let text), .uri(let text): text.debugDescription
        case .date(let moment): moment.date.formatted(.iso8601)
        case .binary(let data): "\(data.count) bytes"
        case .uuid(let uuid): uuid.uuidString
        case .json(let json): json.text
        }
    }
}
