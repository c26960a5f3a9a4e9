public import Foundation

/// A value of an attribute.
///
/// **Equality** is the rule by which stores compare their contents. Two values are equal if they
/// have the same kind and content:
///
/// - `.int(1)` and `.double(1)` differ.
/// - Texts are compared by their UTF-8 bytes, as in SQL: two normalization forms of a letter
///   differ.
/// - `1.50` and `1.5` are the same decimal.
/// - JSON values are equal as `CanonicalJSON` describes.
/// - Zero and minus zero are the same double, and NaN equals itself.
///
/// The *comparisons of predicates* use `compare(_:)` instead, in which `1` and `1.0` are equal.
public enum AttributeValue: Sendable {
    /// No value.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// An integer.
    case int(Int64)
    /// A binary floating-point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A point in time.
    case date(Timestamp)
    /// Bytes.
    case binary(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URI, as the text it was read from.
    case uri(String)
    /// A JSON value other than `null`, which is `.null`.
    case json(CanonicalJSON)

    /// Whether the value is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension AttributeValue: Hashable {
    /// Returns whether two values have the same kind and content.
    public static func == (one: AttributeValue, other: AttributeValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.int(let one), .int(let other)): one == other
        case (.double(let one), .double(let other)): one == other || (one.isNaN && other.isNaN)
        case (.decimal(let one), .decimal(let other)): one == other
        case (.string(let one), .string(let other)), (.uri(let one), .uri(let other)):
            one.utf8.elementsEqual(other.utf8)
        case (.date(let one), .date(let other)): one == other
        case (.binary(let one), .binary(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.json(let one), .json(let other)): one == other
        default: false
        }
    }

    /// Hashes the kind and the content, by the rules of equality.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .bool(let flag): hasher.combine(flag)
        case .int(let number): hasher.combine(number)
        case .double(let number): hasher.combine(number.isNaN ? .nan : number)
        // Equal decimals can have different parts, which Foundation hashes.
        case .decimal(let number): hasher.combine(number.description)
        case .string(let text), .uri(let text):
            for byte in text.utf8 {
                hasher.combine(byte)
            }
            hasher.combine(0xFF as UInt8)
        case .date(let moment): hasher.combine(moment)
        case .binary(let data): hasher.combine(data)
        case .uuid(let uuid): hasher.combine(uuid)
        case .json(let json): hasher.combine(json)
        }
    }

    /// The rank of the kind in a sort; all numbers share a rank.
    var kindRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .double, .decimal: 2
        case .string: 3
        case .date: 4
        case .binary: 5
        case .uuid: 6
        case .uri: 7
        case .json: 8
        }
    }

    private var rank: Int {
        switch self {
        case .int: 9
        case .double: 10
        case .decimal: 11
        default: kindRank
        }
    }
}
