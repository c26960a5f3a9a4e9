/// A text as a key, compared byte by byte.
///
/// Swift's `String` considers canonically equivalent texts equal, such as `é` as one and as two
/// scalars. File systems, object stores and databases consider them two keys.
///
/// ```swift
/// struct Photo: SyncItem {
///     var owsPrimaryKey: SyncKey
/// }
/// ```
public struct SyncKey: Hashable, Sendable {
    /// The text.
    public let text: String

    /// Creates a key.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether two keys have the same bytes in UTF-8.
    public static func == (left: SyncKey, right: SyncKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension SyncKey: Comparable {
    /// Whether a key is before another one in the order of their bytes.
    public static func < (left: SyncKey, right: SyncKey) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension SyncKey: ExpressibleByStringLiteral {
    /// Creates a key from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension SyncKey: Codable {
    /// Decodes a string.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes the text as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SyncKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The text.
    public var description: String { text }

    /// The text in quotation marks, with escapes for characters that are not printable.
    public var debugDescription: String { text.debugDescription }
}
