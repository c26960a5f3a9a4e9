import SyncModel
import SyncStore
import SyncStoreSQL

/// Deletes the objects of a query and what goes with them.
struct SQLiteRemoval {
    private let queries: SQLQueries
    private let statements: SQLRemoval
    private let connection: SQLiteConnection

    init(_ queries: SQLQueries, connection: SQLiteConnection) {
        self.queries = queries
        self.connection = connection
        statements = SQLRemoval(queries.schema)
    }

    func run(_ query: StoreQuery, reportsKeys: Bool) throws -> RemovalResult {
        let schema = queries.schema
        let layout = try schema.model.layout(of: query.entity)
        try connection.execute(statements.preparation)
        try connection.withRowSet(of: query) { rowSet in
            let start = statements.start(try queries.rows(query, rowSet: rowSet), entity: layout.index)
            try connection.cached(start.text).run(start.bindings)
        }
        guard connection.changeCount > 0 else { return RemovalResult() }
        try gatherCascades()
        try checkDenials()
        var result = RemovalResult()
        for family in schema.families.indices {
            let statement = try connection.cached(statements.counts(family: family))
            while try statement.step() {
                if statement.integer(at: 1) > 0 { result.counts[statement.text(at: 0)] = Int(statement.integer(at: 1)) }
            }
            if reportsKeys { try gatherKeys(family: family, &result) }
        }
        for family in schema.families.indices {
            try connection.cached(statements.deletion(family: family)).run()
        }
        return result
    }

    /// Names the objects to go of a family, in the order of their rows.
    private func gatherKeys(family: Int, _ result: inout RemovalResult) throws(SQLiteError) {
        let model = queries.schema.model
        let columns = queries.keyColumns(family: family)
        let statement = try connection.cached(statements.keys(family: family))
        while try statement.step() {
            let root = model.layouts[queries.schema.families[family].root]
            guard let layout = columns.namesEntity ? model[statement.text(at: 1)] : root,
                let places = columns.places[layout.index]
            else { continue }
            let row = statement.integer(at: 0)
            let identity = zip(layout.identitySlots, places).map { slot, place in
                statement.value(at: place, as: layout.attributes[slot].type)
            }
            let key = RecordKey(identity) ?? .row(row)
            result.keys[layout.name, default: []].append(StoredKey(row: row, key: key))
        }
    }

    private func gatherCascades() throws(SQLiteError) {
        var round: Int64 = 0
        var isGrowing = !statements.cascades.isEmpty
        while isGrowing {
            isGrowing = false
            for rule in statements.cascades {
                try connection.cached(rule.statement).run([.integer(round)])
                if connection.changeCount > 0 { isGrowing = true }
            }
            round += 1
        }
    }

    private func checkDenials() throws {
        for rule in statements.denials {
            let statement = try connection.cached(rule.statement)
            defer { statement.reset() }
            guard try statement.step() else { continue }
            let entity = statement.isNull(at: 0) ? rule.entity : statement.text(at: 0)
            throw StoreError.deletionDenied(entity: entity, relationship: rule.relationship)
        }
    }
}
