import SyncModel
import SyncStoreSQL

/// Writes the statements that merge batches of one entity's records.
///
/// A statement handles any number of rows. It selects from the batch table, whose columns are in
/// `SQLiteBatchColumns`.
struct SQLiteMergeStatements: Sendable {
    let layout: EntityLayout
    let columns: SQLQueries.Columns
    private let schema: SQLSchema
    private let batch: String
    private let existing: SQLiteExistingTable?
    /// The column of the attribute whose column is the object number; nil if there is none.
    let numberColumn: Int?
    /// Whether the table has a default for the absent cells of a new object.
    let hasDefaults: Bool

    /// Creates a writer for an entity.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity in the model.
    ///   - batch: The name of the batch table in statements.
    init(_ entity: Int, schema: SQLSchema, batch: String, existing: SQLiteExistingTable? = nil) {
        self.existing = existing
        numberColumn = existing?.numberColumn(of: entity, schema)
        hasDefaults = schema.columns[entity].contains { existing?.replacement(for: $0) != nil }
        self.schema = schema
        self.batch = batch
        layout = schema.model.layouts[entity]
        columns = SQLQueries(schema).columns(of: entity)
    }

    var tableName: String { schema.table(of: layout.index) }

    private var table: String {
        SQLText.name(schema.table(of: layout.index))
    }

    private func name(of column: Int) -> String {
        SQLText.name(schema.columns[layout.index][column])
    }

    /// The column for the target of a to-one relationship; nil if the entity's table has none.
    func column(of relationship: EntityLayout.Relationship) -> String? {
        guard case .column(let link) = schema.relationships[relationship.source][relationship.index] else { return nil }
        return SQLText.name(link.column)
    }

    /// The column for the position among the objects of the target; nil if they are not ordered.
    func position(of relationship: EntityLayout.Relationship) -> String? {
        guard case .column(let link) = schema.relationships[relationship.source][relationship.index] else { return nil }
        return link.position.map(SQLText.name)
    }

    // MARK: Finding

    /// The column of the first column in the rows of ``match(byRow:readsCells:)``.
    static let firstCellColumn = 3

    /// Selects the objects of a batch. The columns are the index of the batch's row, the object,
    /// the name of its entity (null if the family has only one) and, if requested, its cells in the
    /// order of the columns. All results for one row of the batch are together.
    ///
    /// - Parameters:
    ///   - byRow: Whether the batch names the objects. If not, they are found by identity, and one
    ///     identity may find objects of several entities.
    ///   - readsCells: Whether cells are read.
    ///   - relationships: The relationships whose columns are read after the cells.
    func match(byRow: Bool, readsCells: Bool, _ relationships: [EntityLayout.Relationship] = []) -> String {
        let entity = columns.namesEntity ? "t.\(schema.entityColumn)" : "NULL"
        var terms = ["b.\(SQLiteBatchColumns.place)", "t.\(schema.rowColumn)", entity]
        if readsCells { terms += layout.attributes.indices.map { "t.\(name(of: $0))" } }
        terms += relationships.compactMap { column(of: $0) }.map { "t.\($0)" }
        var conditions: [String]
        if byRow {
            conditions = ["t.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object)"]
            if let condition = schema.entityCondition(layout.index, alias: "t") { conditions.append(condition) }
        } else {
            conditions = layout.identityColumns.map { "t.\(name(of: $0)) = b.\(SQLiteBatchColumns.cell($0))" }
            conditions += identityConditions
        }
        // The cross join makes the batch the outer table. In the other order, every stored object
        // would be visited.
        return "SELECT \(terms.joined(separator: ", ")) FROM \(batch) b CROSS JOIN \(table) t "
            + "WHERE \(conditions.joined(separator: " AND "))"
    }

    /// The conditions for objects that an identity of the entity can find.
    private var identityConditions: [String] {
        let scope = schema.identityScope(of: layout.index)
        var conditions: [String] = []
        if let condition = schema.scopeCondition(scope) { conditions.append(condition) }
        guard columns.namesEntity else { return conditions }
        let members = layout.family.filter { schema.identityScope(of: $0) == scope }
        let names = members.map { SQLText.literal(schema.model.layouts[$0].name) }.joined(separator: ", ")
        return conditions + ["\(schema.entityColumn) IN (\(names))"]
    }

