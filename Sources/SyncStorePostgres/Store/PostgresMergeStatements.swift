#if Postgres
import SyncModel
import SyncStore
import SyncStoreSQL

/// Writes the statement that merges a batch's table.
struct PostgresMergeStatements {
    /// The properties of a merge that its statement depends on.
    struct Task {
        var isByObject: Bool
        /// Whether the identities of the rows are long; see `SQLLongKeys`.
        var isLong: Bool
        var inserts: Bool
        var updates: Bool
        /// How many of the rows have a cell in each column.
        var presence: [PostgresBatch.Presence]
        /// Whether the batch has marks for absent cells.
        var hasMarks: Bool
        /// The relationship whose targets the batch has; nil for none.
        var linked: EntityLayout.Relationship?
        /// The rows of the batch to merge; nil for all.
        var places: ClosedRange<Int>?
        /// What rows have in columns of unique indexes while their values wait.
        var emptied: [Int: SQLUniqueColumns.Content] = [:]
        /// The objects that wait for values already, and the columns of these values, which are not
        /// compared.
        var waiting: (objects: [ObjectID], columns: Set<Int>) = ([], [])
    }

    /// Makes the planner use index lookups. Without statistics of the batch, and sometimes of the
    /// table, it might read the whole table instead.
    static let plansLookups = ["SET LOCAL enable_hashjoin TO off", "SET LOCAL enable_mergejoin TO off"]
    /// Restores the planner's defaults.
    static let plansAnything = ["SET LOCAL enable_hashjoin TO DEFAULT", "SET LOCAL enable_mergejoin TO DEFAULT"]

    private let schema: SQLSchema
    private let layout: EntityLayout
    private let batch: PostgresBatch
    private let nextRow: String
    /// Whether the table has a column of entity names.
    let namesEntity: Bool
    /// The forms of columns, by column.
    private let forms: [PostgresColumnForm?]

    init(schema: SQLSchema, batch: PostgresBatch, nextRow: String, forms: [String: PostgresColumnForm]) {
        self.schema = schema
        self.batch = batch
        self.nextRow = nextRow
        layout = batch.layout
        self.forms = schema.columns[batch.layout.index].map { forms[$0] }
        namesEntity = schema.families[schema.familyIndex[layout.index]].namesEntity
    }

    private var table: String {
        schema.relation(schema.table(of: layout.index))
    }

    private func name(of column: Int) -> String {
        SQLText.name(schema.columns[layout.index][column])
    }

    /// The value to write for a cell.
    private func written(_ column: Int) -> String {
        let cell = "b.\(PostgresBatch.cell(column))"
        return forms[column]?.written(cell) ?? cell
    }

    /// The value of a new object: its cell or, if that is absent, the default of a mandatory
    /// column. A null stays null, which the column refuses.
    private func inserted(_ column: Int, _ presence: PostgresBatch.Presence) -> String {
        let cell = written(column)
        guard presence != .always, let defaultValue = forms[column]?.defaultValue else { return cell }
        let other = "coalesce(\(cell), \(defaultValue))"
        return presence == .never
            ? other : "CASE WHEN \(PostgresBatch.isPresent(column)) THEN \(cell) ELSE \(other) END"
    }

    /// The condition that a stored value differs from a cell.
    private func isOther(_ column: Int) -> String {
        let stored = "t.\(name(of: column))"
        // Existing tables may have other collations, which may consider different texts equal.
        return
            "\(forms[column]?.compared(stored) ?? stored)\(schema.dialect.collation(layout.attributes[column].type)) "
            + "IS DISTINCT FROM b.\(PostgresBatch.cell(column))"
    }

    /// Selects the name of an object's entity; the parameter is its number. Nil if the table has
    /// only one entity.
    var entity: String? {
        guard namesEntity else { return nil }
        return "SELECT \(schema.entityColumn) FROM \(table) WHERE \(schema.rowColumn) = $1::bigint"
    }

    /// Selects an array of numbers for new rows; the parameter is their count.
    var numbers: String {
        "SELECT pg_catalog.array_agg(\(nextRow)) FROM pg_catalog.generate_series(1::bigint, $1::bigint)"
    }

