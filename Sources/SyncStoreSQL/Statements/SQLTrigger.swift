/// A trigger that another tool has created on a table of the model.
package struct SQLTrigger: Hashable, Sendable {
    let name: String
    let table: String

    package init(_ name: String, on table: String) {
        self.name = name
        self.table = table
    }

    /// The error of a change that deleted more objects than it reports.
    ///
    /// - Parameters:
    ///   - count: How many more.
    ///   - table: The table of the changed objects; nil if it is unknown.
    ///   - triggers: The triggers that can have deleted them.
    package static func error(
        furtherDeletedCount count: Int, changing table: String? = nil, triggers: [SQLTrigger]
    ) -> SQLSchemaError {
        let names = triggers.map { "\($0.name) of \($0.table)" }.joined(separator: ", ")
        return .unsuitableTable(
            table: table ?? triggers.first?.table ?? "",
            reason: "a trigger\(names.isEmpty ? "" : " (\(names))") or an external foreign key deleted further rows of "
                + "the model's tables: \(count)")
    }
}
