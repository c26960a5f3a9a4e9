/// Texts from outside, made fit for one line of a terminal.
package enum PrintableText {
    /// Replaces what is not printable, such as line ends and escape sequences, and cuts the text at a length.
    ///
    /// - Parameters:
    ///   - text: Any text, such as a key from a server.
    ///   - limit: The most characters; a longer text is cut and ends in `…`.
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
