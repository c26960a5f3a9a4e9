/// A connection that can delete objects.
package protocol SQLRemovalConnection {
    associatedtype Row: SQLRow
    /// Runs statements without parameters, in order.
    func perform(_ text: String) throws
    /// Runs a statement that changes rows.
    ///
    /// - Returns: The number of changed rows.
    func change(_ statement: SQLStatementText) throws -> Int
    /// Reads the rows of a statement without parameters until the body returns false.
    func forEachRow(of text: String, _ body: (Row) throws -> Bool) throws
}
