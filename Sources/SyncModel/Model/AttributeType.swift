/// What an attribute holds.
public enum AttributeType: String, Hashable, Sendable, CaseIterable {
    /// A whole number of 16 bits.
    case int16
    /// A whole number of 32 bits.
    case int32
    /// A whole number of 64 bits.
    case int64
    /// A binary floating point number of 64 bits.
    case double
    /// A binary floating point number of 32 bits; its value is held as the `Double` of the same
    /// worth.
    case float
    /// A decimal number of up to 38 digits, exact.
    case decimal
    /// Text.
    case string
    /// True or false.
    case bool
    /// A moment, to the microsecond.
    case date
    /// Bytes; the mapper keeps whole JSON arrays and objects here.
    case binary
    /// A UUID.
    case uuid
    /// A URI, kept as the text it came as.
    case uri
    /// Bytes that a named transformer makes and reads; the model knows nothing of their meaning.
    case transformable

    /// Whether an attribute of this type may hold a value.
    ///
    /// Null is accepted by every type; whether it is allowed is the attribute's `isOptional`.
    /// Integers must be in the type's range, and the value must be of the type's own kind: a
    /// `double` attribute does not accept `.int(1)`.
    public func accepts(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (_, .null): true
        case (.int16, .int(let number)): Int16(exactly: number) != nil
        case (.int32, .int(let number)): Int32(exactly: number) != nil
        case (.int64, .int), (.double, .double), (.decimal, .decimal), (.string, .string), (.bool, .bool): true
        case (.float, .double(let number)): number.isNaN || Double(Float(number)) == number
        case (.date, .date), (.binary, .binary), (.uuid, .uuid), (.uri, .uri), (.transformable, .binary): true
        default: false
        }
    }

    /// Whether values of this type are whole numbers.
    public var isInteger: Bool {
        switch self {
        case .int16, .int32, .int64: true
        default: false
        }
    }
}
