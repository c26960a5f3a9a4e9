/// Rows or links that a change was to write or to delete, and did not.
package struct SQLKeptRows: Error, Hashable {
    /// The table that has them.
    package let table: String
    /// What they are, and from what they were kept.
    private let kept: String

    /// - Parameters:
    ///   - kept: What was kept, and from what, such as "1 of 2 rows from being written".
    ///   - table: The table of the rows.
    package init(_ kept: String, in table: String) {
        self.kept = kept
        self.table = table
    }

    /// The error that names the cause.
    ///
    /// - Parameter guards: What others have added to the table that can have kept the rows, such as
    ///   "the trigger audit".
    package func error(by guards: [String]) -> SQLSchemaError {
        .unsuitableTable(table: table, reason: "\(Self.cause(guards)) kept \(kept)")
    }

    /// What others have added to a table, as the subject of a sentence.
    package static func cause(_ guards: [String]) -> String {
        guards.isEmpty ? "something other than a trigger" : guards.joined(separator: " or ")
    }
}

extension SQLSchemaError {
    /// The error of written rows whose identities something has changed.
    ///
    /// - Parameters:
    ///   - columns: The changed columns.
    ///   - rows: How many rows were changed, such as "1 of 2 rows".
    ///   - guards: What others have added to the table, as in ``SQLKeptRows/error(by:)``.
    package static func changedIdentity(
        _ columns: [String], of rows: String, in table: String, by guards: [String]
    ) -> SQLSchemaError {
        .unsuitableTable(
            table: table,
            reason: "\(SQLKeptRows.cause(guards)) gave \(rows) another value of \(columns.joined(separator: ", ")), "
                + "which identifies the object")
    }
}
