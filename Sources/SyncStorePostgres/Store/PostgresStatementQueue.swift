#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStore
import SyncStoreSQL

/// Statements that change rows, and are sent in one message.
final class PostgresStatementQueue: SQLWritingConnection {
    private let connection: PostgresConnection
    private var statements: [(statement: SQLStatementText, read: (PostgresResult) throws -> Void)] = []

    init(on connection: PostgresConnection) {
        self.connection = connection
    }

    func change(_ statement: SQLStatementText) -> Int? {
        statements.append((statement, { _ in }))
        return nil
    }

    func changeAtOnce(_ statement: SQLStatementText) throws -> Int {
        var count = 0
        statements.append((statement, { count = $0.affectedCount }))
        try finish()
        return count
    }

    func forEachRow(of text: String, _ body: @escaping (PostgresRow) throws -> Bool) {
        let read = { (result: PostgresResult) in
            for row in 0..<result.rowCount where try !body(PostgresRow(result: result, row: row)) { return }
        }
        statements.append((SQLStatementText(text), read))
    }

    func finish() throws {
        guard !statements.isEmpty else { return }
        let sent = statements
        statements = []
        _ = try connection.run(sent.map { PostgresStatement($0.statement) }) { try sent[$0].read($1) }
    }
}
#endif
