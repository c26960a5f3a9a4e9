#if Postgres
/// A message of libpq itself, which can have several lines.
struct LibpqMessage {
    /// The SQLSTATE that the message quotes; nil if it has none.
    let code: PostgresError.Code?
    /// The message in one line; empty if it says nothing.
    let line: String

    /// Texts that only repeat that there is no connection.
    private static let fillers: Set<String> = ["invalid socket", "no connection to the server"]

    init(_ text: String) {
        // Such as `FATAL:  28P01: password authentication failed for user "a"`.
        if let match = text.firstMatch(of: /:  ([0-9A-Z]{5}): ([^\n]*)/) {
            code = PostgresError.Code(rawValue: String(match.1))
            line = String(match.2)
            return
        }
        code = nil
        var lines: [String] = []
        // An indented line explains the one before it.
        for text in text.split(whereSeparator: \.isNewline) where !["\t", " "].contains(text.first) {
            let line = String(text)
            if !Self.fillers.contains(line), !lines.contains(line) { lines.append(line) }
        }
        line = lines.joined(separator: "; ")
    }
}
#endif
