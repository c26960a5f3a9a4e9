#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

extension PostgresParameter {
    /// Creates a parameter from a database-independent value.
    init(_ binding: SQLBinding) {
        switch binding {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .text(number.description)
        case .text(let text): self = .text(text)
        case .blob(let data): self = .bytes(data)
        case .typed(let text, _): self = .text(text)
        case .objects(let objects): self = .integers(objects)
        case .blobs(let blobs): self = .blobs(blobs)
        }
    }
}

extension PostgresStatement {
    init(_ statement: SQLStatementText) {
        self.init(statement.text, statement.bindings.map(PostgresParameter.init), binaryResult: true)
    }
}
#endif
