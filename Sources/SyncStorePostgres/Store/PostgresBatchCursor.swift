#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

/// The rows of a statement in batches. It is declared together with the first batch and closed
/// together with the statement after the last, so that a single batch takes one message.
struct PostgresBatchCursor {
    private let name: String
    private let statement: SQLStatementText
    private var isOpen = false
    /// Whether all rows have been read.
    private(set) var isDone = false

    /// - Parameter number: A number that is unique among the open cursors of the connection.
    init(_ statement: SQLStatementText, number: Int) {
        name = "sync_cursor_\(number)"
        self.statement = statement
    }

    /// Returns the next rows; nil after the last.
    mutating func next(_ count: Int, connection: PostgresConnection) throws -> PostgresResult? {
        guard !isDone else { return nil }
        var statements = [PostgresStatement("FETCH FORWARD \(count) FROM \(name)", binaryResult: true)]
        if !isOpen {
            let declaration = SQLStatementText(
                "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.text)", statement.bindings)
            statements.insert(PostgresStatement(declaration), at: 0)
        }
        let result = try connection.run(statements)[statements.count - 1]
        isOpen = true
        if result.rowCount < count {
            isDone = true
            close(connection: connection)
        }
        return result
    }

    /// Does nothing if the cursor is closed.
    mutating func close(connection: PostgresConnection) {
        if isOpen { connection.executeLater(["CLOSE \(name)"]) }
        isOpen = false
    }
}
#endif
