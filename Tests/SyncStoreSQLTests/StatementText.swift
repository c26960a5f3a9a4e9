import SyncStorePostgres

/// Texts of statements without the schema of PostgreSQL's tables, which `SchemaNameTests` covers.
extension String {
    var withoutSchema: String {
        replacing("SET LOCAL search_path TO \"public\", pg_temp; ", with: "")
            .replacing("; SET LOCAL search_path TO \(PostgresDialect.searchPath)", with: "")
            .replacing("\"public\".", with: "")
    }
}

extension [String] {
    var withoutSchema: [String] { map(\.withoutSchema) }
}
