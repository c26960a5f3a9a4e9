#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// Links the objects of a batch: reads the stored links, and writes the difference, in a fixed
/// number of statements.
struct PostgresLinking: SQLLinkWriter {
    private let schema: SQLSchema
    private let batch: LinkBatch
    private let connection: PostgresConnection
    let plan: SQLLinkPlan

    init(_ batch: LinkBatch, queries: SQLQueries, connection: PostgresConnection) throws {
        schema = queries.schema
        self.batch = batch
        self.connection = connection
        let relationship = batch.relationship
        plan = SQLLinkPlan(
            batch, schema: schema,
            sources: try connection.objects(queries.existing(relationship.source), among: batch.sources),
            targets: try connection.objects(queries.existing(relationship.destination), among: batch.targets),
            links: try connection.links(relationship, of: SQLLinkPlan.origins(of: batch, schema: schema), queries))
    }

    func run() throws -> LinkResult {
        try write(batch, schema: schema)
    }

    // MARK: Columns

    func release(_ link: SQLSchema.ColumnLink) throws {
        guard !plan.released.isEmpty else { return }
        let column = SQLText.name(link.column)
        // Rows that are assigned anyway may get what they have.
        let text =
            "UPDATE \(SQLText.name(link.table)) SET \(column) = NULL "
            + "WHERE \(column) = ANY($1::bigint[]) AND \(schema.rowColumn) <> ALL($2::bigint[])"
        try connection.run(
            SQLStatementText(text, [.objects(plan.released), .objects(plan.assignments.map(\.object))]))
    }

    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws {
        guard !plan.assignments.isEmpty else { return }
        let table = SQLText.name(link.table)
        let column = SQLText.name(link.column)
        var assigned = "\(column) = NULLIF(p.value, 0)"
        var differs = "t.\(column) IS DISTINCT FROM NULLIF(p.value, 0)"
        if let name = link.position.map(SQLText.name), position != .none {
            switch position {
            case .none: break
            case .given:
                assigned += ", \(name) = CASE WHEN p.value <> 0 THEN p.position END"
                differs += " OR t.\(name) IS DISTINCT FROM p.position"
            case .atEnd:
                assigned +=
                    ", \(name) = CASE WHEN p.value <> 0 THEN p.n + "
                    + "(SELECT coalesce(max(o.\(name)), -1) FROM \(table) o WHERE o.\(column) = p.value) END"
            }
        }
        let text =
            "UPDATE \(table) t SET \(assigned) FROM ROWS FROM (unnest($1::bigint[], $2::bigint[], $3::bigint[])) "
            + "WITH ORDINALITY AS p(row, value, position, n) WHERE t.\(schema.rowColumn) = p.row AND (\(differs))"
        try connection.run(
            SQLStatementText(
                text,
                [
                    .objects(plan.assignments.map(\.object)), .objects(plan.assignments.map { $0.value ?? 0 }),
                    .objects(plan.assignments.map(\.position)),
                ]))
    }

    // MARK: Join tables

    func remove(_ link: SQLSchema.JoinLink) throws {
        guard !plan.removed.isEmpty else { return }
        let text =
            "DELETE FROM \(SQLText.name(link.table)) t USING unnest($1::bigint[], $2::bigint[]) AS p(source, target) "
            + "WHERE t.\(SQLText.name(link.source)) = p.source AND t.\(SQLText.name(link.target)) = p.target"
        try connection.run(SQLStatementText(text, pairs(plan.removed)))
    }

    func add(_ link: SQLSchema.JoinLink) throws {
        guard !plan.added.isEmpty else { return }
        let table = SQLText.name(link.table)
        let source = SQLText.name(link.source)
        let target = SQLText.name(link.target)
        var names = [source, target]
        var values = ["p.source", "p.target"]
        var conflict = "DO NOTHING"
        if let position = link.position.map(SQLText.name) {
            names.append(position)
            values.append("p.position")
            conflict =
                "(\(source), \(target)) DO UPDATE SET \(position) = excluded.\(position) "
                + "WHERE t.\(position) IS DISTINCT FROM excluded.\(position)"
        }
        if let position = link.inversePosition.map(SQLText.name) {
            names.append(position)
            values.append(Self.place(after: position, in: table, where: target, is: "p.target"))
        }
        let text =
            "INSERT INTO \(table) AS t (\(names.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) "
            + "FROM ROWS FROM (unnest($1::bigint[], $2::bigint[], $3::bigint[])) WITH ORDINALITY "
            + "AS p(source, target, position, n) ON CONFLICT \(conflict)"
        try connection.run(
            SQLStatementText(text, pairs(plan.added.map(\.link)) + [.objects(plan.added.map(\.position))]))
    }

    /// The position after all positions of an object, in the order of new ones.
    private static func place(
        after position: String, in table: String, where column: String, is value: String
    ) -> String {
        "p.n + (SELECT coalesce(max(o.\(position)), -1) FROM \(table) o WHERE o.\(column) = \(value))"
    }

    private func pairs(_ links: [StoreLink]) -> [SQLBinding] {
        [.objects(links.map(\.source)), .objects(links.map(\.target))]
    }
}

extension PostgresConnection {
    /// Returns the objects that a statement selects among some, its parameter.
    fileprivate func objects(_ text: String, among objects: [ObjectID]) throws -> Set<ObjectID> {
        guard !objects.isEmpty else { return [] }
        let result = try run(SQLStatementText(text, [.objects(objects)]))
        return Set((0..<result.rowCount).compactMap { result.integer($0, 0) })
    }
}
#endif
