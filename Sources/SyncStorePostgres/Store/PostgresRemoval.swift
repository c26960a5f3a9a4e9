#if Postgres
import SyncModel
import SyncStore
import SyncStoreSQL

/// Deletes the objects of a query and what goes with them.
struct PostgresRemoval {
    private let queries: SQLQueries
    private let statements: SQLRemoval
    private let connection: PostgresConnection

    init(_ queries: SQLQueries, connection: PostgresConnection) {
        self.queries = queries
        self.connection = connection
        statements = SQLRemoval(queries.schema)
    }

    func run(_ query: StoreQuery, reportsKeys: Bool) throws -> RemovalResult {
        let schema = queries.schema
        let layout = try schema.model.layout(of: query.entity)
        try connection.execute(statements.preparation)
        let start = statements.start(try queries.rows(query, rowSet: nil), entity: layout.index)
        guard try connection.run(start).affectedCount > 0 else { return RemovalResult() }
        try gatherCascades()
        try checkDenials()
        var result = RemovalResult()
        for family in schema.families.indices {
            let counts = try connection.query(statements.counts(family: family), binaryResult: true)
            for row in 0..<counts.rowCount {
                guard let entity = counts.text(row, 0), let count = counts.integer(row, 1), count > 0 else { continue }
                result.counts[entity] = Int(count)
            }
            if reportsKeys { try gatherKeys(family: family, &result) }
        }
        for family in schema.families.indices { try connection.execute(statements.deletion(family: family)) }
        return result
    }

    /// Names the objects to go of a family, in the order of their rows.
    private func gatherKeys(family: Int, _ result: inout RemovalResult) throws {
        let model = queries.schema.model
        let columns = queries.keyColumns(family: family)
        let root = model.layouts[queries.schema.families[family].root]
        let found = try connection.query(statements.keys(family: family), binaryResult: true)
        for place in 0..<found.rowCount {
            guard let layout = columns.namesEntity ? found.text(place, 1).flatMap({ model[$0] }) : root,
                let places = columns.places[layout.index], let row = found.integer(place, 0)
            else { continue }
            let identity = zip(layout.identitySlots, places).map { slot, column in
                found.value(place, column, as: layout.attributes[slot].type)
            }
            let key = RecordKey(identity) ?? .row(row)
            result.keys[layout.name, default: []].append(StoredKey(row: row, key: key))
        }
    }

    private func gatherCascades() throws {
        var round: Int64 = 0
        var isGrowing = !statements.cascades.isEmpty
        while isGrowing {
            isGrowing = false
            for rule in statements.cascades {
                let added = try connection.run(SQLStatementText(rule.statement, [.integer(round)])).affectedCount
                if added > 0 { isGrowing = true }
            }
            round += 1
        }
    }

    private func checkDenials() throws {
        for rule in statements.denials {
            let denied = try connection.query(rule.statement, binaryResult: true)
            guard denied.rowCount > 0 else { continue }
            throw StoreError.deletionDenied(
                entity: denied.text(0, 0) ?? rule.entity, relationship: rule.relationship)
        }
    }
}
#endif
