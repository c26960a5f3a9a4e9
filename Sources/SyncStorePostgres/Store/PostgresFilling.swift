#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// The tables that a transaction fills: those that were empty, and those of entities without an
/// identity.
///
/// New rows are copied directly into such a table, because nothing has to be found there and each
/// row is written once. If a later batch repeats an identity, the unique index rejects it, and
/// further batches are merged.
final class PostgresFilling {
    /// The maximum size of a table in bytes for which rows are searched.
    private static let searchedByteCount = Int64(1) << 30

    private let schema: SQLSchema
    /// The minimum number of rows for which to check whether a table is empty.
    private let rowMinimum: Int
    /// The existing tables, whose columns can have other types.
    private let existing: Set<String>
    private var filled: Set<String> = []
    /// The tables that are not checked again, because they are not empty or not suitable.
    private var others: Set<String> = []

    init(_ schema: SQLSchema, rowMinimum: Int, existing: Set<String>) {
        self.schema = schema
        self.rowMinimum = rowMinimum
        self.existing = existing
    }

    /// Whether the transaction fills a table.
    ///
    /// - Parameters:
    ///   - count: The number of rows to write.
    ///   - entity: The index of the entity whose rows they are.
    func fills(_ table: String, count: Int, of entity: Int, _ connection: PostgresConnection) throws -> Bool {
        if filled.contains(table) { return true }
        guard count >= rowMinimum, !existing.contains(table), !others.contains(table) else { return false }
        let name = schema.relation(table)
        var findsNothing = "TRUE"
        if schema.model.layouts[entity].hasIdentity {
            guard let index = schema.identityIndex(of: entity).map(schema.relation) else { return false }
            // In a large table that begins with deleted rows, the search for the first existing row
            // could take long.
            findsNothing = """
                CASE WHEN pg_catalog.pg_relation_size(c.oid::regclass) < \(Self.searchedByteCount) \
                THEN NOT EXISTS (SELECT 1 FROM ONLY \(name)) ELSE FALSE END \
                AND EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid \
                AND i.indexrelid = to_regclass(\(SQLText.literal(index))::text) AND i.indisunique AND i.indisvalid)
                """
        }
        // The lock keeps other sessions from creating triggers in the meantime. `COPY` ignores
        // rules and fails on tables with policies.
        let found = try connection.execute(
            """
            LOCK TABLE ONLY \(name) IN ROW EXCLUSIVE MODE; \
            SELECT \(findsNothing) AND c.relkind::text = 'r'::text \
            AND NOT c.relhasrules AND NOT c.relrowsecurity AND NOT c.relhassubclass \
            AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal) \
            FROM pg_catalog.pg_class c WHERE c.oid = to_regclass(\(SQLText.literal(name))::text)
            """)
        guard found.boolean(0, 0) == true else {
            others.insert(table)
            return false
        }
        filled.insert(table)
        return true
    }

    /// Makes all further batches of a table be merged.
    func stop(_ table: String) {
        filled.remove(table)
        others.insert(table)
    }

    /// Ends the transaction.
    func end() {
        filled.removeAll()
    }
}

extension PostgresMerge {
    /// Copies the rows of a round into the table, if the transaction fills it.
    ///
    /// - Returns: The numbers of the rows, in the order of the rows; nil if they must be merged.
    func fill(
        _ reader: RecordBatch.Reader, _ round: PostgresMergeRounds.Round, _ links: MergeRequest.InitialLinks?,
        _ positions: [Int64?]?, _ filling: PostgresFilling, _ connection: PostgresConnection,
        _ buffer: PostgresCopyBuffer
    ) throws -> [ObjectID]? {
        let table = schema.table(of: layout.index)
        guard !round.isByObject, !round.isLong, let copying = statements.copying(linked: links?.relationship),
            try filling.fills(table, count: round.rows.count, of: layout.index, connection)
        else { return nil }
        let numbers = try connection.query(statements.numbers, [.integer(Int64(round.rows.count))]).integers(0, 0)
        // The merge reports the error of a table that does not number its rows.
        guard numbers.count == round.rows.count else { return nil }
        do {
            try connection.copyIn("SAVEPOINT sync_fill; \(copying); RELEASE SAVEPOINT sync_fill") { writer in
                try buffer.send(to: writer) { endRow in
                    try batch.write(
                        reader, round.rows.sorted(),
                        PostgresBatch.Extras(
                            numbers: numbers, namesEntity: statements.namesEntity, targets: links?.targets,
                            positions: positions),
                        to: buffer, endRow: endRow)
                }
            }
            return numbers
        } catch let error as PostgresError where error.isConflict || error.isRefusalOfMerge {
            // The merge finds the existing rows, or reports which row is refused.
            try connection.execute("ROLLBACK TO SAVEPOINT sync_fill; RELEASE SAVEPOINT sync_fill")
            filling.stop(table)
            return nil
        }
    }
}
#endif
