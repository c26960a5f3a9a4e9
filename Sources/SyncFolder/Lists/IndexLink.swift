/// A link of an HTML page.
struct IndexLink: Hashable {
    /// The value of `href`, without character references.
    var target: String
    /// The words behind the link, up to the next link or the end of the line.
    var words: [String]

    /// Whether the target is the address of a host, by whatever protocol.
    var hasHost: Bool {
        let text = target.trimmingPrefix(while: \.isWhitespace)
        if text.hasPrefix("//") { return true }
        return text.firstIndex(of: ":").map { text[$0...].hasPrefix("://") } ?? false
    }

    /// Whether the target is a mail address, as in Apache's footer, or a script. Other texts before
    /// a colon can be the beginning of a name.
    var isMailOrScript: Bool {
        let text = target.trimmingPrefix(while: \.isWhitespace).prefix(11).lowercased()
        return text.hasPrefix("mailto:") || text.hasPrefix("javascript:")
    }

    /// Calls a function with each link that has a target, in order.
    ///
    /// - Returns: Why not all links were found; nil if they were.
    static func forEach(in page: [UInt8], _ body: (IndexLink) -> Void) -> String? {
        var scanner = Scanner(bytes: page)
        while scanner.enterLink() {
            guard let target = scanner.takeTarget() else { return "a quote without an end" }
            guard let target else { continue }
            guard let text = unescaped(target) else { return "a link with an unknown character reference" }
            body(IndexLink(target: text, words: scanner.takeWords()))
        }
        return scanner.isInComment ? "a comment without an end" : nil
    }

    /// Replaces the character references of an address: those by number, and the five names that
    /// servers use. Nil with another name.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        var pieces = text.split(separator: "&", omittingEmptySubsequences: false)[...]
        var result = String(pieces.removeFirst())
        for piece in pieces {
            let name = piece.prefix { $0 != ";" }
            // Many servers do not escape the character itself.
            guard name.count < piece.count, !name.isEmpty,
                name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "#") })
            else {
                result += "&" + piece
                continue
            }
            guard let character = character(named: name) else { return nil }
            result.append(character)
            result += piece.dropFirst(name.count + 1)
        }
        return result
    }

    private static func character(named name: Substring) -> Character? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let isHexadecimal = digits.hasPrefix("x") || digits.hasPrefix("X")
            let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init).map(Character.init)
        }
    }

    /// Finds links in the bytes of a page. A regular expression takes several times as long.
    private struct Scanner {
        /// The longest text behind a link.
        private static let textByteCount = 200

        let bytes: [UInt8]
        var index = 0
        /// Whether a comment has no end.
        private(set) var isInComment = false

        /// Moves behind the next `<a ` that is not in a comment; false if there is none.
        mutating func enterLink() -> Bool {
            while index < bytes.count {
                if bytes[index] == UInt8(ascii: "<"), bytes[index...].starts(with: "<!--".utf8) {
                    // `<!-->` is a whole comment.
                    index += 2
                    while index < bytes.count, !bytes[index...].starts(with: "-->".utf8) { index += 1 }
                    isInComment = index == bytes.count
                    continue
                }
                if isLink(at: index) {
                    index += 2
                    return true
                }
                index += 1
            }
            return false
        }

        private func isLink(at place: Int) -> Bool {
            place + 2 < bytes.count && bytes[place] == UInt8(ascii: "<")
                && bytes[place + 1] | 0x20 == UInt8(ascii: "a") && Self.isBlank(bytes[place + 2])
        }

        /// Reads the attributes of a tag, and moves behind it.
        ///
        /// - Returns: The value of `href`, `.some(nil)` without one; nil if a quote has no end.
        mutating func takeTarget() -> ArraySlice<UInt8>?? {
            var target: ArraySlice<UInt8>?
            while index < bytes.count, bytes[index] != UInt8(ascii: ">") {
                let name = take { !Self.isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ">") }
                _ = take(while: Self.isBlank)
                guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { continue }
                index += 1
                _ = take(while: Self.isBlank)
                guard let value = takeValue() else { return nil }
                if target == nil, name.map({ $0 | 0x20 }).elementsEqual("href".utf8) { target = value }
            }
            index += 1
            return .some(target)
        }

        private mutating func takeValue() -> ArraySlice<UInt8>? {
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'") else {
                return take { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }
            }
            let quote = bytes[index]
            index += 1
            let value = take { $0 != quote }
            guard index < bytes.count else { return nil }
            index += 1
            return value
        }

        /// Reads the words behind the link, without tags.
        mutating func takeWords() -> [String] {
            var text: [UInt8] = []
            var isBehind = false
            while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), text.count < Self.textByteCount {
                guard bytes[index] == UInt8(ascii: "<") else {
                    if isBehind { text.append(bytes[index]) }
                    index += 1
                    continue
                }
                if isLink(at: index) || bytes[index...].starts(with: "<!--".utf8) { break }
                let tag = take { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "\n") }
                if tag.prefix(while: { !Self.isBlank($0) }).map({ $0 | 0x20 }).elementsEqual("</a".utf8) {
                    isBehind = true
                }
                if index < bytes.count, bytes[index] == UInt8(ascii: ">") { index += 1 }
                text.append(0x20)
            }
            return text.split(whereSeparator: Self.isBlank).map { String(decoding: $0, as: UTF8.self) }
        }

        private mutating func take(while isTaken: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let start = index
            while index < bytes.count, isTaken(bytes[index]) { index += 1 }
            return bytes[start..<index]
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    }
}
