/// A table of texts with aligned columns.
///
///     id  name
///      1  Ada
///     12  Grace
struct TextTable {
    /// A column of the table.
    struct Column {
        let title: String
        /// Whether the cells are aligned to the right, as numbers are.
        var isNumeric = false
        /// Whether the column is left out instead of being narrowed. Numbers are never cut.
        var isFixed = false
    }

    /// A cell of the table.
    struct Cell: ExpressibleByStringLiteral {
        let text: String
        var role: TextStyle.Role?

        init(_ text: String, _ role: TextStyle.Role? = nil) {
            self.text = text
            self.role = role
        }

        init(stringLiteral text: String) {
            self.init(text)
        }
    }

    let columns: [Column]
    private(set) var rows: [[Cell]] = []
    private var widths: [Int]

    private static let gap = "  "
    /// The width that a column keeps if the terminal is too narrow for all columns.
    private static let minimumWidth = 12

    init(columns: [Column]) {
        self.columns = columns
        widths = columns.map(\.title.columnCount)
    }

    /// Adds a row with one cell for each column.
    mutating func add(_ row: [Cell]) {
        precondition(row.count == columns.count, "a row has a cell for each column")
        for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.text.columnCount) }
        rows.append(row)
    }

    /// Returns the lines of the table, and the titles of the columns that do not fit.
    ///
    /// - Parameters:
    ///   - width: The width of the terminal; nil for no limit. Wide columns are narrowed first,
    ///     then the last columns are left out.
    ///   - style: The colours.
    func lines(width: Int?, style: TextStyle) -> (lines: [String], omitted: [String]) {
        let (shown, widths) = fittedWidths(in: width ?? .max)
        var lines = [line(columns.map { Cell($0.title, .heading) }, shown, widths, style)]
        lines += rows.map { line($0, shown, widths, style) }
        return (lines, columns.indices.filter { !shown.contains($0) }.map { columns[$0].title })
    }

    /// Returns the columns that fit, at least the first one, and the widths of all columns.
    private func fittedWidths(in width: Int) -> (shown: Range<Int>, widths: [Int]) {
        var widths = widths
        var shown = columns.indices
        func total() -> Int { widths[shown].reduce(0, +) + Self.gap.count * max(0, shown.count - 1) }
        while total() > width {
            // The widest column gives way, by what is missing or down to the second widest one.
            let ordered = shown.filter { !columns[$0].isFixed && !columns[$0].isNumeric }
                .sorted { widths[$0] > widths[$1] }
            guard let widest = ordered.first else {
                guard shown.count > 1 else { break }
                shown.removeLast()
                continue
            }
            let next = ordered.dropFirst().first.map { widths[$0] } ?? 1
            let goal = max(widths[widest] - (total() - width), min(next, widths[widest] - 1), Self.minimumWidth)
            if goal < widths[widest] {
                widths[widest] = goal
            } else if shown.count > 1 {
                shown.removeLast()
            } else {
                widths[widest] = max(1, width)
                break
            }
        }
        return (shown, widths)
    }

    private func line(_ cells: [Cell], _ shown: Range<Int>, _ widths: [Int], _ style: TextStyle) -> String {
        var line = ""
        for index in shown {
            let text = cells[index].text.fitted(to: widths[index])
            let isLast = index == shown.upperBound - 1
            // No spaces at the end of a line.
            let padded =
                isLast && !columns[index].isNumeric
                ? text : text.padded(to: widths[index], isRight: columns[index].isNumeric)
            line += (index == shown.lowerBound ? "" : Self.gap) + style(padded, cells[index].role)
        }
        return line
    }
}
