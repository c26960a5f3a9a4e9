/// A link of an HTML page.
struct IndexLink: Hashable {
    /// The value of `href`, without character references.
    var target: String
    /// The words behind the link, up to the next link or the end of the line.
    var words: [String]

    /// Calls a function with each link that has a target, in order.
    ///
    /// - Returns: Whether all links were found: false if a quote has no end.
    static func forEach(in page: [UInt8], _ body: (IndexLink) -> Void) -> Bool {
        var scanner = Scanner(bytes: page)
        while scanner.enterLink() {
            guard let target = scanner.takeTarget() else { return false }
            if let target { body(IndexLink(target: unescaped(target), words: scanner.takeWords())) }
        }
        return true
    }

    /// Replaces the character references that occur in addresses.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&#x27;", with: "'").replacing("&amp;", with: "&")
    }

    /// Finds links in the bytes of a page. A regular expression takes several times as long.
    private struct Scanner {
        /// The longest text behind a link.
        private static let textByteCount = 200

        let bytes: [UInt8]
        var index = 0

        /// Moves behind the next `<a `; false if there is none.
        mutating func enterLink() -> Bool {
            while index < bytes.count {
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
                if isLink(at: index) { break }
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
