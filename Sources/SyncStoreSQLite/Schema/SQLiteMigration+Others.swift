import SyncStoreSQL

/// The additions of other tools to a file: indices, triggers, views, columns, and tables with
/// references to the store's tables.
extension SQLiteMigration {
    /// An index, a trigger or a view that the store did not create.
    struct DependentObject {
        let type: String
        let name: String
        let table: String
        let creation: String

        /// The table or view whose statements use it; nil for an index.
        var subject: String? {
            switch type {
            case "view": name
            case "trigger": table
            default: nil
            }
        }
    }

    /// All of them, in an order in which they can be created: views before their triggers.
    func dependentObjects(besides indexNames: Set<String>) throws(SQLiteError) -> [DependentObject] {
        let statement = try connection.prepare(
            """
            SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL \
            ORDER BY type = 'trigger', type = 'index', rowid
            """)
        var objects: [DependentObject] = []
        while try statement.step() {
            let object = DependentObject(
                type: statement.text(at: 0), name: statement.text(at: 1), table: statement.text(at: 2),
                creation: statement.text(at: 3))
            if object.type != "index" || !indexNames.contains(object.name) { objects.append(object) }
        }
        return objects
    }

    /// Removes the views and triggers of other tools while a body changes tables. They name tables
    /// that are missing for a moment. Afterwards all of them work as before.
    ///
    /// - Throws: The body's error; `SQLSchemaError.unfitDependentObject` for an object that no
    ///   longer works.
    func settingAside(_ objects: [DependentObject], _ body: () throws -> Void) throws {
        var usable: [String: [Use]] = [:]
        for subject in Set(objects.compactMap(\.subject)) {
            usable[subject] = try Use.all.filter { try failure(of: $0, on: subject) == nil }
        }
        let expressionCounts = try objects.map { try expressionCount(of: $0) }
        for object in objects { try drop(object) }
        try body()
        for object in objects { try restore(object) }
        for (object, count) in zip(objects, expressionCounts) {
            // SQLite reads the name of a missing column, in double quotes, as a text.
            guard let present = try expressionCount(of: object), present != count else { continue }
            throw SQLSchemaError.unfitDependentObject(
                name: object.name, reason: "a column that it names no longer exists")
        }
        for object in objects {
            guard let subject = object.subject, try exists(subject) else { continue }
            for use in usable[subject] ?? [] {
                guard let failure = try failure(of: use, on: subject) else { continue }
                throw SQLSchemaError.unfitDependentObject(name: object.name, reason: failure)
            }
        }
    }

    /// Drops a view or a trigger; an index is dropped with its table.
    func drop(_ object: DependentObject) throws(SQLiteError) {
        guard object.type != "index" else { return }
        try connection.execute("DROP \(object.type) IF EXISTS main.\(SQLText.name(object.name))")
    }

    /// Creates an object again, unless it still exists or its table was dropped on purpose.
    private func restore(_ object: DependentObject) throws {
        let count = "SELECT count(*) FROM sqlite_master WHERE name = ? COLLATE NOCASE"
        guard try connection.integer(count, [.text(object.name)]) == 0 else { return }
        if object.type != "view" {
            guard try connection.integer(count, [.text(object.table)]) == 1 else { return }
        }
        do { try connection.execute(object.creation) } catch {
            throw SQLSchemaError.unfitDependentObject(name: object.name, reason: error.message)
        }
    }

    // MARK: Use of other tools' objects

    /// The number of an index's terms that are not columns. Nil if it does not exist or is not an
    /// index.
    private func expressionCount(of object: DependentObject) throws(SQLiteError) -> Int64? {
        guard object.type == "index" else { return nil }
        return try connection.integer(
            """
            SELECT s FROM (SELECT sum(cid = -2) AS s FROM pragma_index_xinfo(?)) WHERE s IS NOT NULL
            """, [.text(object.name)])
    }

    /// An operation on a table or a view.
    private struct Use {
        enum Kind: CaseIterable { case selection, insertion, update, deletion }