    /// Selects whether any object is between the first two rows of the batch, by the first value of
    /// the identity.
    var probe: String {
        guard let first = layout.identityColumns.first else { return "" }
        let cell = SQLiteBatchColumns.cell(first)
        let bounds = [0, 1].map { "(SELECT \(cell) FROM \(batch) LIMIT 1 OFFSET \($0))" }
        let conditions =
            ["\(name(of: first)) BETWEEN \(bounds.joined(separator: " AND "))"] + identityConditions
        return "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// The highest object number of the family; null if there was none.
    var lastRow: String {
        existing?.lastNumber(schema) ?? "SELECT max(\(schema.rowColumn)) FROM \(table)"
    }

    // MARK: Writing
    //
    // A statement that fails halfway does not undo its own changes (OR FAIL), because the whole
    // transaction is rolled back. To undo only the statement, SQLite would copy every page that it
    // touches to memory.

    /// Inserts the batch's rows as the objects that the batch names. If the table has defaults, the
    /// batch says which cells are written.
    ///
    /// - Parameters:
    ///   - relationships: The relationships in the entity's own columns for which the batch has the
    ///     target of each new object.
    ///   - emptied: What waiting rows have in columns of unique indexes.
    func insertion(
        relatedBy relationships: [EntityLayout.Relationship], emptied: [Int: SQLUniqueColumns.Content] = [:]
    ) -> String {
        var names = [schema.rowColumn]
        var terms = [SQLiteBatchColumns.object]
        if columns.namesEntity {
            names.append(schema.entityColumn)
            terms.append(SQLText.literal(layout.name))
        }
        for column in layout.attributes.indices where column != numberColumn {
            names.append(name(of: column))
            terms.append(
                emptied[column].map { empty($0, column, object: SQLiteBatchColumns.object) }
                    ?? inserted(column))
        }
        for (index, relationship) in relationships.enumerated() {
            guard let column = column(of: relationship) else { continue }
            names.append(column)
            terms.append(SQLiteBatchColumns.target(index))
            guard let position = position(of: relationship) else { continue }
            names.append(position)
            terms.append(SQLiteBatchColumns.position)
        }
        for (column, expression) in schema.suppliedTerms(of: tableName) {
            names.append(SQLText.name(column))
            terms.append(expression)
        }
        return "INSERT OR FAIL INTO \(table) (\(names.joined(separator: ", "))) "
            + "SELECT \(terms.joined(separator: ", ")) FROM \(batch)"
    }

    /// The value of a new object: its cell or, if that is absent, the default of a mandatory
    /// column. A null stays null, which the column refuses.
    private func inserted(_ column: Int) -> String {
        let cell = SQLiteBatchColumns.cell(column)
        guard let replacement = existing?.replacement(for: schema.columns[layout.index][column]) else { return cell }
        return "CASE WHEN \(SQLiteBatchColumns.isWritten(column)) THEN \(cell) "
            + "ELSE ifnull(\(cell), \(replacement.expression)) END"
    }

    /// A column that an update writes.
    struct Assignment: Hashable, Sendable {
        let column: Int
        /// Whether some of the rows keep their stored values.
        let isPartial: Bool
    }

    /// The value of a column while its object waits for a value of a unique index.
    private func empty(_ content: SQLUniqueColumns.Content, _ column: Int, object: String) -> String {
        guard content == .placeholder else { return "NULL" }
        return switch layout.attributes[column].type {
        case .int16, .int32, .int64: "-1 - \(object)"
        case .double, .float: "-0.5 - \(object)"
        case .date where schema.dates != .iso8601: "-0.5 - \(object)"
        case .date: "strftime('%Y-%m-%dT%H:%M:%f000Z', \(object) - 62135596800, 'unixepoch')"
        case .uuid: "printf('00000000-0000-0000-%04X-%012X', \(object) >> 48, \(object) & 0xFFFFFFFFFFFF)"
        case .binary: "CAST('~' || \(object) AS BLOB)"
        default: "'~' || \(object)"
        }
    }

    /// Updates the objects that the batch names.
    ///
    /// - Parameter emptied: What waiting rows have in columns of unique indexes.
    func update(_ assignments: [Assignment], emptied: [Int: SQLUniqueColumns.Content] = [:]) -> String {
        let terms = assignments.map { assignment in
            let name = name(of: assignment.column)
            let cell =
                emptied[assignment.column].map {
                    empty($0, assignment.column, object: "b.\(SQLiteBatchColumns.object)")
                } ?? "b.\(SQLiteBatchColumns.cell(assignment.column))"
            guard assignment.isPartial else { return "\(name) = \(cell)" }
            return
                "\(name) = CASE WHEN b.\(SQLiteBatchColumns.isWritten(assignment.column)) THEN \(cell) ELSE t.\(name) END"
        }
        return "UPDATE OR FAIL \(table) AS t SET \(terms.joined(separator: ", ")) FROM \(batch) b "
            + "WHERE t.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object)"
    }

    // MARK: Verification

    /// Selects the number of the batch's objects that do not have the identities of their rows, and
    /// for each column of the identity whether one of them has another value. Nil without an
    /// identity.
    var changedIdentities: String? {
        guard layout.hasIdentity else { return nil }
        let isOther = layout.identityColumns.map {
            let cell = "b.\(SQLiteBatchColumns.cell($0))"
            return "(\(cell) IS NOT NULL AND t.\(name(of: $0)) IS NOT \(cell))"
        }
        return "SELECT \((["count(*)"] + isOther.map { "max(\($0))" }).joined(separator: ", ")) "
            + "FROM \(batch) b CROSS JOIN \(table) t WHERE t.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object) "
            + "AND (\(isOther.joined(separator: " OR ")))"
    }
}
