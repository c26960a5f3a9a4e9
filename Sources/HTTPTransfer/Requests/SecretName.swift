/// Recognizes query parameters whose values are credentials, by their names.
///
/// A name is divided into words, at capital letters and at all characters other than letters and
/// digits. `private_token`, `hapikey` and `X-Goog-Signature` are credentials. `nextPageToken` and
/// `startkey` are positions in a list.
package enum SecretName {
    /// Words that indicate credentials.
    private static let words: Set<String> = [
        "appid", "auth", "authorization", "credential", "credentials", "jsessionid", "jwt", "oauth", "pass", "passcode",
        "passphrase", "phpsessid", "pin", "session", "sessionid", "sid", "sig",
    ]
    /// Endings of words that indicate credentials, such as `apikey`.
    private static let endings = ["key", "password", "passwd", "pwd", "secret", "signature", "token"]
    /// Words before a token or key that is a position in a list, or that orders a list.
    private static let places: Set<String> = [
        "after", "before", "change", "changes", "continuation", "continue", "cursor", "delta", "end", "from", "group",
        "last", "next", "offset", "order", "page", "paging", "pagination", "prev", "previous", "primary", "resume",
        "resumption", "scroll", "since", "skip", "sort", "start", "starting", "sync",
    ]

    /// Whether a query parameter of this name contains a credential.
    ///
    /// - Parameter others: Names of credentials in addition to those whose words say so.
    package static func isSecret(_ name: some StringProtocol, or others: Set<String> = []) -> Bool {
        if !others.isEmpty, others.contains(String(name)) { return true }
        let words = words(of: name)
        return words.indices.contains { index in
            let word = words[index]
            if Self.words.contains(word) { return true }
            guard let ending = endings.first(where: { word.hasSuffix($0) }) else { return false }
            let stem = word.dropLast(ending.count)
            let before = stem.isEmpty ? index > 0 ? words[index - 1] : "" : String(stem)
            return !places.contains(before)
        }
    }

    /// The words of a name, in lowercase.
    private static func words(of name: some StringProtocol) -> [String] {
        var words: [String] = []
        var wasLowercase = false
        var isInside = false
        for character in name {
            guard character.isLetter || character.isNumber else {
                isInside = false
                continue
            }
            if !isInside || wasLowercase && character.isUppercase { words.append("") }
            words[words.count - 1] += character.lowercased()
            isInside = true
            wasLowercase = character.isLowercase
        }
        return words
    }
}
