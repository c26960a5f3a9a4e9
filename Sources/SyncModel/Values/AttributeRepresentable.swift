public import Foundation

/// A Swift type whose values are the values of one attribute type.
///
/// An enumeration with raw values only has to declare that it conforms. Typed queries can then
/// order by it, and return its distinct values, the least and the greatest, and the count of each:
///
///     enum Role: String, Codable, AttributeRepresentable { case reader, editor }
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

extension Bool: AttributeRepresentable {
    /// `bool`.
    public static var attributeType: AttributeType { .bool }
}

extension String: AttributeRepresentable {
    /// `string`.
    public static var attributeType: AttributeType { .string }
}

extension Int: AttributeRepresentable {
    /// `int64`.
    public static var attributeType: AttributeType { .int64 }
}

extension Int8: AttributeRepresentable {
    /// `int16`.
    public static var attributeType: AttributeType { .int16 }
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
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
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension UInt16: AttributeRepresentable {
    /// `int32`.
    public static var attributeType: AttributeType { .int32 }
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension UInt32: AttributeRepresentable {
    /// `int64`.
    public static var attributeType: AttributeType { .int64 }
    /// An `.int` value.
    public var value: AttributeValue { .int(Int64(self)) }
}

extension UInt: AttributeRepresentable {
    /// `int64`; a store rejects greater values.
    public static var attributeType: AttributeType { .int64 }
    /// An `.int` value, or a `.decimal` beyond the range of `Int64`.
    public var value: AttributeValue { UInt64(self).value }
}

extension UInt64: AttributeRepresentable {
    /// `int64`; a store rejects greater values.
    public static var attributeType: AttributeType { .int64 }
    /// An `.int` value, or a `.decimal` beyond the range of `Int64`.
    public var value: AttributeValue { Int64(exactly: self).map { .int($0) } ?? .decimal(Decimal(self)) }
}

extension Double: AttributeRepresentable {
    /// `double`.
    public static var attributeType: AttributeType { .double }
}

extension Float: AttributeRepresentable {
    /// `float`.
    public static var attributeType: AttributeType { .float }
}

extension Decimal: AttributeRepresentable {
    /// `decimal`.
    public static var attributeType: AttributeType { .decimal }
}

extension Timestamp: AttributeRepresentable {
    /// `date`.
    public static var attributeType: AttributeType { .date }
}

extension Date: AttributeRepresentable {
    /// `date`.
    public static var attributeType: AttributeType { .date }
}

extension Data: AttributeRepresentable {
    /// `binary`.
    public static var attributeType: AttributeType { .binary }
}

extension UUID: AttributeRepresentable {
    /// `uuid`.
    public static var attributeType: AttributeType { .uuid }
}

extension URL: AttributeRepresentable {
    /// `uri`.
    public static var attributeType: AttributeType { .uri }
}

extension CanonicalJSON: AttributeRepresentable {
    /// `json`.
    public static var attributeType: AttributeType { .json }
}
