/// Turns names of attributes into keys of JSON and back.
///
/// Words that are acronyms (`uuid`, `id`, `pdf`, `url`, `png`, `jpg`, `uri`, `json`, `xml`) are
/// written in capitals inside a camelCase name and in small letters in snake_case: `userID` and
/// `user_id`.
package enum JSONKey {
    private static let acronyms = ["uuid", "id", "pdf", "url", "png", "jpg", "uri", "json", "xml"]

    /// The camelCase name of a key: `user_id` gives `userID`, `FirstName` gives `firstName`.
    ///
    /// A key without underscores, hyphens and spaces only loses its first capital. Otherwise each
    /// word between them starts with a capital and goes on in small letters, except the first,
    /// which is all small, and acronyms. Separators at the ends are dropped.
    ///
    /// - Returns: nil for an empty key, for one of separators alone, and for one with separators
    ///   whose words hold anything but letters and digits.
    package static func camelCase(_ key: String) -> String? {
        guard key.contains(where: isSeparator) else { return key.isEmpty ? nil : lowercasingFirst(key) }
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

    /// The snake_case key of a name: `userID` gives `user_id`, `createdAt` gives `created_at`.
    ///
    /// A word starts at each run of capitals; a run that starts with an acronym ends the word
    /// there, so `userIDFirst` gives `user_id_first`. Digits belong to the word before them.
    ///
    /// - Returns: nil for an empty name, for one of separators alone, and for one that holds
    ///   anything but letters, digits, underscores, hyphens and spaces.
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

    private static func lowercasingFirst(_ text: some StringProtocol) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }
}
