#if Postgres
import OneWayPostgresClient
import SyncModel
package import SyncStoreSQL

extension PostgresStore {
    /// Reads the text that was stored by ``Options/note`` when a store was last opened.
    ///
    /// - Throws: `PostgresError`.
    package static func note(at connectionString: String, schema: String = "public") async throws -> SQLStoreNote {
        var options = Options()
        options.schema = schema
        options.isReadOnly = true
        let settings = PostgresSettings(connectionString, options)
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .postgres(schema: schema))
        return try await PostgresWorker(settings, schema: nothing, label: "PostgresStore note").note()
    }
}

extension PostgresWorker {
    func note() async throws -> SQLStoreNote {
        try await connected { connection in
            let table = schema.relation(SQLSchemaRecord.table)
            do {
                let found = try connection.query("SELECT note, model_version FROM \(table)")
                guard found.rowCount > 0 else { return SQLStoreNote(isStore: true, text: nil) }
                return SQLStoreNote(
                    isStore: true, text: found.text(0, 0), modelVersion: Int(found.integer(0, 1) ?? 0))
            } catch let error as PostgresError where error.code == .undefinedTable {
                return SQLStoreNote(isStore: false, text: nil)
            }
        }
    }
}

extension PostgresMigration {
    var noteStatement: SQLStatementText { SQLStatementText("SELECT note FROM \(record)") }

    /// Whether the settings have a text that differs from the stored one.
    func lacksNote() throws -> Bool {
        guard let note = settings.options.note, !settings.options.isReadOnly else { return false }
        let found = try answer(noteStatement)
        return found.rowCount == 0 || found.text(0, 0) != note
    }

    /// Stores the text of the settings.
    func writeNote() throws {
        guard let note = settings.options.note else { return }
        _ = try connection.query("UPDATE \(record) SET note = $1::text", [.text(note)])
    }
}
#endif
