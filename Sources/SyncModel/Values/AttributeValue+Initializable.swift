public import Foundation

extension AttributeValue {
    /// A Swift type that can be created from attribute values of its kind.
    public protocol Initializable {
        /// Creates an instance from an attribute value, or nil if the value does not convert.
        init?(_ value: AttributeValue)
    }
}

extension Bool: AttributeValue.Initializable {
    /// Creates the Boolean of a `.bool` value.
    public init?(_ value: AttributeValue) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
}

extension String: AttributeValue.Initializable {
    /// Creates the text of a `.string` or `.uri` value, or the text form of a `.uuid` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .string(let text), .uri(let text): self = text
        case .uuid(let uuid): self = uuid.uuidString
        default: return nil
        }
    }
}

extension FixedWidthInteger {
    fileprivate init?(wholeNumber value: AttributeValue) {
        switch value {
        case .int(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        case .decimal(let number): self.init(number.description)
        default: return nil
        }
    }
}

extension Int: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int8: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int16: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int32: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int64: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt8: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt16: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt32: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt64: AttributeValue.Initializable {
    /// Creates an integer from a whole number of any kind, or nil if it does not fit.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Double: AttributeValue.Initializable {
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

extension Float: AttributeValue.Initializable {
    /// Creates a float from a number, rounding the double.
    ///
    /// A `float` attribute holds a double of equal value, which converts back without loss.
    public init?(_ value: AttributeValue) {
        guard let number = Double(value) else { return nil }
        self.init(number)
    }
}

extension Decimal: AttributeValue.Initializable {
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

extension Timestamp: AttributeValue.Initializable {
    /// Creates the timestamp of a `.date` value.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment
    }
}

extension Date: AttributeValue.Initializable {
    /// Creates the `Date` nearest to a `.date` value.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment.date
    }
}

extension Data: AttributeValue.Initializable {
    /// Creates the bytes of a `.binary` value.
    public init?(_ value: AttributeValue) {
        guard case .binary(let data) = value else { return nil }
        self = data
    }
}

extension UUID: AttributeValue.Initializable {
    /// Creates the UUID of a `.uuid` value, or of the text of a `.string` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uuid(let uuid): self = uuid
        case .string(let text): self.init(uuidString: text)
        default: return nil
        }
    }
}

extension URL: AttributeValue.Initializable {
    /// Creates a URL from the text of a `.uri` or `.string` value.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uri(let text), .string(let text): self.init(string: text)
        default: return nil
        }
    }
}