        let kind: Kind
        /// Whether unknown names are read as texts.
        let isLenient: Bool

        static let all = Kind.allCases.flatMap { [Use(kind: $0, isLenient: true), Use(kind: $0, isLenient: false)] }
    }

    /// Why a statement and the triggers that it runs cannot be compiled; nil if they can.
    private func failure(of use: Use, on table: String) throws -> String? {
        let name = SQLText.name(table)
        connection.takesUnknownNamesForTexts(use.isLenient)
        defer { connection.takesUnknownNamesForTexts(true) }
        do {
            let statement =
                switch use.kind {
                case .selection: "SELECT * FROM \(name)"
                case .insertion: "INSERT INTO \(name) DEFAULT VALUES"
                case .update: "UPDATE \(name) SET \(try assignments(to: table))"
                case .deletion: "DELETE FROM \(name)"
                }
            // Compiled but never run.
            _ = try connection.prepare(statement)
            return nil
        } catch {
            guard error.primaryCode == SQLiteError.Code.error else { throw error }
            return error.message
        }
    }

    /// Assignments of all columns to themselves, which run the triggers of each column.
    private func assignments(to table: String) throws(SQLiteError) -> String {
        let columns = try connection.texts("SELECT name FROM pragma_table_info(?)", [.text(table)])
        return columns.map(SQLText.name).map { "\($0) = \($0)" }.joined(separator: ", ")
    }

    /// The views that cannot be read, and their triggers.
    func brokenViews(besides indexNames: Set<String>) throws -> [DependentObject] {
        let objects = try dependentObjects(besides: indexNames)
        let broken = Set(
            objects.filter { object in
                object.type == "view"
                    && (try? connection.prepare("SELECT * FROM \(SQLText.name(object.name))")) == nil
            }.map(\.name))
        return objects.filter { $0.subject.map(broken.contains) ?? false }
    }

    // MARK: Virtual tables

