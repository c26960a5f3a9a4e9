package import Foundation

/// A JSON value as canonical text: texts of the same value are equal byte for byte.
///
///     CanonicalJSON(#"{ "b": 1.0, "a": "\u0041" }"#)?.text     // {"a":"A","b":1}
///
/// White space, escapes, and the order of keys in an object do not distinguish values. The order of
/// elements in an array does. Numbers are compared exactly as decimal numbers: `1`, `1.0` and
/// `10e-1` are the same. Of a key that occurs twice in an object, the last value counts.
///
/// The canonical text has no white space between tokens. Keys are in the order of their bytes.
/// Only quotation marks, backslashes and control characters are escaped. A number has no redundant
/// zeros, and has an exponent only if it would otherwise need more than 20 zeros at its end, or
/// more than 6 after its point.
///
/// The limits are those of the databases that store such values:
///
/// - Arrays and objects are nested at most 1,000 deep.
/// - A number, written without an exponent, has at most 131,072 digits before its point and 16,383
///   after it. It ends in at most 400 zeros, and begins with at most 400.
public struct CanonicalJSON: Sendable {
    /// The canonical text.
    public let text: String

    /// Creates a value from JSON text; nil unless it is one JSON value (RFC 8259) within the
    /// limits.
    public init?(_ text: String) {
        guard let value = text.withUTF8Bytes({ Self(utf8: $0) }) else { return nil }
        self = value
    }

    /// Creates a value from JSON text as UTF-8; nil unless it is one JSON value within the limits.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    public init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        var canonical: [UInt8] = []
        guard CanonicalJSONWriter.append(canonical: bytes, to: &canonical) != .failed else { return nil }
        text = String(decoding: canonical, as: UTF8.self)
    }

    /// Creates a value from text that is already canonical, without a check.
    init(canonical text: String) {
        self.text = text
    }

    /// Creates a value by encoding a value of a Swift type.
    ///
    /// Dates are encoded as ISO 8601 with microseconds.
    ///
    /// - Throws: The error of the encoding, or `EncodingError.invalidValue` if the result exceeds a
    ///   limit.
    public init(encoding value: some Encodable) throws {
        guard let encoded = Self(String(decoding: try Self.data(encoding: value), as: UTF8.self)) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "the JSON exceeds a limit of CanonicalJSON"))
        }
        self = encoded
    }

    /// Whether the value is an array of strings, found without decoding it.
    package var isListOfStrings: Bool {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var bytes = text.utf8.makeIterator()
        guard bytes.next() == UInt8(ascii: "["), text.utf8.count > 2 else { return text == "[]" }
        repeat {
            guard bytes.next() == quote else { return false }
            while let byte = bytes.next(), byte != quote {
                if byte == backslash { _ = bytes.next() }
            }
        } while bytes.next() == UInt8(ascii: ",")
        return true
    }

    /// Decodes the value as a Swift type.
    ///
    /// Dates are decoded from ISO 8601 text and from Unix timestamps.
    ///
    /// - Throws: The error of the decoding.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try Self.decode(type, from: Data(text.utf8))
    }

    /// Whether the value is the JSON `null`, which attributes store as `AttributeValue.null`.
    public var isNull: Bool {
        text == "null"
    }
}

extension CanonicalJSON {
    /// Encodes a value of a Swift type as JSON text, as ``init(encoding:)`` does.
    package static func data(encoding value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            guard let text = DateText.text(sortable: Timestamp(date)) else {
                throw EncodingError.invalidValue(
                    date, .init(codingPath: encoder.codingPath, debugDescription: "the year has more than four digits"))
            }
            try container.encode(text)
        }
        return try encoder.encode(value)
    }

    /// Decodes JSON text as a Swift type, as ``decode(_:)`` does.
    package static func decode<T: Decodable>(_ type: T.Type, from text: Data) throws -> T {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) { return Date(timeIntervalSince1970: seconds) }
            guard let microseconds = DateText.microseconds(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date")
            }
            return Timestamp(microseconds: microseconds).date
        }
        return try decoder.decode(type, from: text)
    }
}

extension CanonicalJSON: Hashable, CustomStringConvertible {
    /// Returns whether two values are equal.
    public static func == (one: CanonicalJSON, other: CanonicalJSON) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Hashes the bytes of the canonical text.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 {
            hasher.combine(byte)
        }
        hasher.combine(0xFF as UInt8)
    }

    /// The canonical text.
    public var description: String {
        text
    }
}

extension CanonicalJSON: Codable {
    /// Decodes a value from a string that contains its text.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the string is not one JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a JSON value")
        }
        self = value
    }

    /// Encodes the value as a string with its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension CanonicalJSON: AttributeRepresentable {
    /// `json`.
    public static var attributeType: AttributeType { .json }

    /// The name that the compiler shows if a condition or an ordering compares JSON values.
    public enum HasNoOrder {}

    /// JSON values can only be equal: each database orders them in its own way.
    public typealias Ordered = HasNoOrder

    /// A `.json` value, or null for the JSON `null`.
    public var value: AttributeValue { isNull ? .null : .json(self) }

    /// Creates the JSON of a `.json` value.
    public init?(_ value: AttributeValue) {
        guard case .json(let json) = value else { return nil }
        self = json
    }
}

extension CanonicalJSON {
    /// Compares two JSON texts by the bytes of their canonical forms; a text that is not JSON is
    /// compared as it is.
    ///
    /// - Returns: A negative number, zero, or a positive number.
    package static func compare(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Int32 {
        if one.elementsEqual(other) { return 0 }
        let (bytes, otherBytes) = (canonicalBytes(one), canonicalBytes(other))
        if bytes == otherBytes { return 0 }
        return bytes.lexicographicallyPrecedes(otherBytes) ? -1 : 1
    }

    private static func canonicalBytes(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        return CanonicalJSONWriter.append(canonical: text, to: &bytes) == .failed ? Array(text) : bytes
    }
}
