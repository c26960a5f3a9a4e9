import Foundation
import SyncModel

// What moves to another type, if it fits exactly. Null always does. Each value becomes what the
// mapper would read from the JSON of the old one, unless that would lose something.
//
//                  from
//   int…           a whole number in range, a Boolean, the canonical text of such a number
//   double, float  a number without rounding, a Boolean, the canonical text of such a number
//   decimal        a number, a Boolean, the canonical text of a number
//   bool           0, 1, "true", "false"
//   string, uri    a number or a Boolean as its canonical text, a date as ISO 8601, a UUID, a text
//   uuid           its 36 characters
//   date           ISO 8601
//   json           everything but opaque bytes; binary that is JSON text
//   binary         JSON as its text
//
// JSON that is a text, a number or a Boolean counts as such.
extension AttributeValue {
    /// The value as another type; nil if that type cannot hold exactly this value.
    ///
    /// - Parameter stored: The type that has the value now.
    func exactly(as type: AttributeType, from stored: AttributeType) -> AttributeValue? {
        guard !isNull else { return .null }
        let scalar = scalar
        let value: AttributeValue? =
            switch type {
            case .int16, .int32, .int64: scalar.wholeNumber.map { .int($0) }
            case .double: scalar.binaryNumber.map { .double($0) }
            case .float: scalar.floatNumber.map { .double($0) }
            case .decimal: scalar.decimalNumber(from: stored).map { .decimal($0) }
            case .bool: scalar.flag.map { .bool($0) }
            case .string: scalar.text(from: stored).map { .string($0) }
            case .uri: scalar.text(from: stored).map { .uri($0) }
            case .uuid: scalar.string.flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
            case .date: scalar.moment.map { .date($0) }
            case .json: json(from: stored)?.value
            case .binary:
                if case .json(let json) = self { .binary(Data(json.text.utf8)) } else { nil }
            case .transformable: nil
            }
        return value.flatMap { type.accepts($0) ? $0 : nil }
    }

    /// A JSON text, number or Boolean as such; any other value as it is.
    private var scalar: AttributeValue {
        guard case .json(let json) = self else { return self }
        switch json.text.utf8.first {
        case UInt8(ascii: "\""): return (try? json.decode(String.self)).map { .string($0) } ?? self
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "{"), UInt8(ascii: "["): return self
        default:
            if let number = Int64(json.text) { return .int(number) }
            return Self.decimal(json.text).map { .decimal($0) } ?? Double(json.text).map { .double($0) } ?? self
        }
    }

    private var string: String? {
        switch self {
        case .string(let text), .uri(let text): text
        default: nil
        }
    }

    /// The text of a number in canonical form; nil for any other value.
    private var numberText: String? {
        guard let string, string != "null",
            string.utf8.first.map({ $0 == UInt8(ascii: "-") || (0x30...0x39) ~= $0 }) == true,
            CanonicalJSON(string)?.text == string
        else { return nil }
        return string
    }

    private static func decimal(_ text: String) -> Decimal? {
        var text = text
        return text.withUTF8 { Decimal(exactly: $0) }
    }

    // MARK: Numbers

    private var wholeNumber: Int64? {
        switch self {
        case .int(let number): number
        case .bool(let flag): flag ? 1 : 0
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): Int64(number.description)
        default: numberText.flatMap { Int64($0) }
        }
    }

    private var binaryNumber: Double? {
        switch self {
        case .int(let number): Double(exactly: number)
        case .bool(let flag): flag ? 1 : 0
        case .double(let number): number
        case .decimal(let number):
            Double(number.description).flatMap { Self.decimal("\($0)") == number ? $0 : nil }
        default:
            numberText.flatMap { text in
                Double(text).flatMap { CanonicalJSON("\($0)")?.text == text ? $0 : nil }
            }
        }
    }

    private var floatNumber: Double? {
        let text: String? =
            switch self {
            case .decimal(let number): number.description
            default: numberText
            }
        guard let text else { return binaryNumber }
        guard let number = Float(text), CanonicalJSON("\(number)")?.text == text else { return nil }
        return Double(number)
    }

    private func decimalNumber(from stored: AttributeType) -> Decimal? {
        switch self {
        case .int(let number): Decimal(number)
        case .bool(let flag): flag ? 1 : 0
        case .decimal(let number): number
        case .double(let number):
            Self.decimal(stored == .float ? "\(Float(number))" : "\(number)").flatMap { decimal in
                let text = decimal.description
                return (stored == .float ? Float(text).map(Double.init) : Double(text)) == number ? decimal : nil
            }
        default: numberText.flatMap(Self.decimal)
        }
    }

    private var flag: Bool? {
        switch string {
        case "true": true
        case "false": false
        case nil:
            switch wholeNumber {
            case 0: false
            case 1: true
            default: nil
            }
        default: nil
        }
    }

    // MARK: Texts

    private func text(from stored: AttributeType) -> String? {
        switch self {
        case .int(let number): String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .double(let number): CanonicalJSON(stored == .float ? "\(Float(number))" : "\(number)")?.text
        case .decimal(let number): number.description
        case .date(let moment): DateText.text(sortable: moment)
        case .uuid(let uuid): uuid.uuidString
        default: string
        }
    }

    /// The moment of a date or of an ISO 8601 text. A number has no unit, so it has no moment.
    private var moment: Timestamp? {
        guard let string, Double(string) == nil else { return nil }
        return DateText.microseconds(string).map(Timestamp.init(microseconds:))
    }

    private func json(from stored: AttributeType) -> CanonicalJSON? {
        switch self {
        case .null: nil
        case .json(let json): json
        case .binary(let data):
            stored == .binary ? data.withUnsafeBytes { CanonicalJSON(utf8: $0.bindMemory(to: UInt8.self)) } : nil
        case .string, .uri, .date, .uuid: text(from: stored).flatMap { try? CanonicalJSON(encoding: $0) }
        case .bool, .int, .double, .decimal: text(from: stored).flatMap { CanonicalJSON($0) }
        }
    }
}
