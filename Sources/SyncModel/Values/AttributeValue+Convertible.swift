public import Foundation

/// A Swift type whose values convert to attribute values.
public protocol ValueConvertible {
    /// The attribute value of this instance.
    var value: AttributeValue { get }
}

extension AttributeValue: ValueConvertible {
    /// The value itself.
    public var value: AttributeValue { self }
}

extension Bool: ValueConvertible {
    /// A `.bool` value.
    public var value: AttributeValue { .bool(self) }
}

extension Int: ValueConvertible {
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int16: ValueConvertible {
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int32: ValueConvertible {
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int64: ValueConvertible {
    /// An `.int` value.
    public var value: AttributeValue { .int(self) }
}

extension Double: ValueConvertible {
    /// A `.double` value.
    public var value: AttributeValue { .double(self) }
}

extension Float: ValueConvertible {
    /// A `.double` of equal value.
    public var value: AttributeValue { .double(Double(self)) }
}

extension Decimal: ValueConvertible {
    /// A `.decimal` value.
    public var value: AttributeValue { .decimal(self) }
}

extension String: ValueConvertible {
    /// A `.string` value.
    public var value: AttributeValue { .string(self) }
}

extension Timestamp: ValueConvertible {
    /// A `.date` value.
    public var value: AttributeValue { .date(self) }
}

extension Date: ValueConvertible {
    /// A `.date` value, rounded to the microsecond.
    public var value: AttributeValue { .date(Timestamp(self)) }
}

extension Data: ValueConvertible {
    /// A `.binary` value.
    public var value: AttributeValue { .binary(self) }
}

extension UUID: ValueConvertible {
    /// A `.uuid` value.
    public var value: AttributeValue { .uuid(self) }
}

extension URL: ValueConvertible {
    /// A `.uri` value with the absolute string.
    public var value: AttributeValue { .uri(absoluteString) }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
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
