import SyncBase

/// Header fields of a request or response (RFC 9110, section 5).
///
/// Names are case-insensitive. Values are omitted from `description`, because some are secrets. A
/// request with a name or a value that RFC 9110 does not allow is not sent; see
/// ``HTTPError/Problem/invalidRequest(_:)``.
public struct HTTPHeaders: Hashable, Sendable {
    private var values: [String: String] = [:]

    /// Creates an empty set of fields.
    public init() {}

    /// Creates fields. Values with the same name are joined by commas.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        for (name, value) in fields {
            self[name] = self[name].map { "\($0), \(value)" } ?? value
        }
    }

    /// The value of a field; nil if there is none.
    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }

    /// The fields sorted by name, with names in lowercase.
    public var fields: [(name: String, value: String)] {
        values.sortedByKey.map { ($0.key, $0.value) }
    }

    /// Adds fields, and replaces fields of the same name.
    public mutating func merge(_ others: HTTPHeaders) {
        values.merge(others.values) { $1 }
    }

    /// Whether a text can be the name of a field: a token (RFC 9110, section 5.6.2).
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// Whether a text can be the value of a field: without control characters other than tabs, and
    /// without blanks at its ends (RFC 9110, section 5.5). It can be empty.
    package static func isValue(_ text: String) -> Bool {
        let blanks: [UInt8?] = [0x20, 0x09]
        return !blanks.contains(text.utf8.first) && !blanks.contains(text.utf8.last)
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// The value of a field of a response, if a request can send it back; otherwise nil.
    package func returnable(_ name: String) -> String? {
        self[name].flatMap { Self.isValue($0) ? $0 : nil }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates fields from a literal such as `["Accept": "application/json"]`.
    public init(dictionaryLiteral fields: (String, String)...) {
        self.init(fields.map { (name: $0, value: $1) })
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The names of the fields.
    public var description: String {
        values.keys.sorted().joined(separator: ", ")
    }
}