    /// The columns of a relationship; nil if the entity's table has none.
    func link(_ relationship: EntityLayout.Relationship) -> SQLSchema.ColumnLink? {
        guard case .column(let link) = schema.relationships[relationship.source][relationship.index] else { return nil }
        return link
    }

    /// Whether the unique index of the identities covers everything that a merge finds. The index
    /// distinguishes the entities of a family, and a merge finds objects of sub-entities too.
    private var indexCoversIdentities: Bool {
        guard namesEntity, layout.hasIdentity else { return true }
        return layout.family.count == 1 && schema.identityScope(of: layout.index) == layout.root
    }

    /// The statement that copies new rows into the table. Nil if the unique index of the identities
    /// does not cover everything that a merge finds, or if the rows get values that are
    /// expressions.
    ///
    /// - Parameter linked: The relationship whose targets the rows have; nil for none.
    func copying(linked: EntityLayout.Relationship?) -> String? {
        guard indexCoversIdentities, schema.suppliedTerms(of: schema.table(of: layout.index)).isEmpty
        else { return nil }
        var names = [schema.rowColumn]
        if namesEntity { names.append(schema.entityColumn) }
        if let linked {
            guard let link = link(linked) else { return nil }
            names += [link.column, link.position].compactMap(\.self).map(SQLText.name)
        }
        names += layout.attributes.indices.map(name(of:))
        return "COPY \(table) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    }

    /// Returns the statement for a task.
    ///
    /// It selects an array with one number for each row of the batch, in order; see
    /// `PostgresMerge.Code`. Four more columns are the number of inserted rows, the exclusive or
    /// of their numbers, the number of updated rows, and whether inserted rows have other targets
    /// than the batch. They are null if the statement does not insert, update or link.
    func merge(_ task: Task) -> String {
        let columns = writtenColumns(task)
        var parts = ["found AS MATERIALIZED (\(found(task, columns))"]
        var selections = ["SELECT place, \(code(task)) AS code FROM found"]
        if task.inserts {
            parts.append(
                "fresh AS MATERIALIZED (SELECT b.*, \(nextRow) AS new FROM (SELECT b.* FROM \(foundRows) "
                    + "WHERE f.row IS NULL ORDER BY f.place) b")
            parts.append("inserted AS (\(insertion(task))")
            selections[0] += " WHERE row IS NOT NULL"
            let code = PostgresMerge.Code.term(
                object: "new", change: .inserted, isLinked: task.linked == nil ? "FALSE" : "TRUE")
            selections.append("SELECT place, \(code) FROM fresh")
        }
        let updates = task.updates && !columns.isEmpty
        if updates { parts.append("updated AS (\(update(task, columns))") }
        let written = [
            task.inserts ? "(SELECT count(*) FROM inserted)" : "NULL",
            task.inserts ? "(SELECT pg_catalog.bit_xor(row) FROM inserted)" : "NULL",
            updates ? "(SELECT count(*) FROM updated)" : "NULL",
            insertedColumn(task) == nil ? "NULL" : haveOtherTargets,
        ]
        return "WITH \(parts.map { $0 + ")" }.joined(separator: ", ")) "
            + "SELECT pg_catalog.array_agg(r.code ORDER BY r.place), \(written.joined(separator: ", ")) "
            + "FROM (\(selections.joined(separator: " UNION ALL "))) r"
    }

    /// The columns that an update may write. An identity that found the object is equal already.
    private func writtenColumns(_ task: Task) -> [Int] {
        layout.attributes.indices.filter { column in
            task.presence[column] != .never && (task.isByObject || !layout.identityColumns.contains(column))
        }
    }

    private func code(_ task: Task) -> String {
        let isLinked = linkedColumn(task) == nil ? "FALSE" : "is_linked"
        let updated = PostgresMerge.Code.term(object: "row", change: .updated, isLinked: isLinked)
        let unchanged = PostgresMerge.Code.term(object: "row", change: .unchanged, isLinked: isLinked)
        return "CASE WHEN row IS NULL THEN 0 WHEN differs THEN \(updated) ELSE \(unchanged) END"
    }

    // MARK: Finding

