#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// Links the objects of a batch: reads the stored links and writes the differences with a fixed
/// number of statements.
struct PostgresLinking: SQLLinkWriter {
    let queries: SQLQueries
    let batch: LinkBatch
    let connection: PostgresConnection
    var plan: SQLLinkPlan
    /// Whether to verify also what the server says it has written, which triggers can change
    /// afterwards; false by default.
    var verifiesAlways = false
    /// Receives each statement and its verification instead of running them; nil by default.
    private var collect: ((_ change: SQLStatementText, _ verification: SQLStatementText) -> Void)?

    /// - Parameters:
    ///   - known: Links that were read before; nil for none.
    ///   - kept: The links in the database that the transaction has removed.
    init(
        _ batch: LinkBatch, known: PostgresKnownLinks?, without kept: SQLKeptLinks, queries: SQLQueries,
        connection: PostgresConnection
    ) throws {
        self.queries = queries
        self.batch = batch
        self.connection = connection
        let schema = queries.schema
        let origins = SQLLinkPlan.origins(of: batch, schema: schema)
        let known = known.flatMap { $0.covers(origins, of: batch.relationship) ? $0 : nil }
        let links =
            try origins.isEmpty
            ? []
            : known?.links(of: origins)
                ?? connection.links(batch.relationship, of: origins, queries, isReading: false)
        var targets = LinkedTargets()
        targets.add(kept.visible(links, of: batch.relationship, schema))
        plan = try SQLLinkPlan(batch, schema: schema, links: targets.take()) { entity, objects in
            if let known, known.existing.isSuperset(of: objects), known.entity == entity { return Set(objects) }
            return try connection.run(queries.existing(entity), [.objects(objects)]).objects
        }
    }

    // MARK: Refusals

