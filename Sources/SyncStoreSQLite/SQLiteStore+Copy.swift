import SyncModel
import SyncStoreSQL

extension SQLiteStore {
    /// Copies a store's database as of one moment, even while it is changed.
    ///
    /// - Parameters:
    ///   - path: The file of the database.
    ///   - copy: The file of the copy, which must not exist.
    /// - Throws: `SQLiteError`.
    package static func copy(_ path: String, to copy: String) async throws {
        let settings = SQLiteSettings(path: path, isReadOnly: true, Options())
        let nothing = SQLSchema(try DataModel { [SyncEntity]() }, dialect: .sqlite)
        try await SQLiteWorker(settings, schema: nothing, label: "SQLiteStore copy").copy(to: copy)
    }
}

extension SQLiteWorker {
    /// `VACUUM INTO` is one read transaction: https://www.sqlite.org/lang_vacuum.html, section 4.
    fileprivate func copy(to path: String) throws {
        try opened().prepare("VACUUM INTO ?").run([.text(path)])
    }
}
