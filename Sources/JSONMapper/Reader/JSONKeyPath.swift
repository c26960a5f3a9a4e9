/// Conversions between keys and key paths, in which dots separate the keys.
///
/// A backslash escapes a dot or a backslash within a key: `@odata\.nextLink` is one key.
package enum JSONKeyPath {
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
