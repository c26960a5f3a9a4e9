import JSONMapper
import StoreSync

extension JSONValue {
    /// The value as a query parameter; nil if it cannot be one.
    var token: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .double(let number): "\(number)"
        case .decimal(let text): text
        case .null, .bool, .array, .object: nil
        }
    }

    /// The value as a whole number; nil if it is none. Some servers write numbers as text.
    var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(exactly: number)
        case .double(let number): Int(exactly: number)
        case .string(let text), .decimal(let text): Int(text)
        case .unsigned, .null, .bool, .array, .object: nil
        }
    }

    /// Whether the value is true. Some servers write 1, or a text.
    var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .string(let text): text.lowercased() == "true"
        default: wholeNumber == 1
        }
    }

    /// Whether the value is false. Some servers write 0, or a text.
    var isFalse: Bool {
        switch self {
        case .bool(let value): !value
        case .string(let text): text.lowercased() == "false"
        default: wholeNumber == 0
        }
    }

    /// Whether the value is set, and is not an empty array or object.
    var isFilled: Bool {
        switch self {
        case .array(let elements): !elements.isEmpty
        case .object(let object): object.count > 0
        default: isSet
        }
    }

    /// The kind of the value, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer, .unsigned, .double, .decimal: "a number"
        case .string(let text): text.isEmpty ? "an empty text" : "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