    /// Selects the places of the batch's rows, their objects, and whether the values differ.
    private func found(_ task: Task, _ columns: [Int]) -> String {
        // A row is read again by its place in the table if it is written, which few are.
        let row = "b.ctid AS at, b.\(PostgresBatch.place)"
        let condition =
            task.places.map { " WHERE b.\(PostgresBatch.place) BETWEEN \($0.lowerBound) AND \($0.upperBound)" } ?? ""
        guard task.isByObject || layout.hasIdentity else {
            return "SELECT \(row), NULL::bigint AS row, FALSE AS differs FROM \(batch.name) b\(condition)"
        }
        let differs =
            task.updates && !columns.isEmpty
            ? columns.map { column in
                var isOther = isOther(column)
                if task.waiting.columns.contains(column) {
                    let objects = task.waiting.objects.map(String.init).joined(separator: ",")
                    isOther = "(\(isOther) AND t.\(schema.rowColumn) <> ALL ('{\(objects)}'::bigint[]))"
                }
                return task.presence[column] == .sometimes
                    ? "(\(PostgresBatch.isPresent(column)) AND \(isOther))" : isOther
            }.joined(separator: " OR ") : "FALSE"
        var conditions: [String]
        var order = ""
        if task.isByObject {
            conditions = ["t.\(schema.rowColumn) = b.\(PostgresBatch.object)"]
            if let condition = schema.entityCondition(layout.index, alias: "t") { conditions.append(condition) }
        } else {
            conditions = hasIdentityOfBatch
            if task.isLong {
                conditions += schema.longColumns(of: layout.index).map { column in
                    [("t", name(of: column)), ("b", PostgresBatch.cell(column))].map { alias, name in
                        schema.longKey(layout.index, column, of: "\(alias).\(name)")
                    }.joined(separator: " = ")
                }
            }
            if let condition = schema.lengthCondition(layout.index, isLong: task.isLong, alias: "t") {
                conditions.append(condition)
            }
            let scope = schema.identityScope(of: layout.index)
            if let condition = schema.scopeCondition(scope) { conditions.append(condition) }
            if namesEntity {
                let members = layout.family.filter { schema.identityScope(of: $0) == scope }
                let names = members.map { SQLText.literal(schema.model.layouts[$0].name) }.joined(separator: ", ")
                conditions.append("t.\(schema.entityColumn) IN (\(names))")
                order = " ORDER BY t.\(schema.entityColumn) <> \(SQLText.literal(layout.name)), t.\(schema.rowColumn)"
            }
        }
        let link =
            linkedColumn(task).map { ", t.\($0) IS NOT DISTINCT FROM b.\(PostgresBatch.target) AS is_linked" } ?? ""
        return "SELECT \(row), o.* FROM \(batch.name) b LEFT JOIN LATERAL "
            + "(SELECT t.\(schema.rowColumn) AS row, \(differs) AS differs\(link) FROM \(table) t "
            + "WHERE \(conditions.joined(separator: " AND "))\(order) LIMIT 1) o ON TRUE\(condition)"
    }

    /// The column of the link that is compared with the targets of the rows; nil for none.
    private func linkedColumn(_ task: Task) -> String? {
        guard task.updates, layout.hasIdentity, let link = task.linked.flatMap(link) else { return nil }
        return SQLText.name(link.column)
    }

    /// The column of the link with which rows are inserted; nil for none.
    private func insertedColumn(_ task: Task) -> String? {
        guard task.inserts, let link = task.linked.flatMap(link) else { return nil }
        return SQLText.name(link.column)
    }

    /// A number for an object and the target of its link; null without a target. The exclusive or
    /// of such numbers shows whether a trigger has changed a link.
    private func linkHash(_ target: String, of object: String) -> String {
        "pg_catalog.hashint8extended(\(target)::bigint, \(object)::bigint)"
    }

    /// The condition that inserted rows have other targets than the batch.
    private var haveOtherTargets: String {
        let wanted = linkHash("target", of: "new")
        return "(SELECT pg_catalog.bit_xor(link) FROM inserted) IS DISTINCT FROM "
            + "(SELECT pg_catalog.bit_xor(\(wanted)) FROM fresh)"
    }

    /// The conditions that a stored row has the identity of a row of the batch.
    private var hasIdentityOfBatch: [String] {
        layout.identityColumns.map { "t.\(name(of: $0)) = b.\(PostgresBatch.cell($0))" }
    }

