#if Postgres
import SyncModel

/// A column of an existing table that holds only some values of its attribute, or in another type,
/// or has a default for new rows.
///
/// A value that the column would change is refused: the expression to write fails for it.
struct PostgresColumnForm: Hashable, Sendable {
    private enum Kind: Hashable {
        /// Every value of the attribute, in its own type.
        case whole
        /// A text of at most a number of characters.
        case text(Int)
        /// A label of an enumeration. The payload is its name in statements.
        case label(String)
        /// A text whose comparisons ignore case (`citext`).
        case looseText
        case decimal(precision: Int, scale: Int)
        case integer(ClosedRange<Int64>)
        case day
        /// A moment with a number of digits after the second.
        case moment(Int)
    }

    private let kind: Kind
    /// The expression that replaces an absent value of a mandatory column in a new row; nil if
    /// there is none.
    var defaultValue: String?

    /// A column that holds every value of its attribute in its own type.
    static let whole = PostgresColumnForm(kind: .whole)

    private init(kind: Kind) { self.kind = kind }

    /// Whether values are equal exactly if the database says so, and found by an index.
    var identifies: Bool {
        switch kind {
        case .whole, .text, .decimal, .integer: true
        case .label, .looseText, .day, .moment: false
        }
    }

    /// Creates the form of a column; nil if every value of the attribute is held in its own type,
    /// or if the column cannot hold them.
    ///
    /// - Parameters:
    ///   - column: The column's type in SQL.
    ///   - isEnumeration: Whether the type is an enumeration.
    ///   - type: The type of the attribute.
    init?(_ column: String, isEnumeration: Bool, of type: AttributeType) {
        let name = String(column.prefix { $0 != "(" })
        let numbers = column.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }.split(separator: ",").map { Int($0) }
        switch (type, name) {
        case (.string, _) where isEnumeration: kind = .label(column)
        case (.string, "character varying"), (.uri, "character varying"):
            guard let length = numbers.first ?? nil else { return nil }
            kind = .text(length)
        case (.string, _) where name == "citext" || name.hasSuffix(".citext"): kind = .looseText
        case (.decimal, "numeric"):
            guard let precision = numbers.first ?? nil, let scale = numbers.last ?? nil else { return nil }
            kind = .decimal(precision: precision, scale: numbers.count > 1 ? scale : 0)
        case (.int64, "integer"): kind = .integer(Int64(Int32.min)...Int64(Int32.max))
        case (.int64, "smallint"), (.int32, "smallint"): kind = .integer(Int64(Int16.min)...Int64(Int16.max))
        case (.date, "date"): kind = .day
        case (.date, "timestamp"):
            guard let digits = numbers.first ?? nil, digits < 6 else { return nil }
            kind = .moment(digits)
        default: return nil
        }
    }

    /// The condition that the column holds a value exactly; true or null for null.
    func holds(_ cell: String) -> String {
        switch kind {
        case .text(let length): "pg_catalog.char_length(\(cell)) <= \(length)"
        case .label(let name): "\(cell) = ANY (pg_catalog.enum_range(NULL::\(name))::text[])"
        case .whole, .looseText: "TRUE"
        case .decimal(let precision, let scale):
            "\(cell) = pg_catalog.round(\(cell), \(scale)) AND pg_catalog.abs(\(cell)) < '1e\(precision - scale)'::numeric"
        case .integer(let range): "\(cell) BETWEEN \(range.lowerBound) AND \(range.upperBound)"
        case .day: "\(cell) = pg_catalog.date_trunc('day'::text, \(cell))"
        case .moment(let digits): "\(cell) = \(cell)::timestamptz(\(digits))"
        }
    }

    /// The value to write for a cell; fails if the column does not hold it.
    func written(_ cell: String) -> String {
        let other: String
        switch kind {
        case .label(let name): return "\(cell)::\(name)"
        case .whole, .looseText, .integer: return cell
        // PostgreSQL cuts surplus blanks in silence, but no other characters.
        case .text: other = "\(cell) || '_'::text"
        // Out of the column's range.
        case .decimal(let precision, let scale):
            other = "'1e\(precision + abs(scale))'::numeric"
        // No date at all. It depends on the cell, so that the planner does not evaluate it.
        case .day, .moment:
            other = "pg_catalog.make_timestamptz(0, 1, 1, 0, 0, pg_catalog.date_part('second'::text, \(cell)))"
        }
        return "CASE WHEN (\(holds(cell))) IS NOT FALSE THEN \(cell) ELSE \(other) END"
    }

    /// The value of the column in the attribute's type, to compare it with a cell.
    func compared(_ column: String) -> String {
        switch kind {
        case .label, .looseText: "\(column)::text"
        case .day: "\(column)::timestamptz"
        case .whole, .text, .decimal, .integer, .moment: column
        }
    }
}
#endif
