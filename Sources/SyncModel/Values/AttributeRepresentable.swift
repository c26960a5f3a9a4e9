public import Foundation

/// A Swift type whose values are the values of one attribute type.
///
/// An enumeration with raw values only has to declare that it conforms. Typed queries can then
/// order by it, and return its distinct values, the least and the greatest, and the count of each:
///
///     enum Role: String, Codable, CaseIterable, AttributeRepresentable { case reader, editor }
public protocol AttributeRepresentable: AttributeValue.Convertible, AttributeValue.Initializable, ObjectParts
        .SelectedValue
where Plain == Self {
    /// The narrowest type of attribute that holds every value.
    static var attributeType: AttributeType { get }
}

extension AttributeRepresentable where Self: RawRepresentable, RawValue: AttributeRepresentable {
    /// The type of the raw values.
    public static var attributeType: AttributeType { RawValue.attributeType }

    /// The value of the raw value.
    public var value: AttributeValue { rawValue.value }

    /// Creates the case of a raw value.
    public init?(_ value: AttributeValue) {
        guard let rawValue = RawValue(value) else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension AttributeRepresentable where Self: FixedWidthInteger {
    /// An `.int` value, or a `.decimal` beyond the range of `Int64`.
    @inlinable public var value: AttributeValue {
        Int64(exactly: self).map { .int($0) } ?? .decimal(Decimal(exactly: self) ?? .nan)
    }

    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    @inlinable
    public init?(_ value: AttributeValue) {
        switch value {
        case .int(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        case .decimal(let number): self.init(number.description)
        default: return nil
        }
    }
}

extension Bool: AttributeRepresentable {
    /// `bool`.
    public static var attributeType: AttributeType { .bool }
    /// A `.bool` value.
    public var value: AttributeValue { .bool(self) }

    /// Creates the Boolean of a `.bool` value.
    public init?(_ value: AttributeValue) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
}

extension String: AttributeRepresentable {
    /// `string`.
    public static var attributeType: AttributeType { .string }
    /// A `.string` value.
    public var value: AttributeValue { .string(self) }

    /// Creates the text of a `.string` or `.uri` value, or the text form of a `.uuid` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .string(let text), .uri(let text): self = text
        case .uuid(let uuid): self = uuid.uuidString
        default: return nil
        }
    }
}

extension Int: AttributeRepresentable {
    /// `int64`.
    public static var attributeType: AttributeType { .int64 }
}

extension Int8: AttributeRepresentable {
    /// `int16`.
    public static var attributeType: AttributeType { .int16 }
}

extension Int16: AttributeRepresentable {
    /// `int16`.
    public static var attributeType: AttributeType { .int16 }
}

extension Int32: AttributeRepresentable {
    /// `int32`.
    public static var attributeType: AttributeType { .int32 }
}

extension Int64: AttributeRepresentable {
    /// `int64`.
    public static var attributeType: AttributeType { .int64 }
}

extension UInt8: AttributeRepresentable {
    /// `int16`.
    public static var attributeType: AttributeType { .int16 }
}

extension UInt16: AttributeRepresentable {
    /// `int32`.
    public static var attributeType: AttributeType { .int32 }
}

extension UInt32: AttributeRepresentable {
    /// `int64`.
    public static var attributeType: AttributeType { .int64 }
}

extension UInt: AttributeRepresentable {
    /// `int64`; a store rejects greater values.
    public static var attributeType: AttributeType { .int64 }
}

extension UInt64: AttributeRepresentable {
    /// `int64`; a store rejects greater values.
    public static var attributeType: AttributeType { .int64 }
}

extension Double: AttributeRepresentable {
    /// `double`.
    public static var attributeType: AttributeType { .double }
    /// A `.double` value.
    public var value: AttributeValue { .double(self) }

    /// Creates a double from a number: an integer must fit exactly, a decimal is rounded.
    public init?(_ value: AttributeValue) {
        switch value {
        case .double(let number): self = number
        case .int(let number): self.init(exactly: number)
        case .decimal(let number): self = number.nearestDouble
        default: return nil
        }
    }
}

extension Float: AttributeRepresentable {
    /// `float`.
    public static var attributeType: AttributeType { .float }
    /// A `.double` of equal value.
    public var value: AttributeValue { .double(Double(self)) }

    /// Creates a float from a number, rounding the double.
    ///
    /// A `float` attribute holds a double of equal value, which converts back without loss.
    public init?(_ value: AttributeValue) {
        guard let number = Double(value) else { return nil }
        self.init(number)
    }
}

extension Decimal: AttributeRepresentable {
    /// `decimal`.
    public static var attributeType: AttributeType { .decimal }
    /// A `.decimal` value.
    public var value: AttributeValue { .decimal(self) }

    /// Creates a decimal from a number: exactly, or by its shortest text for a double.
    public init?(_ value: AttributeValue) {
        switch value {
        case .decimal(let number): self = number
        case .int(let number): self.init(number)
        case .double(let number): self.init(string: number.description)
        default: return nil
        }
    }
}

extension Timestamp: AttributeRepresentable {
    /// `date`.
    public static var attributeType: AttributeType { .date }
    /// A `.date` value.
    public var value: AttributeValue { .date(self) }

    /// Creates the timestamp of a `.date` value.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment
    }
}

extension Date: AttributeRepresentable {
    /// `date`.
    public static var attributeType: AttributeType { .date }
    /// A `.date` value, rounded to the microsecond.
    public var value: AttributeValue { .date(Timestamp(self)) }

    /// Creates the `Date` nearest to a `.date` value.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment.date
    }
}

extension Data: AttributeRepresentable {
    /// `binary`.
    public static var attributeType: AttributeType { .binary }
    /// A `.binary` value.
    public var value: AttributeValue { .binary(self) }

    /// Creates the bytes of a `.binary` value.
    public init?(_ value: AttributeValue) {
        guard case .binary(let data) = value else { return nil }
        self = data
    }
}

extension UUID: AttributeRepresentable {
    /// `uuid`.
    public static var attributeType: AttributeType { .uuid }
    /// A `.uuid` value.
    public var value: AttributeValue { .uuid(self) }

    /// Creates the UUID of a `.uuid` value, or of the text of a `.string` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uuid(let uuid): self = uuid
        case .string(let text): self.init(uuidString: text)
        default: return nil
        }
    }
}

extension URL: AttributeRepresentable {
    /// `uri`.
    public static var attributeType: AttributeType { .uri }
    /// A `.uri` value with the absolute string.
    public var value: AttributeValue { .uri(absoluteString) }

    /// Creates a URL from the text of a `.uri` or `.string` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uri(let text), .string(let text): self.init(string: text)
        default: return nil
        }
    }
}
