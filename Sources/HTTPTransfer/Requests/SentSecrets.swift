package import Foundation

/// The credentials that a request sent, which are removed from everything shown of its response.
///
/// A credential is found unescaped, and in every mixture of percent, JSON and HTML escapes. It is
/// also found as base64 or hexadecimal digits, and if the text ends in the middle of it.
package struct SentSecrets: Sendable {
    /// The text that replaces a credential.
    private static let mark = Array("[redacted]".utf8)
    /// The minimum number of bytes of a credential. Shorter values occur in ordinary words.
    private static let minimumByteCount = 4
    /// The minimum for fields whose names do not indicate a credential.
    private static let minimumByteCountOfOthers = 8
    /// Parts of the names of header fields that contain credentials.
    private static let credentialWords = [
        "auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token",
    ]
    /// Header fields whose values are not credentials, in lowercase.
    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-type", "date",
        "if-match", "if-modified-since", "if-none-match", "if-range", "last-event-id", "origin", "prefer", "range",
        "referer", "user-agent", "x-github-api-version",
    ]

    /// The credentials in all their forms, the longest first.
    private let forms: [[UInt8]]
    /// Names of query parameters that are credentials although their names do not say so.
    private let parameters: Set<String>

    /// Creates an empty set.
    package init() {
        (forms, parameters) = ([], [])
    }

    /// Finds the credentials of several requests for an address, such as before and after a token
    /// was refreshed.
    ///
    /// - Parameters:
    ///   - headers: The header fields of each request that only the origin may receive.
    ///   - url: The address.
    ///   - parameters: Names of query parameters that are credentials although their names do not
    ///     say so; none by default.
    package init(allOf headers: Set<HTTPHeaders>, url: URL, parameters: Set<String> = []) {
        var secrets: Set<[UInt8]> = []
        func insert(_ text: some StringProtocol, atLeast byteCount: Int = Self.minimumByteCount) {
            if text.utf8.count >= byteCount { secrets.insert(Array(text.utf8)) }
        }
        // Some servers expect a key as the user name.
        func insert(user: String, password: String) {
            insert(password.isEmpty ? user : password)
            if !password.isEmpty { insert("\(user):\(password)") }
        }
        for (name, value) in headers.flatMap(\.fields) where !Self.harmless.contains(name) {
            let isNamed = Self.credentialWords.contains { name.contains($0) }
            let byteCount = isNamed ? Self.minimumByteCount : Self.minimumByteCountOfOthers
            insert(value, atLeast: byteCount)
            // `Bearer TOKEN`, `a=TOKEN; b=TOKEN`, `Digest name="TOKEN"`.
            var words = value.split(whereSeparator: { " ;,".contains($0) })
            if words.count > 1, words.first?.contains("=") == false { words.removeFirst() }
            for word in words {
                let bare = word.drop { $0 != "=" }.dropFirst().trimmingCharacters(in: CharacterSet(charactersIn: "\""))
                insert(bare.isEmpty || bare.allSatisfy { $0 == "=" } ? String(word) : bare, atLeast: byteCount)
            }
            guard value.lowercased().hasPrefix("basic "),
                let data = Data(base64Encoded: value.dropFirst(6).trimmingCharacters(in: .whitespaces))
            else { continue }
            let pair = String(decoding: data, as: UTF8.self)
            let user = pair.prefix { $0 != ":" }
            insert(user: String(user), password: String(pair.dropFirst(user.count + 1)))
        }
        if let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) {
            insert(user: parts.user ?? "", password: parts.password ?? "")
            for item in parts.queryItems ?? [] where SecretName.isSecret(item.name, or: parameters) {
                insert(item.value ?? "")
            }
        }
        var forms = secrets
        for secret in secrets {
            forms.formUnion(Self.base64(of: secret))
            for isUppercase in [true, false] {
                forms.insert(
                    secret.flatMap { byte in
                        let digits = String(byte, radix: 16, uppercase: isUppercase)
                        return Array((digits.count == 1 ? "0" + digits : digits).utf8)
                    })
            }
        }
        self.parameters = parameters
        self.forms = forms.sorted { $0.count != $1.count ? $0.count > $1.count : $0.lexicographicallyPrecedes($1) }
    }

    /// The base64 digits of a text that do not depend on the surrounding bytes, for each of its
    /// three possible offsets.
    private static func base64(of secret: [UInt8]) -> Set<[UInt8]> {
        var forms: Set<[UInt8]> = []
        for shift in 0..<3 {
            let digits = Array(Data([UInt8](repeating: 0, count: shift) + secret).base64EncodedString().utf8)
            let first = (shift * 8 + 5) / 6
            let end = (shift + secret.count) * 8 / 6
            guard end - first >= minimumByteCount + 1 else { continue }
            let stable = Array(digits[first..<end])
            forms.insert(stable)
            forms.insert(
                stable.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                }
            )
        }
        return forms
    }

    // MARK: Searching

    /// Whether a text contains a credential of eight bytes or more.
    package func isFound(in text: String) -> Bool {
        let bytes = Array(text.utf8)
        let long = forms.prefix { $0.count >= Self.minimumByteCountOfOthers }
        return !long.isEmpty
            && bytes.indices.contains { length(at: $0, of: bytes, isOpenEnded: false, among: long) != nil }
    }

    /// The text without credentials.
    package func redacted(_ text: String) -> String {
        forms.isEmpty ? text : String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
    }

    /// The text without credentials, even if the last one is truncated.
    package func redacted(_ bytes: [UInt8]) -> [UInt8] {
        guard !forms.isEmpty else { return bytes }
        var written: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let length = length(at: index, of: bytes, isOpenEnded: true, among: forms[...]) {
                written += Self.mark
                index += length
            } else {
                written.append(bytes[index])
                index += 1
            }
        }
        return written
    }

    /// The problem, without credentials in its texts.
    package func redacted(_ problem: HTTPError.Problem) -> HTTPError.Problem {
        switch problem {
        case .unreachable(let reason, let isLasting): .unreachable(redacted(reason), isLasting: isLasting)
        case .status(let status, let line, let wait): .status(status, firstLine: redacted(line), retryAfter: wait)
        case .notJSON(let line): .notJSON(firstLine: redacted(line))
        case .forbiddenAddress(let reason, let target): .forbiddenAddress(reason, target: redacted(target))
        case .forbiddenDestination(let text): .forbiddenDestination(redacted(text))
        case .unsuitablePointer(let keyPath, let found):
            .unsuitablePointer(keyPath: redacted(keyPath), found: redacted(found))
        case .refused(let sign, let text): .refused(sign, text: redacted(text))
        case .malformed(let text): .malformed(redacted(text))
        case .unsuitableJSON(let reason, let line): .unsuitableJSON(redacted(reason), firstLine: redacted(line))
        case .cannotWrite(let reason): .cannotWrite(redacted(reason))
        case .unsuitableSettings(let text): .unsuitableSettings(redacted(text))
        case .invalidRequest(let text): .invalidRequest(redacted(text))
        case .timedOut, .tooSlow, .emptyBody, .cutShort, .tooLarge, .tooManyRedirects, .pageLoop, .repeatedPage,
            .tooManyPages:
            problem
        }
    }

    /// The error of a request, without the credentials that it sent.
    package func error(at url: URL, _ problem: HTTPError.Problem) -> HTTPError {
        var shown = url
        // A server may lead to an address whose path contains the credential.
        if isFound(in: url.path),
            let bare = URL(string: redacted(url.absoluteString).replacing("[redacted]", with: "…"))
        {
            shown = bare
        }
        if !parameters.isEmpty, var parts = URLComponents(url: shown, resolvingAgainstBaseURL: true) {
            parts.queryItems = parts.queryItems?.map { item in
                parameters.contains(item.name) ? URLQueryItem(name: item.name, value: "…") : item
            }
            shown = parts.url ?? shown
        }
        return HTTPError(url: shown, problem: redacted(problem))
    }

    /// The length in bytes of the longest credential that begins at an index; nil if none does.
    private func length(
        at start: Int, of bytes: [UInt8], isOpenEnded: Bool, among forms: ArraySlice<[UInt8]>
    ) -> Int? {
        for form in forms {
            var index = start
            var matched = 0
            while matched < form.count, index < bytes.count {
                guard let (byte, length) = Self.unit(at: index, of: bytes, expecting: form[matched]),
                    byte == form[matched]
                else { break }
                matched += 1
                index += length
            }
            if matched == form.count { return index - start }
            if isOpenEnded, index >= bytes.count, matched >= Self.minimumByteCount { return index - start }
        }
        return nil
    }

    /// The byte that an escape represents, and the length of the escape.
    private static func unit(at index: Int, of bytes: [UInt8], expecting wanted: UInt8) -> (UInt8, Int)? {
        let byte = bytes[index]
        if byte == wanted { return (byte, 1) }
        switch byte {
        case UInt8(ascii: "%"):
            // Includes an escape that was escaped itself, `%252F`.
            let start = bytes[index...].starts(with: Array("%25".utf8)) ? index + 3 : index + 1
            return hexadecimal(bytes, at: start, count: 2).map { ($0, start + 2 - index) }
        case UInt8(ascii: "\\"):
            guard index + 1 < bytes.count else { return nil }
            if bytes[index + 1] == UInt8(ascii: "u") {
                return hexadecimal(bytes, at: index + 2, count: 4).map { ($0, 6) }
            }
            return (bytes[index + 1], 2)
        case UInt8(ascii: "&"):
            let end = bytes[index...].prefix(8).firstIndex(of: UInt8(ascii: ";"))
            guard let end else { return nil }
            let name = String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
            let named: [String: UInt8] = [
                "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "quot": UInt8(ascii: "\""),
                "apos": UInt8(ascii: "'"),
            ]
            let value =
                named[name]
                ?? (name.hasPrefix("#x") || name.hasPrefix("#X")
                    ? UInt8(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt8(name.dropFirst()) : nil)
            return value.map { ($0, end + 1 - index) }
        case UInt8(ascii: "+"): return (UInt8(ascii: " "), 1)
        default: return nil
        }
    }

    private static func hexadecimal(_ bytes: [UInt8], at start: Int, count: Int) -> UInt8? {
        guard start + count <= bytes.count else { return nil }
        return UInt8(String(decoding: bytes[start..<(start + count)], as: UTF8.self), radix: 16)
    }
}
