import Foundation
import SyncModel
package import SyncStoreSQL

extension SQLiteStore {
    /// Reads the text that was stored by ``Options/note`` when a store was last opened.
    ///
    /// - Parameter path: The path of the database file, which need not exist.
    /// - Throws: `SQLiteError`.
    package static func note(at path: String) async throws -> SQLStoreNote {
        guard FileManager.default.fileExists(atPath: path) else { return SQLStoreNote(isStore: false, text: nil) }
        let settings = SQLiteSettings(path: path, isReadOnly: true, Options())
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .sqlite)
        return try await SQLiteWorker(settings, schema: nothing, label: "SQLiteStore note").note()
    }
}

extension SQLiteWorker {
    fileprivate func note() throws -> SQLStoreNote {
        try SQLiteMigration(try opened(), schema: schema, settings: settings).note()
    }
}

extension SQLiteMigration {
    /// The stored text.
    func note() throws -> SQLStoreNote {
        guard try isRecorded() else { return SQLStoreNote(isStore: false, text: nil) }
        let statement = try connection.prepare("SELECT note, model_version FROM \(Self.record)")
        guard try statement.step() else { return SQLStoreNote(isStore: true, text: nil) }
        return SQLStoreNote(
            isStore: true, text: statement.isNull(at: 0) ? nil : statement.text(at: 0),
            modelVersion: Int(statement.integer(at: 1)))
    }

    /// Whether the settings have a text that differs from the stored one.
    func lacksNote() throws -> Bool {
        guard let note = settings.options.note, !settings.isReadOnly else { return false }
        return try self.note().text != note
    }

    /// Stores the text of the settings if it differs from the stored one.
    func writeNote() throws {
        guard try lacksNote(), let note = settings.options.note else { return }
        try connection.prepare("UPDATE \(Self.record) SET note = ?").run([.text(note)])
    }
}
