/// The colours of a text on a terminal.
///
/// Without colours, texts stay as they are.
struct TextStyle: Sendable {
    /// The meaning of a text, which decides on its colour.
    enum Role: String, Sendable {
        case heading = "1"
        case faint = "2"
        case added = "32"
        case changed = "33"
        case removed = "31"
        case warning = "1;33"
        case failure = "1;31"
    }

    /// Whether texts are coloured.
    let isColored: Bool

    /// Creates a style.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the texts go to a terminal.
    ///   - environment: The environment variables. `NO_COLOR` with any text, and the terminal type
    ///     `dumb`, disable colours (<https://no-color.org>).
    init(isTerminal: Bool, environment: [String: String]) {
        isColored =
            isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Returns a text in the colour of a role. A nil role has no colour.
    func callAsFunction(_ text: String, _ role: Role?) -> String {
        guard isColored, let role, !text.isEmpty else { return text }
        return "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m"
    }
}
