/// A connection that changes rows.
///
/// Its statements may wait for each other, so that they are sent together.
package protocol SQLWritingConnection {
    associatedtype Row: SQLRow
    /// Runs a statement that changes rows.
    ///
    /// - Returns: The number of changed rows; nil if the statement waits.
    func change(_ statement: SQLStatementText) throws -> Int?
    /// Runs a statement that changes rows, after those that wait.
    ///
    /// - Returns: The number of changed rows.
    func changeAtOnce(_ statement: SQLStatementText) throws -> Int
    /// Reads the rows of a statement without parameters until the body returns false, at the latest
    /// in ``finish()``.
    func forEachRow(of text: String, _ body: @escaping (Row) throws -> Bool) throws
    /// Runs the statements that wait.
    ///
    /// - Throws: The first error of a statement or a body.
    func finish() throws
}
