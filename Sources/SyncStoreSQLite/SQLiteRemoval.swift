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

    func run(_ query: StoreQuery) throws -> [String: Int] {
        let schema = queries.schema
        let layout = try schema.model.layout(of: query.entity)
        try connection.execute(SQLRemoval.preparation)
        try connection.withRowSet(of: query) { rowSet in
            let start = statements.start(try queries.rows(query, rowSet: rowSet), entity: layout.index)
            try connection.cached(start.text).run(start.bindings)
        }
        guard connection.changeCount > 0 else { return [:] }
        try gatherCascades()
        try checkDenials()
        var counts: [String: Int] = [:]
        for family in schema.families.indices {
            let statement = try connection.cached(statements.counts(family: family))
            while try statement.step() {
                if statement.integer(at: 1) > 0 { counts[statement.text(at: 0)] = Int(statement.integer(at: 1)) }
            }
        }
        for family in schema.families.indices {
            try connection.cached(statements.deletion(family: family)).run()
        }
        return counts
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
