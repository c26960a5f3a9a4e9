public import Foundation

/// A Swift type that can be made of values of its kind, without loss.
public protocol ValueInitializable {
    /// Creates the same as a value; nil where that is not possible without loss.
    init?(_ value: AttributeValue)
}

extension Bool: ValueInitializable {
    /// The flag of `.bool`.
    public init?(_ value: AttributeValue) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
}

extension String: ValueInitializable {
    /// The text of `.string` and `.uri`, the text form of `.uuid`.
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

extension Int: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int8: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int16: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int32: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Int64: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt8: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt16: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt32: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension UInt64: ValueInitializable {
    /// The whole number, where it fits.
    public init?(_ value: AttributeValue) { self.init(wholeNumber: value) }
}

extension Double: ValueInitializable {
    /// The number, where a double holds it exactly; a decimal is rounded.
    public init?(_ value: AttributeValue) {
        switch value {
        case .double(let number): self = number
        case .int(let number): self.init(exactly: number)
        case .decimal(let number): self = number.nearestDouble
        default: return nil
        }
    }
}

extension Float: ValueInitializable {
    /// A double is rounded: a `float` attribute holds the double of the same worth, which comes
    /// back as it was.
    public init?(_ value: AttributeValue) {
        guard let number = Double(value) else { return nil }
        self.init(number)
    }
}

extension Decimal: ValueInitializable {
    /// The number, exactly; a double as its shortest text spells it.
    public init?(_ value: AttributeValue) {
        switch value {
        case .decimal(let number): self = number
        case .int(let number): self.init(number)
        case .double(let number): self.init(string: number.description)
        default: return nil
        }
    }
}

extension Timestamp: ValueInitializable {
    /// The moment of `.date`.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment
    }
}

extension Date: ValueInitializable {
    /// The nearest `Date` to the moment of `.date`.
    public init?(_ value: AttributeValue) {
        guard case .date(let moment) = value else { return nil }
        self = moment.date
    }
}

extension Data: ValueInitializable {
    /// The bytes of `.binary`.
    public init?(_ value: AttributeValue) {
        guard case .binary(let data) = value else { return nil }
        self = data
    }
}

extension UUID: ValueInitializable {
    /// That of `.uuid`, or the one that a `.string` spells.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uuid(let uuid): self = uuid
        case .string(let text): self.init(uuidString: text)
        default: return nil
        }
    }
}

extension URL: ValueInitializable {
    /// That which a `.uri` or `.string` spells.
    public init?(_ value: AttributeValue) {
        switch value {
        case .uri(let text), .string(let text): self.init(string: text)
        default: return nil
        }
    }
}
