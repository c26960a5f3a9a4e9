#if Postgres
/// Statements that are sent in one message with the next one.
struct PostgresLaterStatements {
    typealias Reading = (PostgresResult) throws -> Void

    private(set) var texts: [String] = []
    /// What takes the result of each statement; nil for one without rows.
    private(set) var readings: [Reading?] = []
    /// The first error of a reading.
    private(set) var failure: (any Error)?
    /// The readings whose results have not come.
    private var rest: ArraySlice<Reading> = []

    mutating func append(_ text: String, reading: Reading? = nil) {
        texts.append(text)
        readings.append(reading)
        if let reading { rest.append(reading) }
    }

    mutating func removeAll() {
        self = PostgresLaterStatements()
    }

    /// The texts before that of the next statement.
    func text(before next: String) -> String {
        (texts + [next]).joined(separator: "; ")
    }

    /// Takes a result with rows, if it is of one of these statements.
    ///
    /// - Returns: Whether it is.
    mutating func take(_ result: PostgresResult) -> Bool {
        guard let read = rest.popFirst() else { return false }
        do { try read(result) } catch { failure = failure ?? error }
        return true
    }
}
#endif
