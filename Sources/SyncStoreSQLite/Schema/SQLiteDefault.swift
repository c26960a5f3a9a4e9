import SyncStoreSQL

/// The default of a column, as an expression that is valid in any statement.
struct SQLiteDefault: Sendable {
    let expression: String

    /// Reads a default from a table's description; nil if it is null.
    init?(_ text: String) {
        if let word = Self.word(text) {
            expression = SQLText.literal(word)
        } else {
            expression = text
        }
        guard expression.lowercased() != "null" else { return nil }
    }

    /// The text that a name stands for; nil for any other expression.
    ///
    /// A default cannot refer to a column, so SQLite reads a name, quoted or not, as a text. In
    /// other statements, the same name would be a column.
    private static func word(_ text: String) -> String? {
        for (start, end) in [("\"", "\""), ("`", "`"), ("[", "]")] where text.hasPrefix(start) {
            return String(text.dropFirst().dropLast()).replacing(end + end, with: end)
        }
        let bytes = text.utf8
        let isName =
            bytes.first.map { !isDigit($0) } == true
            && bytes.allSatisfy { isDigit($0) || isLetter($0) || $0 == UInt8(ascii: "$") }
        let constants = ["null", "true", "false", "current_time", "current_date", "current_timestamp"]
        return isName && !constants.contains(text.lowercased()) ? text : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Whether a byte can begin a name. SQLite allows every byte beyond ASCII.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte >= 0x80
    }
}
