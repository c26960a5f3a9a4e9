/// The type of an attribute's values.
public enum AttributeType: String, Hashable, Sendable, CaseIterable, Codable {
    /// A 16-bit integer.
    case int16
    /// A 32-bit integer.
    case int32
    /// A 64-bit integer.
    case int64
    /// A 64-bit binary floating-point number.
    case double
    /// A 32-bit binary floating-point number, stored as the `Double` of equal value.
    case float
    /// An exact decimal number of up to 38 digits.
    case decimal
    /// Text.
    case string
    /// A Boolean value.
    case bool
    /// A point in time, to the microsecond.
    case date
    /// Bytes. The mapper stores the text of a JSON value unchanged.
    case binary
    /// A UUID.
    case uuid
    /// A URI, stored as the text it was read from.
    case uri
    /// A JSON value of any kind, compared as a value. JSON `null` is null.
    case json
    /// Bytes that a named transformer creates and reads; their content is opaque to the model.
    case transformable

    /// Returns whether an attribute of this type can hold a value.
    ///
    /// Every type accepts null; the attribute's `isOptional` says whether null is allowed. An
    /// integer must be in the type's range. The value must be of the type's own kind: a `double`
    /// attribute does not accept `.int(1)`.
    public func accepts(_ value: AttributeValue) -> Bool {
        switch (self, value) {
        case (_, .null): true
        case (.int16, .int(let number)): Int16(exactly: number) != nil
        case (.int32, .int(let number)): Int32(exactly: number) != nil
        case (.int64, .int), (.double, .double), (.decimal, .decimal), (.string, .string), (.bool, .bool): true
        case (.float, .double(let number)): number.isNaN || Double(Float(number)) == number
        case (.date, .date), (.binary, .binary), (.uuid, .uuid), (.uri, .uri), (.transformable, .binary): true
        case (.json, .json(let json)): !json.isNull
        default: false
        }
    }

    /// Whether values of this type are integers.
    public var isInteger: Bool {
        switch self {
        case .int16, .int32, .int64: true
        default: false
        }
    }
}
