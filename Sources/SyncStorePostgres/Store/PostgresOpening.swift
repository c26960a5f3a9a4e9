#if Postgres
import OneWayPostgresClient

/// The beginning of a transaction that is sent together with its first merge.
struct PostgresOpening {
    /// The statements, two of which select something.
    let text: String
    /// Takes the result of the second selection, and throws if the transaction must not go on.
    let note: (PostgresResult) throws -> Void

    init(_ text: String, note: @escaping (PostgresResult) throws -> Void) {
        (self.text, self.note) = (text, note)
    }

    /// Takes the results of the beginning off the answers to a message.
    ///
    /// - Returns: Whether the transaction has begun.
    func take(_ answers: inout [PostgresResult]) throws -> Bool {
        guard answers.count > 1 else { return false }
        try note(answers[1])
        answers.removeFirst(2)
        return true
    }
}
#endif
