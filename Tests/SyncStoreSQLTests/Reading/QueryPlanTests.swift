import Foundation
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

@testable import SyncStoreSQL

#if Postgres
import OneWayPostgresTestSupport
import SyncStorePostgres
#endif

/// The statements of typed reads use indices.
@Suite(.endsInTime) struct QueryPlanTests {
    private static func statement(_ planned: Planned.Case, _ dialect: any SQLDialect) throws -> SQLStatementText {
        let model = try Planned.model()
        let selection = try BoundSelection(try planned.selection(), in: model)
        return SQLQueries(SQLSchema(model, dialect: dialect)).rows(selection, objectSet: nil)
    }

    @Test(arguments: Planned.cases)
    func sqliteSearchesIndices(planned: Planned.Case) async throws {
        let store = try await SQLiteStore(exactly: try Planned.model(), at: .memory)
        let text = try Self.statement(planned, .sqlite).text
        let plan = try await store.sql { reader in
            try await reader.rows("EXPLAIN QUERY PLAN \(text)").map { "\($0["detail"] ?? .null)" }
        }
        for part in planned.sqlite { #expect(plan.contains { $0.contains(part) }, "\(plan) for \(text)") }
        if !planned.scans { #expect(!plan.contains { $0.contains("SCAN t") || $0.contains("SCAN r") }, "\(plan)") }
        if !planned.sorts { #expect(!plan.contains { $0.contains("B-TREE FOR ORDER BY") }, "\(plan)") }
    }

    @Test func sqliteReadsRelatedObjectsByIndices() async throws {
        let model = try Planned.model()
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let queries = SQLQueries(SQLSchema(model, dialect: .sqlite))
        let user = try model.layout(of: "User")
        for (name, part) in [("notes", "Note_author (author=?)"), ("tags", "(User=?)")] {
            let relationship = try #require(user.relationship(name))
            let text = queries.links(relationship)
            let plan = try await store.sql { reader in
                try await reader.rows("EXPLAIN QUERY PLAN \(text)").map { "\($0["detail"] ?? .null)" }
            }
            #expect(plan.contains { $0.contains("SEARCH") && $0.contains(part) }, "\(plan)")
        }
        let related = try BoundSelection.related(to: try model.layout(of: "Note"), model)
        let text = queries.rows(related, objectSet: nil).text
        let plan = try await store.sql { reader in
            try await reader.rows("EXPLAIN QUERY PLAN \(text)").map { "\($0["detail"] ?? .null)" }
        }
        #expect(plan.contains { $0.contains("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)") }, "\(plan)")
    }

    @Test func sqliteGroupsByAnIndex() async throws {
        let model = try Planned.model()
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let selection = StoreSelection(StoreQuery("User"), columns: [.value(PropertyPath("name")), .count])
        let text = SQLQueries(SQLSchema(model, dialect: .sqlite))
            .rows(try BoundSelection(selection, in: model), objectSet: nil).text
        let plan = try await store.sql { reader in
            try await reader.rows("EXPLAIN QUERY PLAN \(text)").map { "\($0["detail"] ?? .null)" }
        }
        #expect(plan.count == 1 && plan[0].contains("SCAN t USING COVERING INDEX User_by_name"), "\(plan)")
    }

    #if Postgres
    @Test(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"))
    func postgresUsesIndices() async throws {
        try await SharedPostgres.withSchemas { schemas in
            let options = schemas.emptyStore()
            _ = try await PostgresStore(exactly: try Planned.model(), at: schemas.url, options: options)
            for planned in Planned.cases {
                let statement = try Self.statement(planned, .postgres(schema: options.schema))
                var text = statement.text
                for (number, binding) in statement.bindings.enumerated().reversed() {
                    let literal = PostgresDialect(schemaName: "public").literal(binding) ?? "NULL"
                    text = text.replacing("$\(number + 1)::", with: "(\(literal))::")
                }
                // The tables are empty, so that reading them whole would always be cheaper; and a
                // page is to come from an index in its order.
                let explained = text
                let sort = try planned.selection().query.limit == nil ? "on" : "off"
                let plan = try await schemas.run(
                    "SET enable_seqscan = off; SET enable_sort = \(sort); SET enable_hashjoin = off; EXPLAIN \(explained)",
                    in: options
                ).map { $0[0] ?? "" }
                for part in planned.postgres {
                    #expect(plan.contains { $0.contains(part) }, "\(planned): \(plan) for \(text)")
                }
            }
        }
    }
    #endif
}

extension BoundSelection {
    /// A selection of some objects by number, as related objects are read.
    fileprivate static func related(to layout: EntityLayout, _ model: DataModel) throws -> BoundSelection {
        try BoundSelection(
            StoreSelection(StoreQuery(layout.name, objects: .only([1, 2])), columns: [.object]), in: model)
    }
}
