/// Header fields of a request or response (RFC 9110, section 5).
///
/// Names are case-insensitive. Values are omitted from `description`, because some are secrets. A
/// request with a name or a value that RFC 9110 does not allow is not sent; see
/// ``HTTPError/Problem/invalidRequest(_:)``.
public struct HTTPHeaders: Hashable, Sendable {
    private struct Field: Hashable {
        var name: String
        var value: String
    }

    /// Sorted by name, with names in lowercase. There are few, so that a search is faster than a
    /// hash.
    private var list: [Field] = []

    /// Creates an empty set of fields.
    public init() {}

    /// Creates fields. Values with the same name are joined by commas.
    public init(_ fields: some Sequence<(name: String, value: String)>) {
        for (name, value) in fields {
            let (index, isFound) = place(of: name.lowercased())
            if isFound {
                list[index].value += ", \(value)"
            } else {
                list.insert(Field(name: name.lowercased(), value: value), at: index)
            }
        }
    }

    /// The value of a field; nil if there is none.
    public subscript(name: String) -> String? {
        get {
            if list.isEmpty { return nil }
            let (index, isFound) = place(of: name.lowercased())
            return isFound ? list[index].value : nil
        }
        set { set(name.lowercased(), to: newValue) }
    }

    /// The fields sorted by name, with names in lowercase.
    public var fields: [(name: String, value: String)] {
        list.map { ($0.name, $0.value) }
    }

    /// Adds fields, and replaces fields of the same name.
    public mutating func merge(_ others: HTTPHeaders) {
        for field in others.list { set(field.name, to: field.value) }
    }

    private mutating func set(_ name: String, to value: String?) {
        let (index, isFound) = place(of: name)
        switch (value, isFound) {
        case (let value?, true): list[index].value = value
        case (let value?, false): list.insert(Field(name: name, value: value), at: index)
        case (nil, true): list.remove(at: index)
        case (nil, false): break
        }
    }

    /// The index of the first field whose name is not less than this one, and whether it is equal.
    private func place(of name: String) -> (index: Int, isFound: Bool) {
        let index = list.firstIndex { $0.name >= name } ?? list.endIndex
        return (index, index < list.endIndex && list[index].name == name)
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
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        return !isBlank(text.utf8.first) && !isBlank(text.utf8.last)
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    /// The value of a field of a response, if a request can send it back; otherwise nil.
    package func returnable(_ name: String) -> String? {
        self[name].flatMap { Self.isValue($0) ? $0 : nil }
    }

    /// Whether the length of a body is unusable: no number, one beyond 64 bits, or several
    /// different ones (RFC 9112, section 6.3).
    var hasUnusableLength: Bool {
        guard let text = self["Content-Length"] else { return false }
        let lengths = text.split { ", \t".contains($0) }.map { Int($0) ?? -1 }
        return lengths.contains { $0 < 0 } || Set(lengths).count != 1
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
        list.map(\.name).joined(separator: ", ")
    }
}
