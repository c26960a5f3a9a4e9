/// Conversions between attribute names and JSON keys.
///
/// Acronyms (`uuid`, `id`, `pdf`, `url`, `png`, `jpg`, `uri`, `json`, `xml`) are uppercase inside a
/// camelCase name and lowercase in snake_case: `userID` and `user_id`.
package enum JSONKey {
    private static let acronyms = ["uuid", "id", "pdf", "url", "png", "jpg", "uri", "json", "xml"]

    /// Returns the camelCase name of a key: `userID` for `user_id`, `firstName` for `FirstName`.
    ///
    /// In a key without underscores, hyphens and spaces, only the first character becomes
    /// lowercase. Otherwise, the words between these separators are capitalized, except that the
    /// first word is lowercase and acronyms are uppercase. Separators at the ends are dropped.
    ///
    /// - Returns: The name; nil if the key is empty or has only separators, or if it has separators
    ///   and a word has characters other than letters and digits.
    package static func camelCase(_ key: String) -> String? {
        guard key.contains(where: isSeparator) else {
            return key.isEmpty ? nil : key.prefix(1).lowercased() + key.dropFirst()
        }
        var name = ""
        for word in key.split(whereSeparator: isSeparator) {
            guard word.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
            let small = word.lowercased()
            if name.isEmpty {
                name = small
            } else if acronyms.contains(small) {
                name += small.uppercased()
            } else {
                name += small.prefix(1).uppercased() + small.dropFirst()
            }
        }
        return name.isEmpty ? nil : name
    }

    /// Returns the snake_case key of a name: `user_id` for `userID`, `created_at` for `createdAt`.
    ///
    /// A word begins at each run of uppercase letters. If the run starts with an acronym, the
    /// acronym is a word by itself: `user_id_first` for `userIDFirst`. Digits belong to the word
    /// before them.
    ///
    /// - Returns: The key; nil if the name is empty or has only separators, or if it has characters
    ///   other than letters, digits, underscores, hyphens and spaces.
    package static func snakeCase(_ name: String) -> String? {
        var words: [String] = []
        for part in name.split(whereSeparator: isSeparator) {
            guard part.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
            var rest = part
            while !rest.isEmpty {
                let capitals = rest.prefix { $0.isUppercase }
                let tail = rest.dropFirst(capitals.count).prefix { !$0.isUppercase }
                rest = rest.dropFirst(capitals.count + tail.count)
                let small = capitals.lowercased()
                if let acronym = acronyms.first(where: { small.hasPrefix($0) }), small != acronym {
                    words += [acronym, String(small.dropFirst(acronym.count) + tail)]
                } else {
                    words.append(small + tail)
                }
            }
        }
        return words.isEmpty ? nil : words.joined(separator: "_")
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character == "_" || character == "-" || character == " "
    }
}
