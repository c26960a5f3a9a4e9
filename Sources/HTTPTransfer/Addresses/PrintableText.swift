/// Makes texts from outside fit for one line of a terminal.
package enum PrintableText {
    /// Replaces characters that are not printable, such as line ends and escapes, and cuts the
    /// text.
    ///
    /// - Parameters:
    ///   - text: Any text, such as a key from a server.
    ///   - limit: The maximum number of characters. A longer text is cut and ends in `…`.
    package static func line(_ text: String, limit: Int = 60) -> String {
        var line = ""
        for character in text.prefix(limit) {
            let isPrintable = character.unicodeScalars.allSatisfy { scalar in
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
