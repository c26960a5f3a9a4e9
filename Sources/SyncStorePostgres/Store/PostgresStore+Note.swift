#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStoreSQL

extension PostgresStore {
    /// A text that a program stored beside the tables of a schema.
    package struct Note: Hashable, Sendable {
        /// Whether the schema has a store at all.
        package let isStore: Bool
        /// The text; nil if none was stored.
        package let text: String?
    }

    /// Reads the text that ``write(note:)`` stored.
    ///
    /// - Throws: `PostgresError`.
    package static func note(at connectionString: String, schema: String = "public") async throws -> Note {
        let settings = PostgresSettings(
            address: PostgresAddress(connectionString), schemaName: schema, isReadOnly: true, lockTimeout: nil,
            modelVersion: 0, silenceLimit: .seconds(10), isBehindSessionPooler: false)
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .postgres)
        return try await PostgresWorker(settings, schema: nothing, label: "PostgresStore note").note()
    }

    /// Stores a text beside the tables, replacing an earlier one.
    ///
    /// - Throws: `PostgresError`.
    package func write(note: String) async throws {
        try await transaction { [writer] _ in try await writer.write(note: note) }
    }
}

extension PostgresWorker {
    func note() async throws -> PostgresStore.Note {
        try await connected { connection in
            let table = SQLSchemaRecord.table
            let isStore = try connection.query("SELECT to_regclass($1::text) IS NOT NULL", [.text(table)]).boolean(0, 0)
            guard isStore == true else { return PostgresStore.Note(isStore: false, text: nil) }
            let found = try connection.query("SELECT note FROM \(table)")
            return PostgresStore.Note(isStore: true, text: found.rowCount > 0 ? found.text(0, 0) : nil)
        }
    }

    func write(note: String) async throws {
        _ = try await connected {
            try $0.query("UPDATE \(SQLSchemaRecord.table) SET note = $1::text", [.text(note)]).rowCount
        }
    }
}
#endif
