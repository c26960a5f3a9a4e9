/// The record of a database about its tables, in a table of one row.
package struct SQLSchemaRecord: Equatable, Sendable {
    /// The name of that table.
    package static let table = "_sync_schema"
    /// The version of the record's format; a later version of this package writes a higher one.
    package static let format = 1
    /// The columns that both databases have.
    package static let columns = "format, model_version, description"

    package let description: SQLSchemaDescription
    package let modelVersion: Int

    /// Creates the record that a store wants.
    package init(_ description: SQLSchemaDescription, modelVersion: Int) {
        self.description = description
        self.modelVersion = modelVersion
    }

    /// Creates the record that a database has.
    ///
    /// - Parameters:
    ///   - text: The description.
    ///   - wanted: The record that the store wants.
    /// - Throws: `SQLSchemaError.newer` if a later version of this package or of the model wrote
    ///   it; `SQLSchemaError.unreadable`.
    package init(
        format: Int64, modelVersion: Int64, text: String, wanted: SQLSchemaRecord
    ) throws(SQLSchemaError) {
        guard format <= Self.format else { throw .newer(found: Int(format), known: Self.format) }
        guard modelVersion <= wanted.modelVersion else {
            throw .newer(found: Int(modelVersion), known: wanted.modelVersion)
        }
        self.init(try SQLSchemaDescription(text: text), modelVersion: Int(modelVersion))
    }

    /// The record with the tables of a migration.
    package func with(_ description: SQLSchemaDescription) -> SQLSchemaRecord {
        var description = description
        description.adopted = self.description.adopted
        return SQLSchemaRecord(description, modelVersion: modelVersion)
    }

    /// The values of ``columns``.
    package func bindings() throws -> [SQLBinding] {
        [.integer(Int64(Self.format)), .integer(Int64(modelVersion)), .text(try description.text)]
    }
}
