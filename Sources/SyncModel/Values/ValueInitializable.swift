import Foundation

/// A Swift type that can be made of values of its kind, without loss.
protocol ValueInitializable {
    /// Makes the same as a value; nil where that is not possible without loss.
    init?(_ value: Value)
}

extension Bool: ValueInitializable {
    init?(_ value: Value) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
}

extension String: ValueInitializable {
    init?(_ value: Value) {
        switch value {
        case .string(let text), .uri(let text): self = text
        case .uuid(let uuid): self = uuid.uuidString
        default: return nil
        }
    }
}

extension FixedWidthInteger {
    fileprivate init?(wholeNumber value: Value) {
        switch value {
        case .int(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        case .decimal(let number): self.init(number.description)
        default: return nil
        }
    }
}

extension Int: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension Int8: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension Int16: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension Int32: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension Int64: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension UInt: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension UInt8: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension UInt16: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension UInt32: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension UInt64: ValueInitializable {
    init?(_ value: Value) { self.init(wholeNumber: value) }
}

extension Double: ValueInitializable {
    init?(_ value: Value) {
        switch value {
        case .double(let number): self = number
        case .int(let number): self.init(exactly: number)
        case .decimal(let number): self = number.nearestDouble
        default: return nil
        }
    }
}

extension Float: ValueInitializable {
    /// A double is rounded: a `float` attribute holds the double of the same worth, which comes back as it was.
    init?(_ value: Value) {
        guard let number = Double(value) else { return nil }
        self.init(number)
    }
}

extension Decimal: ValueInitializable {
    init?(_ value: Value) {
        switch value {
        case .decimal(let number): self = number
        case .int(let number): self.init(number)
        case .double(let number): self.init(string: number.description)
        default: return nil
        }
    }
}

extension Timestamp: ValueInitializable {
    init?(_ value: Value) {
        guard case .date(let moment) = value else { return nil }
        self = moment
    }
}

extension Date: ValueInitializable {
    init?(_ value: Value) {
        guard case .date(let moment) = value else { return nil }
        self = moment.date
    }
}

extension Data: ValueInitializable {
    init?(_ value: Value) {
        guard case .binary(let data) = value else { return nil }
        self = data
    }
}

extension UUID: ValueInitializable {
    init?(_ value: Value) {
        switch value {
        case .uuid(let uuid): self = uuid
        case .string(let text): self.init(uuidString: text)
        default: return nil
        }
    }
}

extension URL: ValueInitializable {
    init?(_ value: Value) {
        switch value {
        case .uri(let text), .string(let text): self.init(string: text)
        default: return nil
        }
    }
}
