/// Suggestions for misspelt names.
enum Suggestion {
    /// Returns the known name that is most similar to a misspelt one; nil if none is similar.
    static func nearest(to name: String, among known: some Sequence<String>) -> String? {
        let limit = max(1, name.count / 3)
        var best: (name: String, distance: Int)?
        for candidate in known where candidate != name {
            let distance = distance(name.lowercased(), candidate.lowercased())
            let isBegun = name.count >= 3 && candidate.lowercased().hasPrefix(name.lowercased())
            guard distance <= limit || isBegun, distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.name
    }

    /// Returns `; did you mean NAME?`, or an empty text if no name is similar.
    static func text(for name: String, among known: some Sequence<String>) -> String {
        nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn
    /// one text into the other (optimal string alignment).
    static func distance(_ one: String, _ other: String) -> Int {
        let one = Array(one)
        let other = Array(other)
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for (row, left) in one.enumerated() {
            var current = [row + 1]
            for (column, right) in other.enumerated() {
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (left == right ? 0 : 1))
                if row > 0, column > 0, left == other[column - 1], one[row - 1] == right {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