    /// The found rows as `f`, each with its row of the batch as `b`.
    private var foundRows: String { "found f JOIN \(batch.name) b ON b.ctid = f.at" }

    // MARK: Writing

    /// The value of a column while its object waits for a value of a unique index.
    private func empty(_ content: SQLUniqueColumns.Content, _ column: Int, object: String) -> String {
        guard content == .placeholder else { return "NULL" }
        return switch layout.attributes[column].type {
        case .int16, .int32, .int64: "-1 - \(object)"
        case .double, .float, .decimal: "-0.5 - \(object)"
        case .date: "'0001-01-01 00:00:00'::timestamp + \(object) * '1 second'::interval"
        case .uuid: "pg_catalog.lpad(pg_catalog.to_hex(\(object)), 32, '0')::uuid"
        case .binary: "pg_catalog.decode(pg_catalog.lpad(pg_catalog.to_hex(\(object)), 16, '0'), 'hex')"
        default: "'~' || \(object)::text"
        }
    }

    private func insertion(_ task: Task) -> String {
        var names = [schema.rowColumn]
        var terms = ["b.new"]
        if namesEntity {
            names.append(schema.entityColumn)
            terms.append(SQLText.literal(layout.name))
        }
        for column in layout.attributes.indices {
            names.append(name(of: column))
            terms.append(
                task.emptied[column].map { empty($0, column, object: "b.new") }
                    ?? inserted(column, task.presence[column]))
        }
        if let link = task.linked.flatMap(link) {
            names.append(SQLText.name(link.column))
            terms.append("b.\(PostgresBatch.target)")
            if let position = link.position {
                names.append(SQLText.name(position))
                terms.append("b.\(PostgresBatch.position)")
            }
        }
        for (column, expression) in schema.suppliedTerms(of: schema.table(of: layout.index)) {
            names.append(SQLText.name(column))
            terms.append(expression)
        }
        let linked = insertedColumn(task).map { ", \(linkHash($0, of: schema.rowColumn)) AS link" } ?? ""
        // The number column of an existing table may be `GENERATED ALWAYS`.
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE "
            + "SELECT \(terms.joined(separator: ", ")) FROM fresh b "
            + "RETURNING \(schema.rowColumn)::bigint AS row\(linked)"
    }

    private func update(_ task: Task, _ columns: [Int]) -> String {
        let assignments = columns.map { column in
            var cell = written(column)
            if let content = task.emptied[column] {
                cell = "CASE WHEN \(isOther(column)) THEN \(empty(content, column, object: "f.row")) ELSE \(cell) END"
            }
            let value =
                task.presence[column] == .sometimes
                ? "CASE WHEN \(PostgresBatch.isPresent(column)) THEN \(cell) ELSE t.\(name(of: column)) END" : cell
            return "\(name(of: column)) = \(value)"
        }
        // Another program can change a row between the search and the lock of the update, which
        // then evaluates its conditions again.
        let conditions = ["f.differs", "t.\(schema.rowColumn) = f.row"] + (task.isByObject ? [] : hasIdentityOfBatch)
        return "UPDATE \(table) t SET \(assignments.joined(separator: ", ")) FROM \(foundRows) "
            + "WHERE \(conditions.joined(separator: " AND ")) RETURNING 1"
    }

    // MARK: Verification

    /// Selects the number of written rows that do not have the identity of their row in the batch,
    /// and for each column of the identity whether such a row has another value. The parameters are
    /// the places and the objects of the written rows. Nil without an identity.
    var changedIdentities: String? {
        guard layout.hasIdentity else { return nil }
        let isOther = layout.identityColumns.map {
            "(b.\(PostgresBatch.cell($0)) IS NOT NULL AND (t.\(name(of: $0)) = b.\(PostgresBatch.cell($0))) IS NOT TRUE)"
        }
        let terms = ["count(*)"] + isOther.map { "pg_catalog.bool_or(\($0))" }
        return "SELECT \(terms.joined(separator: ", ")) FROM unnest($1::bigint[], $2::bigint[]) AS p(place, row) "
            + "JOIN \(batch.name) b ON b.\(PostgresBatch.place) = p.place "
            + "JOIN \(table) t ON t.\(schema.rowColumn) = p.row WHERE \(isOther.joined(separator: " OR "))"
    }
}
#endif
