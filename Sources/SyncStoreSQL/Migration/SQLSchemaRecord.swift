import SyncModel

/// A database's record of its tables, in a table with one row.
package struct SQLSchemaRecord: Equatable, Sendable {
    /// The name of the table.
    package static let table = "_sync_schema"
    /// The version of the record's format. A later version of this package may write a higher one.
    package static let format = 1
    /// The columns that a store reads and writes. The column `note` has the text of a program, see
    /// ``SQLStoreNote``.
    package static let columns = "format, model_version, description"
    /// The names of the tables of bookkeeping that have the same name in every database.
    package static let bookkeepingTables = [table] + SyncEntity.bookkeeping.compactMap(\.bookkeepingTable)

    package let description: SQLSchemaDescription
    package let modelVersion: Int

    /// Creates the record that a store requires.
    package init(_ description: SQLSchemaDescription, modelVersion: Int) {
        self.description = description
        self.modelVersion = modelVersion
    }

    /// Reads the record of a database.
    ///
    /// - Parameters:
    ///   - text: The description.
    ///   - wanted: The record that the store requires.
    /// - Throws: `SQLSchemaError.newer` if a later version of this package or of the model wrote
    ///   the record; `SQLSchemaError.unreadable`.
    package init(
        format: Int64, modelVersion: Int64, text: String, wanted: SQLSchemaRecord
    ) throws(SQLSchemaError) {
        guard format <= Self.format else { throw .newer(found: Int(format), known: Self.format) }
        guard modelVersion <= wanted.modelVersion else {
            throw .newer(found: Int(modelVersion), known: wanted.modelVersion)
        }
        self.init(try SQLSchemaDescription(text: text), modelVersion: Int(modelVersion))
    }

    /// Whether the tables have everything that a store requires.
    ///
    /// Anything else in them may belong to a newer version of the model. It stays until a higher
    /// `modelVersion` removes it.
    package func suffices(for wanted: SQLSchemaRecord) -> Bool {
        self == wanted || modelVersion == wanted.modelVersion && description.contains(wanted.description)
    }

    /// The record with the tables of a migration.
    package func with(_ description: SQLSchemaDescription) -> SQLSchemaRecord {
        var description = description
        description.existing = self.description.existing
        return SQLSchemaRecord(description, modelVersion: modelVersion)
    }

    /// The values of ``columns``.
    package func bindings() throws -> [SQLBinding] {
        [.integer(Int64(Self.format)), .integer(Int64(modelVersion)), .text(try description.text)]
    }
}
