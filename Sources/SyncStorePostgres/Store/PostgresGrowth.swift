#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

/// The rows that a transaction has inserted into each table.
///
/// Without statistics of a table that was empty, the planner reads the whole table for each batch
/// of the next sync. Autovacuum gathers them, but may begin a minute after the commit. Source:
/// https://www.postgresql.org/docs/current/populate.html#POPULATE-ANALYZE
struct PostgresGrowth {
    /// The minimum number of new rows for which to gather statistics.
    static let rowMinimum = 10_000
    /// The target of the statistics. They are gathered from 300 times as many rows, which takes a
    /// few milliseconds; autovacuum replaces them with better ones.
    private static let target = 10

    private var counts: [String: Int] = [:]

    /// Adds new rows of a table.
    mutating func add(_ count: Int, to table: String) {
        if count > 0 { counts[table, default: 0] += count }
    }

    /// Gathers statistics of the tables that are more than ten times as large as at the last time.
    ///
    /// Tables with partitions or descendants are left out, because all of these would be read.
    /// Nothing waits for a table that another session vacuums. If the server refuses to gather
    /// statistics, the transaction goes on without them.
    func gatherStatistics(_ schema: SQLSchema, _ connection: PostgresConnection) throws {
        let grown = counts.filter { $0.value >= Self.rowMinimum }.sorted { $0.key < $1.key }.map { table, count in
            "(\(SQLText.literal(schema.relation(table))), \(count))"
        }
        guard !grown.isEmpty else { return }
        do {
            let tables = try connection.execute(
                """
                SAVEPOINT sync_statistics; SET LOCAL default_statistics_target TO \(Self.target); \
                SELECT g.name FROM (VALUES \(grown.joined(separator: ", "))) AS g(name, count) \
                JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(g.name::text) \
                WHERE c.reltuples < g.count / 10 AND c.relkind::text = 'r'::text AND NOT c.relhassubclass
                """
            ).texts(0)
            if !tables.isEmpty { try connection.execute("ANALYZE (SKIP_LOCKED) \(tables.joined(separator: ", "))") }
        } catch let error as PostgresError where !error.isConnectionFailure {
            try connection.execute("ROLLBACK TO SAVEPOINT sync_statistics")
        }
    }
}
#endif
