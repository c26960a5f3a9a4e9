/// The `Link` field of a response (RFC 8288, section 3).
enum LinkHeader {
    /// Returns the target of the first link with a relation.
    ///
    /// - Returns: The target as it is written, which may be relative; nil if there is no such link.
    static func target(of relation: String, in field: String) -> String? {
        var rest = Substring(field)
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            let (parameters, end) = parameters(rest[rest.index(after: close)...])
            // If a link has several `rel` parameters, the first counts (section 3.3).
            let relations = parameters.first { $0.name == "rel" }?.value.split(whereSeparator: \.isWhitespace) ?? []
            if relations.contains(where: { $0.lowercased() == relation }) { return String(target) }
            rest = end
        }
        return nil
    }

    /// The parameters of one link, and the text after the comma that follows it.
    private static func parameters(_ text: Substring) -> ([(name: String, value: String)], Substring) {
        var parameters: [(name: String, value: String)] = []
        var rest = text.drop(while: \.isWhitespace)
        while rest.first == ";" {
            rest = rest.dropFirst().drop(while: \.isWhitespace)
            let name = rest.prefix { !"=;,".contains($0) }
            rest = rest.dropFirst(name.count)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop(while: \.isWhitespace)
                (value, rest) = Self.value(rest)
            }
            parameters.append((name.lowercased().filter { !$0.isWhitespace }, value))
            rest = rest.drop(while: \.isWhitespace)
        }
        let comma = rest.firstIndex(of: ",") ?? rest.endIndex
        return (parameters, rest[comma...].dropFirst())
    }

    /// A token or a quoted string at the start of a text, and the text after it.
    private static func value(_ text: Substring) -> (String, Substring) {
        guard text.first == "\"" else {
            let token = text.prefix { !";,".contains($0) }
            return (token.filter { !$0.isWhitespace }, text.dropFirst(token.count))
        }
        var value = ""
        var rest = text.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
        return (value, rest)
    }
}