    /// Changes tables, and verifies that virtual tables of other tools that could be read before,
    /// such as full-text indices of the store's tables, can still be read.
    ///
    /// - Throws: The body's error; `SQLSchemaError.unfitDependentObject`.
    func keepingVirtualTables<Result>(_ body: () throws -> Result) throws -> Result {
        let names = try connection.texts(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'")
        let readable = try names.filter { try unreadable($0) == nil }
        let result = try body()
        for name in readable {
            guard let reason = try unreadable(name) else { continue }
            throw SQLSchemaError.unfitDependentObject(name: name, reason: reason)
        }
        return result
    }

    /// Why a virtual table cannot be read; nil if it can. Only its module knows which tables it
    /// needs.
    private func unreadable(_ table: String) throws(SQLiteError) -> String? {
        do throws(SQLiteError) {
            _ = try connection.prepare("SELECT * FROM \(SQLText.name(table)) LIMIT 1").step()
            return nil
        } catch {
            guard error.primaryCode == SQLiteError.Code.error else { throw error }
            return error.message
        }
    }

    // MARK: Renamed tables

    /// Renames tables, and all references to them.
    ///
    /// - Throws: `SQLSchemaError.unfitDependentObject` if an object of another tool prevents it.
    func rename(_ moves: [SQLMigration.Move]) throws {
        // Otherwise, views, triggers and foreign keys of other tools would keep the former names.
        try connection.execute("PRAGMA legacy_alter_table = OFF")
        let temporaries = moves.indices.map { "_sync_old_\($0)" }
        do {
            // A table may get the name of another one.
            for (move, temporary) in zip(moves, temporaries) { try rename(move.from, to: temporary) }
            for (move, temporary) in zip(moves, temporaries) where move.to != temporary {
                try rename(temporary, to: move.to)
            }
        } catch {
            guard error.primaryCode == SQLiteError.Code.error else { throw error }
            throw SQLSchemaError.unfitDependentObject(
                name: moves.map(\.to).joined(separator: ", "), reason: "renaming tables failed: \(error.message)")
        }
    }

    private func rename(_ table: String, to name: String) throws(SQLiteError) {
        try connection.execute("ALTER TABLE \(SQLText.name(table)) RENAME TO \(SQLText.name(name))")
    }

    // MARK: Names

    /// Whether the database has the store's record of its tables.
    ///
    /// - Throws: `SQLSchemaError.unfitDependentObject` if another tool's table has its name.
    func isRecorded() throws -> Bool {
        guard try exists(Self.record) else { return false }
        let found = Set(try connection.texts("SELECT name FROM pragma_table_info('\(Self.record)')"))
        guard found.isSuperset(of: ["format", "model_version", "description", "note"]) else {
            throw SQLSchemaError.unfitDependentObject(
                name: Self.record, reason: "the store needs a table of this name for itself; rename it")
        }
        return true
    }

    /// Rejects tables and views of other tools whose names the store needs.
    func checkNames(besides stored: SQLSchemaDescription?) throws {
        var own = Set((stored?.tables ?? []).map { $0.name.lowercased() })
        own.formUnion(SQLSchemaRecord.bookkeepingTables)
        for name in try connection.texts("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        where schema.dialect.isReserved(table: name) && !own.contains(name.lowercased()) {
            throw SQLSchemaError.unfitDependentObject(
                name: name, reason: "the store needs this name for itself; rename it")
        }
    }

    /// Rejects objects with the name of an index that the store is about to create.
    func checkIndexNames(_ tables: [SQLSchema.Table], _ stored: SQLSchemaDescription?) throws {
        var own = Set((stored?.indexNames ?? []).map { $0.lowercased() })
        own.formUnion((stored?.tables ?? []).map { $0.name.lowercased() })
        for table in tables {
            for index in table.indices where !own.contains(index.name.lowercased()) {
                let isTaken = try connection.integer(
                    "SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", [.text(index.name)])
                guard isTaken != nil else { continue }
                throw SQLSchemaError.unfitDependentObject(
                    name: index.name, reason: "the store needs an index of this name on \(table.name); rename it")
            }
        }
    }

    // MARK: Foreign keys of other tools

    /// Verifies that no foreign key of another table refers to tables that are to be removed.
    ///
    /// - Parameters:
    ///   - tables: The tables to remove.
    ///   - own: All tables of the store.
    ///   - reason: What happens to the tables, for the error.
    func refuseForeignKeys(to tables: [String], besides own: [String], reason: String) throws {
        let own = Set(own.map { $0.lowercased() })
        let statement = try connection.prepare(
            """
            SELECT m.name FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f \
            WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE
            """)
        for table in tables {
            statement.bind([.text(table)])
            while try statement.step() {
                let other = statement.text(at: 0)
                guard !own.contains(other.lowercased()) else { continue }
                throw SQLSchemaError.unfitDependentObject(
                    name: other, reason: "its foreign key refers to \(table), \(reason); drop it before")
            }
        }
    }

    // MARK: Columns of other tools

    /// The columns that other tools added to a table of the store.
    ///
    /// - Parameters:
    ///   - table: The recorded table.
    ///   - name: Its current name.
    func additions(to table: SQLSchema.Table, named name: String) throws -> [SQLMigration.Found.Column] {
        let known = Set(table.columns.map(schema.dialect.folded))
        let creation = try connection.prepare(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE", [.text(name)])
        guard try creation.step() else { return [] }
        let declarations = SQLiteDeclarations(creation.text(at: 0))
        creation.reset()
        var additions: [SQLMigration.Found.Column] = []
        let info = try connection.prepare("SELECT name, hidden FROM pragma_table_xinfo(?)", [.text(name)])
        while try info.step() {
            let column = info.text(at: 0)
            guard !known.contains(schema.dialect.folded(column)) else { continue }
            additions.append(
                .init(name: column, declaration: declarations[column] ?? "", isGenerated: info.integer(at: 1) != 0))
        }
        return additions
    }
}
