/// A line of progress: a bar if the total is known, and a text.
///
///     [############------------] 5.0 of 10.0 MB
struct ProgressLine: CustomStringConvertible, Equatable {
    /// The number of finished units and of all units; nil if the total is unknown.
    let share: (done: Int, total: Int)?
    let text: String

    init(_ text: String, done: Int = 0, total: Int? = nil) {
        self.text = text
        share = total.flatMap { $0 > 0 ? (done, $0) : nil }
    }

    var description: String { line(width: .max) }

    /// Returns the line for a terminal. On a narrow one the bar is shorter or left out.
    func line(width: Int) -> String {
        guard let share else { return text.fitted(to: width) }
        for barWidth in [24, 12] where text.count + barWidth + 3 <= width {
            return "\(Self.bar(share.done, of: share.total, width: barWidth)) \(text)"
        }
        return text.fitted(to: width)
    }

    private static func bar(_ done: Int, of total: Int, width: Int) -> String {
        let filled = min(width, width * done / total)
        return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: width - filled))]"
    }

    static func == (one: ProgressLine, other: ProgressLine) -> Bool {
        one.description == other.description
    }
}
