#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

/// The answers to statements that were sent together before they were needed.
///
/// Opening a store asks the catalog many small questions, each of which would take a message to the
/// server and an answer.
final class PostgresKnownAnswers {
    private var answers: [SQLStatementText: PostgresResult] = [:]

    /// Sends statements in one message, and keeps their answers.
    ///
    /// If one of them fails, none is kept: whoever needs it runs it again, and reports its error.
    func ask(_ statements: [SQLStatementText], _ connection: PostgresConnection) throws {
        let beginning = ContinuousClock.now
        let time = PostgresStatement("SELECT \(PostgresConnection.workTime)", binaryResult: true)
        do {
            let results = try connection.run(statements.map(PostgresStatement.init) + [time])
            connection.noteAnswer(since: beginning, work: results[statements.count])
            answers = Dictionary(zip(statements, results)) { first, _ in first }
        } catch let error as PostgresError where !error.isConnectionFailure {
            forget()
        }
    }

    /// The answer to a statement, which is sent if it is not known. An answer is used only once.
    func take(_ statement: SQLStatementText, _ connection: PostgresConnection) throws -> PostgresResult {
        try answers.removeValue(forKey: statement) ?? connection.run(statement)
    }

    /// Forgets all answers, before something changes.
    func forget() {
        answers = [:]
    }
}
#endif
