#if Postgres
import SyncModel
import SyncStore

/// A batch of records in a temporary table of the connection.
///
/// The table exists for as long as the connection. Each commit empties it. Source:
/// https://www.postgresql.org/docs/current/sql-createtable.html
struct PostgresBatch {
    /// The number of columns that one column of marks covers, with one bit each.
    private static let markWidth = 60

    let layout: EntityLayout
    /// The name of the table in statements.
    let name: String
    private let tableName: String
    private let defaults: [AttributeValue]

    /// How many of the rows to copy have a cell in a column.
    enum Presence {
        case always
        case sometimes
        case never
    }

    init(_ layout: EntityLayout) {
        self.layout = layout
        tableName = "_sync_batch_\(layout.index)"
        name = "pg_temp.\(tableName)"
        defaults = layout.attributes.enumerated().map { column, attribute in
            layout.identityColumns.contains(column) ? .null : attribute.defaultValue
        }
    }

    // MARK: Columns

    /// The column of the row's index in its batch.
    static let place = "place"
    /// The column of the object that a row names by number.
    static let object = "object"
    /// The column of a new object's target.
    static let target = "target"
    /// The column of a new object's position among the objects of its target.
    static let position = "position"

    static func cell(_ column: Int) -> String {
        "c\(column)"
    }

    /// The condition that a cell is present.
    static func isPresent(_ column: Int) -> String {
        "b.m\(column / markWidth) & \(1 << (column % markWidth))::bigint <> 0"
    }

    private var markCount: Int {
        (layout.attributes.count + Self.markWidth - 1) / Self.markWidth
    }

    /// Creates the table if it does not exist, and empties it.
    var preparation: String {
        var columns = ["\(Self.place) integer"]
        columns += [Self.object, Self.target, Self.position].map { "\($0) bigint" }
        columns += (0..<markCount).map { "m\($0) bigint" }
        columns += layout.attributes.enumerated().map { column, attribute in
            "\(Self.cell(column)) \(PostgresDialect.valueType(attribute.type))"
        }
        return "CREATE TEMPORARY TABLE IF NOT EXISTS \(tableName) (\(columns.joined(separator: ", "))) "
            + "ON COMMIT DELETE ROWS; TRUNCATE \(name)"
    }

    // MARK: Rows

    /// Columns to copy besides the cells.
    struct Extras {
        /// The numbers of new rows, in the order in which the rows are written. Nil to copy the
        /// rows' indices in the batch instead.
        var numbers: [ObjectID]?
        /// Whether the name of the entity follows the number.
        var namesEntity = false
        /// The objects that rows name by number, one element per row of the batch; nil if none do.
        var objects: [ObjectID?]?
        /// The targets, one element per row of the batch; nil if there are none.
        var targets: [ObjectID?]?
        /// The positions among the objects of the targets, one element per row of the batch; nil if
        /// there are none.
        var positions: [Int64?]?
        /// Whether marks distinguish absent cells from null.
        var hasMarks = false
    }

    /// The table and the columns to write.
    private func columns(_ extras: Extras) -> String {
        var names = [Self.place]
        if extras.objects != nil { names.append(Self.object) }
        if extras.targets != nil { names.append(Self.target) }
        if extras.positions != nil { names.append(Self.position) }
        if extras.hasMarks { names += (0..<markCount).map { "m\($0)" } }
        names += layout.attributes.indices.map(Self.cell)
        return "\(name) (\(names.joined(separator: ", ")))"
    }

    /// Returns the statement that copies rows.
    func copying(_ extras: Extras) -> String {
        "COPY \(columns(extras)) FROM STDIN (FORMAT binary)"
    }

    /// Returns the statement that inserts rows.
    ///
    /// - Parameter list: The rows, as in `VALUES`.
    func inserting(_ list: String, _ extras: Extras) -> String {
        "INSERT INTO \(columns(extras)) VALUES \(list)"
    }

    /// Returns how many of the given rows have a cell in each column.
    func presence(_ reader: RecordBatch.Reader, _ rows: [Int]) -> [Presence] {
        var absentCounts = layout.attributes.map { _ in 0 }
        for row in rows {
            for column in absentCounts.indices where reader.kind(row: row, column: column) == .absent {
                absentCounts[column] &+= 1
            }
        }
        return absentCounts.map { $0 == 0 ? .always : $0 == rows.count ? .never : .sometimes }
    }

    /// Writes rows. Absent cells get the defaults of a new object.
    ///
    /// - Parameter endRow: Called after each row.
    func write(
        _ reader: RecordBatch.Reader, _ rows: [Int], _ extras: Extras, to cells: some PostgresCells,
        endRow: () throws -> Void = {}
    ) throws {
        let columnCount = layout.attributes.count
        let extraCount =
            1 + [extras.objects, extras.targets, extras.positions].count { $0 != nil }
            + (extras.namesEntity ? 1 : 0) + (extras.hasMarks ? markCount : 0)
        let types = layout.attributes.map(\.type)
        for (place, row) in rows.enumerated() {
            cells.beginRow(columnCount: extraCount + columnCount)
            if let numbers = extras.numbers {
                cells.add(numbers[place])
            } else {
                cells.add(Int32(truncatingIfNeeded: row))
            }
            if extras.namesEntity { _ = cells.add(.string(layout.name), as: .string) }
            if let objects = extras.objects { cells.add(objects[row]) }
            if let targets = extras.targets { cells.add(targets[row]) }
            if let positions = extras.positions { cells.add(positions[row]) }
            if extras.hasMarks { addMarks(reader, row, to: cells) }
            for column in 0..<columnCount {
                let isWritten =
                    reader.kind(row: row, column: column) == .absent
                    ? cells.add(defaults[column], as: types[column])
                    : cells.add(reader, row: row, column: column, as: types[column])
                guard isWritten else {
                    throw StoreError.unsuitableValue(entity: layout.name, attribute: layout.attributes[column].name)
                }
            }
            try endRow()
        }
    }

    private func addMarks(_ reader: RecordBatch.Reader, _ row: Int, to cells: some PostgresCells) {
        for first in stride(from: 0, to: layout.attributes.count, by: Self.markWidth) {
            var marks: Int64 = 0
            for column in first..<min(first + Self.markWidth, layout.attributes.count)
            where reader.kind(row: row, column: column) != .absent {
                marks |= 1 << Int64(column - first)
            }
            cells.add(marks)
        }
    }
}
#endif
