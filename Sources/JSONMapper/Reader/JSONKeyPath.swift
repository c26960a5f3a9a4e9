/// Conversions between keys and key paths, in which dots separate the keys.
///
/// A backslash escapes a dot or a backslash within a key: `@odata\.nextLink` is one key. In the key
/// path of a list, `[]` after a key separates the list from the key path of the object within each
/// element: `users.edges[].node`.
package enum JSONKeyPath {
    /// The key path of a list, divided at the first `[].`.
    ///
    /// - Returns: The keys that lead to the list, and the keys that lead from an element to its
    ///   object; the second list is empty if the elements are the objects.
    package static func list(at text: String) -> (list: [String], object: [String]) {
        guard let mark = text.firstRange(of: "[].") else { return (keys(of: text), []) }
        return (keys(of: String(text[..<mark.lowerBound])), keys(of: String(text[mark.upperBound...])))
    }

    /// The keys of a key path, without empty keys.
    package static func keys(of text: String) -> [String] {
        var keys: [String] = []
        var key = ""
        var isEscaped = false
        for character in text {
            if isEscaped {
                if character != ".", character != "\\" { key.append("\\") }
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
        keys.map { $0.replacing("\\", with: "\\\\").replacing(".", with: "\\.") }.joined(separator: ".")
    }
}
