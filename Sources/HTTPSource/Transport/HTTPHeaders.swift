/// Header fields of a request or response (RFC 9110, section 5); names are compared without case.
///
/// Values are kept out of `description`, since some of them are secrets.
public struct HTTPHeaders: Hashable, Sendable {
    private var values: [String: String] = [:]

    /// Makes no fields.
    public init() {}

    /// Makes fields; of several of one name the values are joined by commas.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        for (name, value) in fields {
            self[name] = self[name].map { "\($0), \(value)" } ?? value
        }
    }

    /// The value of a field; nil where there is none.
    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }

    /// The fields, names in lower case, in the order of the names.
    public var fields: [(name: String, value: String)] {
        values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Adds fields, or replaces those there are.
    public mutating func merge(_ others: HTTPHeaders) {
        values.merge(others.values) { $1 }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Makes fields, as in `["Accept": "application/json"]`.
    public init(dictionaryLiteral fields: (String, String)...) {
        self.init(fields.map { (name: $0, value: $1) })
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The names.
    public var description: String {
        values.keys.sorted().joined(separator: ", ")
    }
}
