import Foundation

/// The place of a database file, with the reasons why a database cannot be opened or changed there.
struct SQLitePlace {
    let path: String
    let isReadOnly: Bool

    /// Opens a connection, or runs another step that accesses the file.
    ///
    /// - Throws: `SQLiteError`, with a reason from the file system if SQLite gives none.
    func open<Result>(_ connect: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try check()
        do { return try connect() } catch { throw explained(error) }
    }

    /// An error with a reason from the file system, if there is one.
    func explained(_ error: SQLiteError) -> SQLiteError {
        guard let reason = reason(for: error) else { return error }
        return SQLiteError(code: error.code, message: "\(reason) (\(error.message))", statement: error.statement)
    }

    /// Rejects places where SQLite would not store the data in a file, or would wait forever.
    func check() throws(SQLiteError) {
        guard let reason = refusal else { return }
        throw SQLiteError(code: SQLiteError.Code.cannotOpen, message: reason)
    }

    private var refusal: String? {
        if path.isEmpty || path.hasSuffix(":memory:") {
            return "every connection would have a database of its own; use SQLiteStore.Location.memory"
        }
        if path.hasPrefix("file:") { return "\(path) is a URI; a store needs the path of a file" }
        if path.contains("\0") { return "the path contains a null character" }
        if path.hasSuffix("/") { return "\(path) is a folder" }
        let target = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        switch (try? FileManager.default.attributesOfItem(atPath: target))?[.type] as? FileAttributeType {
        case nil, .typeRegular, .typeSymbolicLink: return nil
        case .typeDirectory: return "\(path) is a folder"
        default: return "\(path) is not an ordinary file"
        }
    }

    /// The reason why the file cannot be opened, if the file system shows it.
    private func reason(for error: SQLiteError) -> String? {
        guard [SQLiteError.Code.cannotOpen, SQLiteError.Code.readOnly].contains(error.primaryCode) else { return nil }
        if error.code == SQLiteError.Code.readOnlyRollback {
            return "\(path) has the journal of an interrupted transaction, and cannot be written to undo it"
        }
        let files = FileManager.default
        // Unlike a URL, SQLite does not expand a tilde.
        let name = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        let folder = name.isEmpty ? "/" : String(name)
        if files.fileExists(atPath: path) {
            if !files.isReadableFile(atPath: path) { return "\(path) cannot be read" }
            if !isReadOnly, !files.isWritableFile(atPath: path) {
                return "\(path) cannot be written; use SQLiteStore.Location.readOnlyFile"
            }
        } else if !files.fileExists(atPath: folder) {
            return "there is no folder \(folder)"
        } else if isReadOnly {
            return "there is no file \(path)"
        }
        return files.isWritableFile(atPath: folder) ? nil : "the folder \(folder) cannot be written"
    }
}
