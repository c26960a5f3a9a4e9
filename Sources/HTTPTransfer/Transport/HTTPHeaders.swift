import SyncBase

/// Header fields of a request or response (RFC 9110, section 5).
///
/// Names are case-insensitive. Values are omitted from `description`, because some are secrets.
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
