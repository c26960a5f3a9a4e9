/// What a removal needs of a connection.
package protocol SQLRemovalConnection {
    associatedtype Row: SQLRow
    /// Runs statements without parameters, one after the other.
    func perform(_ text: String) throws
    /// Runs a statement that changes rows.
    ///
    /// - Returns: How many it changed.
    func change(_ statement: SQLStatementText) throws -> Int
    /// Reads what a statement without parameters gives, until the body says that it has enough by
    /// returning false.
    func forEachRow(of text: String, _ body: (Row) throws -> Bool) throws
}
