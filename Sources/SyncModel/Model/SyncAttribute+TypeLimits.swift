import Foundation

extension SyncAttribute {
    /// What the Swift type of a property can hold. Equality ignores it: it decides what is read
    /// from JSON, and is no part of the data.
    package struct TypeLimits: Hashable, Sendable {
        /// The Swift type; nil if objects can be read with every value of the attribute's type.
        package internal(set) var type: (any Any.Type)?
        /// The Swift type and the types inside of it, as texts, and the raw values of the
        /// enumerations inside of it. Empty if the allowed values are those of the type.
        package internal(set) var parts: [AttributeValue] = []

        package static func == (one: Self, other: Self) -> Bool { true }
        package func hash(into hasher: inout Hasher) {}
    }

    /// The numbers that an integer attribute and the Swift type of its property can hold; all of 64
    /// bits for an attribute of another type.
    package var integerRange: ClosedRange<Int64> {
        guard let integer = typeLimits.type as? any FixedWidthInteger.Type else { return type.integerRange }
        return type.integerRange.clamped(to: integer.int64Range)
    }
}

extension AttributeType {
    /// The numbers of an integer type; all of 64 bits for another type.
    fileprivate var integerRange: ClosedRange<Int64> {
        switch self {
        case .int16: Int16.int64Range
        case .int32: Int32.int64Range
        default: Int64.int64Range
        }
    }

    /// Whether the type of an attribute has values that the Swift type of its property cannot hold,
    /// apart from types with raw values.
    static func isWider(than type: any Any.Type) -> Bool {
        guard isSingleValue(type) else { return true }
        guard let integer = type as? any FixedWidthInteger.Type else { return type == URL.self }
        return integer.int64Range != AttributeType(of: type).integerRange
    }
}

extension FixedWidthInteger {
    /// The numbers of the type that 64 bits can hold.
    fileprivate static var int64Range: ClosedRange<Int64> { Int64(clamping: Self.min)...Int64(clamping: Self.max) }
}
