/// Converts external text to a single printable line.
package enum PrintableText {
    /// The first nonblank line of a body; empty if there is none.
    package static func firstLine(of bytes: some Collection<UInt8>) -> String {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = String(decoding: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes.dropFirst(0), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).first.map { line(String($0), limit: 120) } ?? ""
    }

    /// Replaces characters that are not printable, such as line ends and escapes, and shortens the
    /// text.
    ///
    /// - Parameters:
    ///   - text: Any text, such as a key from a server.
    ///   - limit: The maximum number of characters. A longer text is cut and ends in `…`.
    package static func line(_ text: String, limit: Int = 60) -> String {
        var line = ""
        for character in text.prefix(limit) {
            // A character may have any number of accents, so its scalars are limited too.
            let scalars = character.unicodeScalars
            let isPrintable =
                scalars.dropFirst(16).isEmpty
                && scalars.allSatisfy { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
                    default: true
                    }
                }
            line += isPrintable ? String(character) : "?"
        }
        return text.dropFirst(limit).isEmpty ? line : line + "…"
    }
}