    func isNull(_ error: any Error, refusedBy link: SQLSchema.ColumnLink) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.code == .notNullViolation && error.column == link.column
    }

    func describe(_ error: any Error, of table: String, in refusal: inout StoreError.Refusal) throws -> Bool {
        guard let error = error as? PostgresError, error.isRefusalOfRow else { return false }
        (refusal.constraint, refusal.databaseError) = (error.constraint, error.debugDescription)
        switch error.code {
        case .foreignKeyViolation: refusal.reason = .missingReference(from: error.table ?? table)
        case .uniqueViolation: refusal.reason = .taken(by: nil)
        case .notNullViolation: refusal.reason = .null
        case .insufficientPrivilege:
            try recover()
            try connection.check(error, of: table, schema)
            refusal.constraint = "row-level security"
        default: break
        }
        return true
    }

    /// Returns to the savepoint before the links.
    func recover() throws {
        try connection.execute("ROLLBACK TO SAVEPOINT sync_attempt")
    }

    func isRefused(_ write: () throws -> Void) throws -> Bool {
        let isRefused: Bool
        do {
            try write()
            isRefused = false
        } catch let error as PostgresError where error.isRefusalOfRow { isRefused = true }
        try recover()
        return isRefused
    }

    // MARK: Rows

    /// The pairs of a statement's parameters with their positions.
    private static let rows =
        "ROWS FROM (unnest($1::bigint[], $2::bigint[], $3::bigint[])) WITH ORDINALITY AS p(source, target, position, n)"

    /// The pairs with a place after all existing positions of their target; new ones count in
    /// their order.
    ///
    /// The last position is looked up once for each target, because all pairs can have the same.
    private static func rows(after position: String, in table: String, by column: String) -> String {
        let last = "(SELECT coalesce(max(o.\(position)), -1) FROM \(table) o WHERE o.\(column) = p.target)"
        return "(SELECT p.*, p.n + max(p.last) OVER (PARTITION BY p.target) AS place FROM (SELECT p.*, "
            + "CASE WHEN row_number() OVER (PARTITION BY p.target) = 1 THEN \(last) END AS last FROM \(rows)) p) p"
    }

    // MARK: Columns

    func release(_ link: SQLSchema.ColumnLink) throws {
        guard !plan.released.isEmpty else { return }
        let column = SQLText.name(link.column)
        let table = schema.relation(link.table)
        // Objects that the batch assigns anyway may keep their values.
        let condition = "\(column) = ANY($1::bigint[]) AND \(schema.rowColumn) <> ALL($2::bigint[])"
        let rows: [SQLBinding] = [.objects(plan.released), .objects(plan.assignments.map(\.object))]
        try write(
            SQLStatementText("UPDATE \(table) SET \(column) = NULL WHERE \(condition)", rows), link.table,
            failing: SQLStatementText("SELECT 1 FROM \(table) WHERE \(condition) LIMIT 1", rows)
        ) { _ in false }
    }

    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws {
        guard !plan.assignments.isEmpty else { return }
        let table = schema.relation(link.table)
        let column = SQLText.name(link.column)
        var rows = Self.rows
        var assigned = "\(column) = NULLIF(p.target, 0)"
        var differs = "t.\(column) IS DISTINCT FROM NULLIF(p.target, 0)"
        if let name = link.position.map(SQLText.name), position != .none {
            switch position {
            case .none: break
            case .given:
                assigned += ", \(name) = CASE WHEN p.target <> 0 THEN p.position END"
                differs += " OR t.\(name) IS DISTINCT FROM p.position"
            case .atEnd:
                rows = Self.rows(after: name, in: table, by: column)
                assigned += ", \(name) = CASE WHEN p.target <> 0 THEN p.place END"
            }
        }
        // A trigger can also make an update keep the old value.
        let text =
            "WITH written AS (UPDATE \(table) t SET \(assigned) FROM \(rows) "
            + "WHERE t.\(schema.rowColumn) = p.source AND (\(differs)) "
            + "RETURNING t.\(column) IS NOT DISTINCT FROM NULLIF(p.target, 0) AS is_right) "
            + "SELECT count(*) FROM written WHERE is_right"
        let objects: SQLBinding = .objects(plan.assignments.map(\.object))
        let values: SQLBinding = .objects(plan.assignments.map { $0.other ?? 0 })
        let positions: SQLBinding = .objects(plan.assignments.map(\.position))
        let count = Int64(plan.assignments.count)
        try write(
            SQLStatementText(text, [objects, values, positions]), link.table,
            failing: SQLStatementText(
                "SELECT 1 FROM unnest($1::bigint[], $2::bigint[]) AS p(row, value) JOIN \(table) t "
                    + "ON t.\(schema.rowColumn) = p.row WHERE t.\(column) IS DISTINCT FROM NULLIF(p.value, 0) LIMIT 1",
                [objects, values])
        ) { $0.integer(0, 0) == count }
    }

    // MARK: Join tables

    func remove(_ link: SQLSchema.JoinLink) throws {
        guard !plan.removed.isEmpty else { return }
        let text =
            "DELETE FROM \(schema.relation(link.table)) t USING unnest($1::bigint[], $2::bigint[]) AS p(source, target) "
            + "WHERE t.\(SQLText.name(link.source)) = p.source AND t.\(SQLText.name(link.target)) = p.target"
        let count = plan.removed.count
        try write(
            SQLStatementText(text, pairs(plan.removed)), link.table,
            failing: SQLStatementText(
                "SELECT 1 FROM unnest($1::bigint[], $2::bigint[]) AS p(source, target) WHERE \(isPair(link)) LIMIT 1",
                pairs(plan.removed))
        ) { $0.affectedCount >= count }
    }

    func add(_ link: SQLSchema.JoinLink) throws {
        guard !plan.added.isEmpty else { return }
        let table = schema.relation(link.table)
        let source = SQLText.name(link.source)
        let target = SQLText.name(link.target)
        var names = [source, target]
        var values = ["p.source", "p.target"]
        var rows = Self.rows
        var conflict = "DO NOTHING"
        if let position = link.position.map(SQLText.name) {
            names.append(position)
            values.append("p.position")
            conflict =
                "(\(source), \(target)) DO UPDATE SET \(position) = excluded.\(position) "
                + "WHERE t.\(position) IS DISTINCT FROM excluded.\(position)"
        }
        if let position = link.inversePosition.map(SQLText.name) {
            rows = Self.rows(after: position, in: table, by: target)
            names.append(position)
            values.append("p.place")
        }
        for (column, expression) in schema.suppliedTerms(of: link.table) {
            names.append(SQLText.name(column))
            values.append(expression)
        }
        let text =
            "INSERT INTO \(table) AS t (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
            + "FROM \(rows) ON CONFLICT \(conflict)"
        let added: [SQLBinding] = [.objects(plan.added.map { $0.other ?? 0 }), .objects(plan.added.map(\.object))]
        let count = plan.added.count
        try write(
            SQLStatementText(text, added + [.objects(plan.added.map(\.position))]), link.table,
            failing: SQLStatementText(
                "SELECT 1 FROM unnest($1::bigint[], $2::bigint[]) AS p(source, target) WHERE NOT \(isPair(link)) LIMIT 1",
                added)
        ) { $0.affectedCount >= count }
    }

    /// The condition that the table has a pair.
    private func isPair(_ link: SQLSchema.JoinLink) -> String {
        "EXISTS (SELECT 1 FROM \(schema.relation(link.table)) t "
            + "WHERE t.\(SQLText.name(link.source)) = p.source AND t.\(SQLText.name(link.target)) = p.target)"
    }

    // MARK: Verification

    /// Runs a writing statement, and verifies its effect.
    ///
    /// - Parameters:
    ///   - query: Finds a row that should have been written but was not.
    ///   - isComplete: Whether the statement's result proves that there is none.
    /// - Throws: `SQLSchemaError.unsuitableTable` if there is such a row.
    private func write(
        _ statement: SQLStatementText, _ table: String, failing query: SQLStatementText,
        _ isComplete: (PostgresResult) -> Bool
    ) throws {
        if let collect { return collect(statement, query) }
        guard try !isComplete(connection.run(statement)) || verifiesAlways else { return }
        guard try connection.run(query).rowCount > 0 else { return }
        throw SQLKeptRows("links from being written", in: table).error(by: try connection.guards(of: table, schema))
    }

    /// Whether a message takes longer than to verify the links, and nothing can refuse them but
    /// what others have added to the database.
    ///
    /// A column may not accept null, and what waits for that is settled before the commit. So are
    /// statistics gathered, for which many links have to be there.
    var canWait: Bool {
        connection.isFar && plan.released.isEmpty && plan.assignments.allSatisfy { $0.other != nil }
            && plan.assignments.count + plan.added.count + plan.removed.count < PostgresGrowth.rowMinimum
    }

    /// The statements that write the links. After each comes one that fails if it had not the
    /// effect, because nobody looks at the results before the commit that follows.
    func guarded() throws -> [SQLStatementText] {
        var statements: [SQLStatementText] = []
        var collecting = self
        collecting.collect = { change, query in
            // Not a constant, which the planner would divide by.
            let check = "SELECT 1 / CASE WHEN EXISTS (\(query.text)) THEN 0 ELSE 1 END"
            statements += [change, SQLStatementText(check, query.bindings)]
        }
        try collecting.write()
        return statements
    }

    private func pairs(_ links: [LinkBatch.Link]) -> [SQLBinding] {
        [.objects(links.map(\.source)), .objects(links.map(\.target))]
    }
}
#endif
