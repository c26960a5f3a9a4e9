import SyncModel
import SyncStoreSQL

/// Writes the statements that merge records of one entity: a batch of them at a time, whatever
/// their number.
///
/// The batch is something to select from whose columns are those of `SQLiteBatchColumns`.
struct SQLiteMergeStatements: Sendable {
    let layout: EntityLayout
    let columns: SQLQueries.Columns
    private let schema: SQLSchema
    private let batch: String
    private let adopted: SQLiteAdoptedTable?
    /// The slot of the attribute whose column is the number of the object; nil for none.
    let numberSlot: Int?

    /// Makes the writer of an entity's statements.
    ///
    /// - Parameters:
    ///   - entity: The entity's place in the model.
    ///   - batch: The name of the batch in statements.
    init(_ entity: Int, schema: SQLSchema, batch: String, adopted: SQLiteAdoptedTable? = nil) {
        self.adopted = adopted
        numberSlot = adopted?.numberSlot(of: entity, schema)
        self.schema = schema
        self.batch = batch
        layout = schema.model.layouts[entity]
        columns = SQLQueries(schema).columns(of: entity)
    }

    var tableName: String { schema.table(of: layout.index) }

    private var table: String {
        SQLText.name(schema.table(of: layout.index))
    }

    private func column(_ slot: Int) -> String {
        SQLText.name(schema.columns[layout.index][slot])
    }

    /// The column that leads to the target of a to-one relationship; nil if the entity has none.
    func column(of relationship: RelationshipLayout) -> String? {
        guard case .column(let link) = schema.relationships[relationship.source][relationship.index] else { return nil }
        return SQLText.name(link.column)
    }

    // MARK: Finding

    /// The column of the first slot in what ``match(byRow:readsCells:)`` gives.
    static let firstSlotColumn = 3

    /// Selects the objects of a batch: the place of the batch's row, the object's row, the name of
    /// its entity (null where the family has but one), and, if they are to be read, its cells in
    /// slot order. What is given for one row of the batch is together.
    ///
    /// - Parameters:
    ///   - byRow: Whether the batch names the objects; if not, they are found by their identity,
    ///     several of different entities perhaps.
    ///   - readsCells: Whether cells are read.
    ///   - relationships: Relationships whose columns are read after the cells.
    func match(byRow: Bool, readsCells: Bool, _ relationships: [RelationshipLayout] = []) -> String {
        let entity = columns.namesEntity ? "t.\(schema.entityColumn)" : "NULL"
        var terms = ["b.\(SQLiteBatchColumns.place)", "t.\(schema.rowColumn)", entity]
        if readsCells { terms += layout.attributes.indices.map(compared) }
        terms += relationships.compactMap { column(of: $0) }.map { "t.\($0)" }
        var conditions: [String]
        if byRow {
            conditions = ["t.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object)"]
            if let condition = schema.entityCondition(layout.index, alias: "t") { conditions.append(condition) }
        } else {
            conditions = layout.identitySlots.map { "t.\(column($0)) = b.\(SQLiteBatchColumns.cell($0))" }
            conditions += identityConditions
        }
        // The batch comes first, as the cross join says: the other way round every object would be
        // looked at.
        return "SELECT \(terms.joined(separator: ", ")) FROM \(batch) b CROSS JOIN \(table) t "
            + "WHERE \(conditions.joined(separator: " AND "))"
    }

    /// What holds for the objects that an identity of the entity can find.
    private var identityConditions: [String] {
        let scope = schema.identityScope(of: layout.index)
        var conditions: [String] = []
        if let condition = schema.scopeCondition(scope) { conditions.append(condition) }
        guard columns.namesEntity else { return conditions }
        let members = layout.family.filter { schema.identityScope(of: $0) == scope }
        let names = members.map { SQLText.literal(schema.model.layouts[$0].name) }.joined(separator: ", ")
        return conditions + ["\(schema.entityColumn) IN (\(names))"]
    }

    /// Tells whether there are objects between two rows of the batch, the first two, as far as the
    /// first value of the identity goes.
    var probe: String {
        guard let first = layout.identitySlots.first else { return "" }
        let cell = SQLiteBatchColumns.cell(first)
        let bounds = [0, 1].map { "(SELECT \(cell) FROM \(batch) LIMIT 1 OFFSET \($0))" }
        let conditions =
            ["\(column(first)) BETWEEN \(bounds.joined(separator: " AND "))"] + identityConditions
        return "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(conditions.joined(separator: " AND ")))"
    }

    /// Selects the highest number of an object of the family; null if there was none.
    var lastRow: String {
        adopted?.lastNumber(schema) ?? "SELECT max(\(schema.rowColumn)) FROM \(table)"
    }

    // MARK: Writing
    //
    // What fails in the middle leaves what it has done (OR FAIL): a transaction in which a change
    // failed is undone as a whole. To undo the statement alone, SQLite would keep a copy in memory
    // of every page that the statement touches.

    /// Inserts the batch's rows as the objects that it names.
    ///
    /// - Parameter relationships: Those whose columns the entity has, for which the batch says what
    ///   each new object leads to.
    func insertion(relatedBy relationships: [RelationshipLayout]) -> String {
        var names = [schema.rowColumn]
        var terms = [SQLiteBatchColumns.object]
        if columns.namesEntity {
            names.append(schema.entityColumn)
            terms.append(SQLText.literal(layout.name))
        }
        for slot in layout.attributes.indices where slot != numberSlot {
            names.append(column(slot))
            terms.append(written(SQLiteBatchColumns.cell(slot), to: slot))
        }
        for (index, relationship) in relationships.enumerated() {
            guard let column = column(of: relationship) else { continue }
            names.append(column)
            terms.append(SQLiteBatchColumns.target(index))
        }
        return "INSERT OR FAIL INTO \(table) (\(names.joined(separator: ", "))) "
            + "SELECT \(terms.joined(separator: ", ")) FROM \(batch)"
    }

    /// What a column is given for a cell: the default of a mandatory column in place of null.
    private func written(_ cell: String, to slot: Int) -> String {
        let replacement = adopted?.replacement(for: schema.columns[layout.index][slot])
        return replacement.map { "ifnull(\(cell), \($0.expression))" } ?? cell
    }

    /// The expression that reads a slot of a found object to compare it with the batch's cell.
    private func compared(_ slot: Int) -> String {
        let value = "t.\(column(slot))"
        let cell = "b.\(SQLiteBatchColumns.cell(slot))"
        return adopted?.compared(value, of: schema.columns[layout.index][slot], with: cell) ?? value
    }

    /// A column that an update writes.
    struct Assignment: Hashable, Sendable {
        let slot: Int
        /// Whether the objects of some rows keep what they have.
        let isPartial: Bool

        init(slot: Int, isPartial: Bool) {
            self.slot = slot
            self.isPartial = isPartial
        }
    }

    /// Updates the objects that the batch names.
    func update(_ assignments: [Assignment]) -> String {
        let terms = assignments.map { assignment in
            let column = column(assignment.slot)
            let cell = written("b.\(SQLiteBatchColumns.cell(assignment.slot))", to: assignment.slot)
            guard assignment.isPartial else { return "\(column) = \(cell)" }
            return
                "\(column) = CASE WHEN b.\(SQLiteBatchColumns.isWritten(assignment.slot)) THEN \(cell) ELSE t.\(column) END"
        }
        return "UPDATE OR FAIL \(table) AS t SET \(terms.joined(separator: ", ")) FROM \(batch) b "
            + "WHERE t.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object)"
    }
}
