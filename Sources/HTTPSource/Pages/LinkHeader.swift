import HTTPTransfer

/// The `Link` field of a response (RFC 8288, section 3).
enum LinkHeader {
    /// A part of a field. All delimiters are ASCII.
    private typealias Bytes = Substring.UTF8View

    /// Returns the target of the first link with a relation.
    ///
    /// - Returns: The target as it is written, which may be relative; nil if there is no such link.
    /// - Throws: `unsuitablePointer` if a part of the field that cannot be read may be such a link.
    static func target(of relation: String, in field: String) throws(HTTPError.Problem) -> String? {
        var rest = withoutSeparators(Substring(field).utf8)
        var isReadable = true
        while rest.first == UInt8(ascii: "<"), let close = rest.firstIndex(of: UInt8(ascii: ">")) {
            let target = rest[..<close].dropFirst()
            // The end of this target is missing.
            if target.contains(UInt8(ascii: "<")) { break }
            let (parameters, end) = parameters(rest[close...].dropFirst())
            // If a link has several `rel` parameters, the first counts (section 3.3).
            let relations = parameters.first { $0.name == "rel" }?.value.split(whereSeparator: \.isWhitespace) ?? []
            if relations.contains(where: { $0.lowercased() == relation }) { return String(Substring(target)) }
            // Each link must have a relation.
            if relations.isEmpty { isReadable = false }
            rest = withoutSeparators(end)
        }
        guard isReadable, rest.isEmpty else {
            throw .unsuitablePointer(keyPath: "Link", found: "a text that is no list of links")
        }
        return nil
    }

    /// The parameters of one link, and the text after them.
    private static func parameters(_ text: Bytes) -> ([(name: String, value: String)], Bytes) {
        var parameters: [(name: String, value: String)] = []
        var rest = text.drop(while: isBlank)
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst().drop(while: isBlank)
            let name = rest.prefix { !"=;,<".utf8.contains($0) }
            rest = rest[name.endIndex...]
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop(while: isBlank)
                (value, rest) = Self.value(rest)
            }
            parameters.append((String(decoding: name.filter { !isBlank($0) }, as: UTF8.self).lowercased(), value))
            rest = rest.drop(while: isBlank)
        }
        return (parameters, rest)
    }

    /// A token or a quoted string at the start of a text, and the text after it.
    ///
    /// Some servers use single quotes. A string without its end is no value.
    private static func value(_ text: Bytes) -> (String, Bytes) {
        guard let quote = text.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let token = text.prefix { !";,<\"".utf8.contains($0) }
            return (String(Substring(token)), text[token.endIndex...])
        }
        var value: [UInt8] = []
        var rest = text.dropFirst()
        while let byte = rest.popFirst() {
            if byte == quote { return (String(decoding: value, as: UTF8.self), rest) }
            value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return ("", text)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// The text without the blanks and commas before the next link.
    private static func withoutSeparators(_ text: Bytes) -> Bytes {
        text.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
    }
}
