public import Foundation

/// A Swift type whose values an attribute can hold.
public protocol ValueConvertible {
    /// The same, as an attribute holds it.
    var value: AttributeValue { get }
}

extension AttributeValue: ValueConvertible {
    /// Itself.
    public var value: AttributeValue { self }
}

extension Bool: ValueConvertible {
    /// `.bool`.
    public var value: AttributeValue { .bool(self) }
}

extension Int: ValueConvertible {
    /// `.int`.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int16: ValueConvertible {
    /// `.int`.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int32: ValueConvertible {
    /// `.int`.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension Int64: ValueConvertible {
    /// `.int`.
    public var value: AttributeValue { .int(self) }
}

extension Double: ValueConvertible {
    /// `.double`.
    public var value: AttributeValue { .double(self) }
}

extension Float: ValueConvertible {
    /// `.double`, of the same worth.
    public var value: AttributeValue { .double(Double(self)) }
}

extension Decimal: ValueConvertible {
    /// `.decimal`.
    public var value: AttributeValue { .decimal(self) }
}

extension String: ValueConvertible {
    /// `.string`.
    public var value: AttributeValue { .string(self) }
}

extension Timestamp: ValueConvertible {
    /// `.date`.
    public var value: AttributeValue { .date(self) }
}

extension Date: ValueConvertible {
    /// `.date`, rounded to the microsecond.
    public var value: AttributeValue { .date(Timestamp(self)) }
}

extension Data: ValueConvertible {
    /// `.binary`.
    public var value: AttributeValue { .binary(self) }
}

extension UUID: ValueConvertible {
    /// `.uuid`.
    public var value: AttributeValue { .uuid(self) }
}

extension URL: ValueConvertible {
    /// `.uri`, its whole text.
    public var value: AttributeValue { .uri(absoluteString) }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
    /// The wrapped value, or null.
    public var value: AttributeValue { self?.value ?? .null }
}

extension AttributeValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// `.bool`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// `.int`.
    public init(integerLiteral value: Int64) {
        self = .int(value)
    }

    /// `.double`.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    /// `.string`.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension AttributeValue: CustomStringConvertible {
    /// The content as text for people; what it looks like may change.
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
        }
    }
}
