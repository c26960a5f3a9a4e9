#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

extension PostgresError {
    /// Whether a row, or a policy or a privilege of its table, can be the cause of a failed
    /// statement.
    var isRefusalOfRow: Bool { isRefusal || code == .insufficientPrivilege }

    /// Whether a row or the set-up of its table can be the cause of a failed merge: its rules, its
    /// policies and its privileges.
    var isRefusalOfMerge: Bool { isRefusalOfRow || code == .featureNotSupported }
}

extension PostgresConnection {
    /// Fails if the set-up of a table, and no row of it, is the cause of an error.
    ///
    /// - Throws: `SQLSchemaError.unsuitableTable`, which names the rules of the table or the
    ///   privileges that the role lacks; the error if neither is known to be the cause.
    func check(_ error: PostgresError, of table: String, _ schema: SQLSchema) throws {
        switch error.code {
        case .featureNotSupported:
            let rules = try guards(of: table, schema).filter { $0.hasPrefix("the rule ") }
            guard !rules.isEmpty else { throw error }
            throw SQLSchemaError.unsuitableTable(
                table: table,
                reason: "PostgreSQL cannot apply \(rules.joined(separator: " and ")) to the store's statements; use a "
                    + "trigger instead")
        case .insufficientPrivilege:
            let relation = SQLText.literal(schema.relation(table))
            let found = try execute(
                """
                SELECT p.name, CURRENT_USER::text, c.relrowsecurity FROM pg_catalog.pg_class c \
                LEFT JOIN (VALUES ('SELECT'::text), ('INSERT'::text), ('UPDATE'::text)) p (name) \
                ON NOT pg_catalog.has_any_column_privilege(c.oid, p.name) \
                WHERE c.oid = to_regclass(\(relation)::text)::oid ORDER BY 1
                """)
            let missing = found.texts(0)
            guard missing.isEmpty else {
                throw SQLSchemaError.unsuitableTable(
                    table: table,
                    reason:
                        "the role \(found.text(0, 1) ?? "") needs the privilege \(missing.joined(separator: " and ")) "
                        + "on it")
            }
            guard found.rowCount > 0, found.boolean(0, 2) == true else { throw error }
        default: break
        }
    }
}
#endif
