/// A Swift type that stands for some JSON values, so that a transformer's closure can be written in
/// terms of it.
public protocol JSONConvertible {
    /// Creates the same as a JSON value; nil where that is of another kind.
    init?(json: JSONValue)
    /// The same as a JSON value.
    var json: JSONValue { get }
}

extension JSONValue: JSONConvertible {
    /// Itself, whatever it is.
    public init?(json: JSONValue) { self = json }
    /// Itself.
    public var json: JSONValue { self }
}

extension JSONObject: JSONConvertible {
    /// An object.
    public init?(json: JSONValue) {
        guard case .object(let object) = json else { return nil }
        self = object
    }
    /// The object.
    public var json: JSONValue { .object(self) }
}

extension String: JSONConvertible {
    /// A string.
    public init?(json: JSONValue) {
        guard case .string(let text) = json else { return nil }
        self = text
    }
    /// The string.
    public var json: JSONValue { .string(self) }
}

extension Bool: JSONConvertible {
    /// True or false.
    public init?(json: JSONValue) {
        guard case .bool(let flag) = json else { return nil }
        self = flag
    }
    /// True or false.
    public var json: JSONValue { .bool(self) }
}

extension Int64: JSONConvertible {
    /// A whole number, also one written with a fraction of zeros.
    public init?(json: JSONValue) {
        switch json {
        case .integer(let number): self = number
        case .double(let number):
            guard let whole = Int64(exactly: number) else { return nil }
            self = whole
        default: return nil
        }
    }
    /// The number.
    public var json: JSONValue { .integer(self) }
}

extension Int: JSONConvertible {
    /// A whole number, also one written with a fraction of zeros.
    public init?(json: JSONValue) {
        guard let number = Int64(json: json) else { return nil }
        self.init(exactly: number)
    }
    /// The number.
    public var json: JSONValue { .integer(Int64(self)) }
}

extension Double: JSONConvertible {
    /// Any number, as the nearest double.
    public init?(json: JSONValue) {
        switch json {
        case .integer(let number): self = Double(number)
        case .unsigned(let number): self = Double(number)
        case .double(let number): self = number
        case .decimal(let text): self.init(text)
        case .null, .bool, .string, .array, .object: return nil
        }
    }
    /// The number.
    public var json: JSONValue { .double(self) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    /// An array all of whose elements can be converted.
    public init?(json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        var converted: [Element] = []
        for element in elements {
            guard let element = Element(json: element) else { return nil }
            converted.append(element)
        }
        self = converted
    }
    /// The array.
    public var json: JSONValue { .array(map(\.json)) }
}
