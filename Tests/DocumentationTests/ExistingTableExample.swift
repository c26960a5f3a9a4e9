import OneWaySyncSQLite

/// The guide about existing tables, compiled.
private func useTable(_ path: String) async throws -> SQLiteStore {
    var options = SQLiteStore.Options()
    options.naming = SQLNaming(tables: ["User": "users"], rowColumn: "rowid")
    options.suppliedValues = [
        "users": [
            "created_at": .syncDate,
            "updated_at": .expression("strftime('%Y-%m-%d %H:%M:%f', 'now')"),
            "kind": .constant("api"),
        ]
    ]
    return try await SQLiteStore(User.self, at: .file(path), options: options)
}
