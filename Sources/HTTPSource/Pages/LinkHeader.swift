/// The `Link` field of a response (RFC 8288, section 3).
enum LinkHeader {
    /// A part of a field. All delimiters are ASCII.
    private typealias Bytes = Substring.UTF8View

    /// Returns the target of the first link with a relation.
    ///
    /// - Returns: The target as it is written, which may be relative; nil if there is no such link.
    static func target(of relation: String, in field: String) -> String? {
        var rest = Substring(field).utf8
        while let open = rest.firstIndex(of: UInt8(ascii: "<")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: ">"))
        {
            let target = rest[rest.index(after: open)..<close]
            let (parameters, end) = parameters(rest[rest.index(after: close)...])
            // If a link has several `rel` parameters, the first counts (section 3.3).
            let relations = parameters.first { $0.name == "rel" }?.value.split(whereSeparator: \.isWhitespace) ?? []
            if relations.contains(where: { $0.lowercased() == relation }) { return String(Substring(target)) }
            rest = end
        }
        return nil
    }

    /// The parameters of one link, and the text after the comma that follows it.
    private static func parameters(_ text: Bytes) -> ([(name: String, value: String)], Bytes) {
        var parameters: [(name: String, value: String)] = []
        var rest = text.drop(while: isBlank)
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst().drop(while: isBlank)
            let name = rest.prefix { !"=;,".utf8.contains($0) }
            rest = rest[name.endIndex...]
            var value = ""
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop(while: isBlank)
                (value, rest) = Self.value(rest)
            }
            parameters.append((withoutBlanks(name).lowercased(), value))
            rest = rest.drop(while: isBlank)
        }
        let comma = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        return (parameters, rest[comma...].dropFirst())
    }

    /// A token or a quoted string at the start of a text, and the text after it.
    private static func value(_ text: Bytes) -> (String, Bytes) {
        guard text.first == UInt8(ascii: "\"") else {
            let token = text.prefix { !";,".utf8.contains($0) }
            return (withoutBlanks(token), text[token.endIndex...])
        }
        var value: [UInt8] = []
        var rest = text.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            value.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return (String(decoding: value, as: UTF8.self), rest)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static func withoutBlanks(_ text: Bytes) -> String {
        String(decoding: text.filter { !isBlank($0) }, as: UTF8.self)
    }
}
