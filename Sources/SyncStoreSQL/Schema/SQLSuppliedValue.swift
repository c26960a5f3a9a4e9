public import SyncModel

/// A value for a column that the model does not have, supplied when a row is inserted.
///
/// Existing tables often have columns that are `NOT NULL` without a default and for which JSON has
/// no value:
///
///     options.suppliedValues = ["users": ["created_at": .syncDate, "source": .constant("api")]]
///
/// An update leaves the column alone.
public enum SQLSuppliedValue: Hashable, Sendable {
    /// The same value in every row.
    case constant(AttributeValue)
    /// The date at which the transaction began, which is the same for all rows of a sync. It is
    /// written as the store writes the dates of attributes.
    case syncDate
    /// An SQL expression that the database evaluates for each row, such as `gen_random_uuid()`.
    ///
    /// It is part of the store's statements, so it must not come from elsewhere. In PostgreSQL,
    /// functions that are not the system's need the name of their schema.
    case expression(String)
}

extension SQLSchema {
    /// The columns of a table for which a value is supplied, each with an expression for it.
    package func suppliedTerms(of table: String) -> [(column: String, expression: String)] {
        (suppliedValues[table] ?? [:]).sorted { $0.key < $1.key }.compactMap { column, value in
            expression(of: value).map { (column, $0) }
        }
    }

    private func expression(of value: SQLSuppliedValue) -> String? {
        switch value {
        case .constant(let value): dialect.defaultLiteral(binding(value))
        case .syncDate: dialect.transactionDate
        case .expression(let text): "(\(text))"
        }
    }

    /// Verifies that values are supplied only for columns without another value.
    ///
    /// - Throws: `SQLSchemaError.missingColumn` for a table that the store does not have;
    ///   `unsuitableTable`.
    package func checkSuppliedValues() throws(SQLSchemaError) {
        for (table, values) in suppliedValues.sorted(by: { $0.key < $1.key }) {
            guard let columns = tables.first(where: { $0.name == table })?.columns else {
                throw .missingColumn(table: table, column: values.keys.min() ?? "")
            }
            let filled = Set(columns.map(dialect.folded))
            for (column, value) in values.sorted(by: { $0.key < $1.key }) {
                guard !filled.contains(dialect.folded(column)) else {
                    throw .unsuitableTable(
                        table: table, reason: "\(column) has values of the model, so none can be supplied for it")
                }
                guard expression(of: value) != nil else {
                    throw .unsuitableTable(
                        table: table, reason: "the value supplied for \(column) cannot be a constant of a statement")
                }
            }
        }
    }
}
