extension JSONValue {
    /// A Swift type with a JSON representation, for typed closures of transformers.
    public protocol Convertible {
        /// Creates the value from JSON; nil if the JSON value is of another kind.
        init?(json: JSONValue)
        /// The JSON representation of the value.
        var json: JSONValue { get }
    }
}

extension JSONValue: JSONValue.Convertible {
    /// Creates a copy of any JSON value. Never nil.
    public init?(json: JSONValue) { self = json }
    /// The value itself.
    public var json: JSONValue { self }
}

extension JSONValue.Object: JSONValue.Convertible {
    /// Creates the value from a JSON object; nil for other kinds.
    public init?(json: JSONValue) {
        guard case .object(let object) = json else { return nil }
        self = object
    }
    /// The object as a JSON value.
    public var json: JSONValue { .object(self) }
}

extension String: JSONValue.Convertible {
    /// Creates the value from a JSON string; nil for other kinds.
    public init?(json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self = text
    }
    /// The string as a JSON value.
    public var json: JSONValue { .string(self) }
}

extension Bool: JSONValue.Convertible {
    /// Creates the value from `true` or `false`; nil for other kinds.
    public init?(json: JSONValue) {
        guard case .bool(let flag) = json else { return nil }
        self = flag
    }
    /// The boolean as a JSON value.
    public var json: JSONValue { .bool(self) }
}

extension Int64: JSONValue.Convertible {
    /// Creates the value from a JSON number; nil for other kinds, for a fraction, or if it does not
    /// fit.
    ///
    /// A whole number may be written with a fraction of zeros, but not be a
    /// ``JSONValue/decimal(_:)``.
    public init?(json: JSONValue) {
        switch json {
        case .integer(let number): self = number
        case .double(let number):
            guard let whole = Int64(exactly: number) else { return nil }
            self = whole
        default: return nil
        }
    }
    /// The number as a JSON value.
    public var json: JSONValue { .integer(self) }
}

extension Int: JSONValue.Convertible {
    /// Creates the value from a JSON number; nil for other kinds, for a fraction, or if it does not
    /// fit.
    ///
    /// A whole number may be written with a fraction of zeros, but not be a
    /// ``JSONValue/decimal(_:)``.
    public init?(json: JSONValue) {
        guard let number = Int64(json: json) else { return nil }
        self.init(exactly: number)
    }
    /// The number as a JSON value.
    public var json: JSONValue { .integer(Int64(self)) }
}

extension Double: JSONValue.Convertible {
    /// Creates the double nearest to a JSON number; nil for other kinds.
    public init?(json: JSONValue) {
        switch json {
        case .integer(let number): self = Double(number)
        case .unsigned(let number): self = Double(number)
        case .double(let number): self = number
        case .decimal(let text): self.init(text)
        case .null, .bool, .string, .array, .object: return nil
        }
    }
    /// The number as a JSON value.
    public var json: JSONValue { .double(self) }
}

extension Array: JSONValue.Convertible where Element: JSONValue.Convertible {
    /// Creates the value from a JSON array; nil for other kinds, or if an element cannot be
    /// converted.
    public init?(json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        var converted: [Element] = []
        for element in elements {
            guard let element = Element(json: element) else { return nil }
            converted.append(element)
        }
        self = converted
    }
    /// The array as a JSON value.
    public var json: JSONValue { .array(map(\.json)) }
}
