/// Conversions between keys and key paths, in which dots separate the keys.
///
/// A backslash escapes a dot, a brace or a backslash within a key: `@odata\.nextLink` is one key.
/// In the key path of a list, `[]` after a key separates the list from the key path of the object
/// within each element: `users.edges[].node`. A name in braces at the end stands for the members
/// of an object: `users{id}`.
package enum JSONKeyPath {
    /// The place of a list.
    package struct List: Equatable, Sendable {
        /// The keys that lead to the list.
        package var list: [String]
        /// The keys that lead from an element to its object; empty if the elements are the objects.
        package var object: [String] = []
        /// What the members of an object in place of the list become; nil for a list.
        package var members: Members?
    }

    /// What the members of an object become, which are read as the elements of a list.
    package struct Members: Equatable, Sendable {
        /// The field of each element that has the key of its member.
        package var key: String
        /// The field that has a value other than an object; nil if such values stay as they are.
        package var value: String?
    }

    /// The place of the list at a key path.
    package static func list(at text: String) -> List {
        if let found = members(at: text) { return found }
        guard let mark = text.firstRange(of: "[].") else { return List(list: keys(of: text)) }
        return List(
            list: keys(of: String(text[..<mark.lowerBound])), object: keys(of: String(text[mark.upperBound...])))
    }

    /// The place of members, such as `users{id}` or `{code:name}`; nil for another key path.
    private static func members(at text: String) -> List? {
        guard text.last == "}", let brace = text.lastIndex(of: "{"),
            text[..<brace].reversed().prefix(while: { $0 == "\\" }).count.isMultiple(of: 2)
        else { return nil }
        let fields = text[text.index(after: brace)...].dropLast().split(
            separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(fields.count), !fields.contains("") else { return nil }
        return List(
            list: keys(of: String(text[..<brace])),
            members: Members(key: String(fields[0]), value: fields.count > 1 ? String(fields[1]) : nil))
    }

    /// The keys of a key path, without empty keys.
    package static func keys(of text: String) -> [String] {
        var keys: [String] = []
        var key = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                if !".\\{".contains(character) { key.append("\\") }
                key.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "." {
                if !key.isEmpty { keys.append(key) }
                key = ""
            } else {
                key.append(character)
            }
        }
        if isEscaped { key.append("\\") }
        if !key.isEmpty { keys.append(key) }
        return keys
    }

    /// The key path for a list of keys.
    package static func text(of keys: [String]) -> String {
        keys.map { key in
            ["\\", ".", "{"].reduce(key) { $0.replacing($1, with: "\\" + $1) }
        }.joined(separator: ".")
    }
}
