public import Foundation

/// A Swift type whose values an attribute can hold.
public protocol ValueConvertible {
    /// The same, as an attribute holds it.
    var value: Value { get }
}

extension Value: ValueConvertible {
    /// Itself.
    public var value: Value { self }
}

extension Bool: ValueConvertible {
    /// `.bool`.
    public var value: Value { .bool(self) }
}

extension Int: ValueConvertible {
    /// `.int`.
    public var value: Value { .int(Int64(self)) }
}

extension Int16: ValueConvertible {
    /// `.int`.
    public var value: Value { .int(Int64(self)) }
}

extension Int32: ValueConvertible {
    /// `.int`.
    public var value: Value { .int(Int64(self)) }
}

extension Int64: ValueConvertible {
    /// `.int`.
    public var value: Value { .int(self) }
}

extension Double: ValueConvertible {
    /// `.double`.
    public var value: Value { .double(self) }
}

extension Float: ValueConvertible {
    /// `.double`, of the same worth.
    public var value: Value { .double(Double(self)) }
}

extension Decimal: ValueConvertible {
    /// `.decimal`.
    public var value: Value { .decimal(self) }
}

extension String: ValueConvertible {
    /// `.string`.
    public var value: Value { .string(self) }
}

extension Timestamp: ValueConvertible {
    /// `.date`.
    public var value: Value { .date(self) }
}

extension Date: ValueConvertible {
    /// `.date`, rounded to the microsecond.
    public var value: Value { .date(Timestamp(self)) }
}

extension Data: ValueConvertible {
    /// `.binary`.
    public var value: Value { .binary(self) }
}

extension UUID: ValueConvertible {
    /// `.uuid`.
    public var value: Value { .uuid(self) }
}

extension URL: ValueConvertible {
    /// `.uri`, its whole text.
    public var value: Value { .uri(absoluteString) }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
    /// The wrapped value, or null.
    public var value: Value { self?.value ?? .null }
}

extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
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

extension Value: CustomStringConvertible {
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
