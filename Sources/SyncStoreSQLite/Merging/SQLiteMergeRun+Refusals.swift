import Foundation
import SyncModel
import SyncStore
import SyncStoreSQL

// Rows that an index or a constraint refuses. A merge gets here only after a statement has failed.
extension SQLiteMergeRun {
    /// Inserts the rows that a failed statement has not inserted.
    ///
    /// A row that a unique index refuses is inserted without these values, which wait.
    mutating func insertRest(of rows: [Int], after error: SQLiteError) throws {
        var rest = rows[...]
        var error = error
        var isSingle = rest.count == 1
        while true {
            // The rows before the refused one, or none if SQLite has undone the statement.
            rest = rest.dropFirst(connection.changeCount)
            guard connection.isInTransaction, let row = rest.first else { throw error }
            if isSingle || error.isOfOneRow {
                try insertWithoutUniqueValues(row, after: error)
                rest = rest.dropFirst()
            } else {
                isSingle = true
            }
            while !rest.isEmpty {
                let part = isSingle ? rest.prefix(1) : rest
                do { try write(Array(part)) } catch let next as SQLiteError where next.isRefusal {
                    error = next
                    break
                }
                rest = rest.dropFirst(part.count)
            }
            if rest.isEmpty { return }
        }
    }

    private mutating func insertWithoutUniqueValues(_ row: Int, after error: SQLiteError) throws {
        let contents = try emptiedContents(after: error)
        guard !contents.isEmpty else { return try refuse(row, error) }
        do { try write([row], emptied: contents) } catch let next as SQLiteError where next.isRefusal {
            return try refuse(row, next)
        }
        wait(row, contents.keys.sorted(), isNew: true)
    }

    /// Updates objects one after another. A row that a unique index refuses loses these values,
    /// which wait.
    mutating func updateOneByOne(_ updates: Updates, _ assignments: [SQLiteMergeStatements.Assignment]) throws {
        let count = reader.columnCount
        for index in updates.rows.indices {
            let one = updates.only(index, columnCount: count)
            let row = one.rows[0]
            do {
                do { try write(one, assignments) } catch let error as SQLiteError where error.isRefusal {
                    let contents = try emptiedContents(after: error).filter { one.isWritten[$0.key] }
                    guard !contents.isEmpty else { throw error }
                    try write(one, assignments, emptied: contents)
                    wait(row, contents.keys.sorted(), isNew: false)
                }
            } catch let error as SQLiteError where error.isRefusal && connection.isInTransaction {
                if merge.isIdentityTaken(error), givenObject(row) != nil, !setsRefusedAside {
                    throw StoreError.identityTaken(entity: try entity(of: row))
                }
                try refuse(row, error)
            }
        }
    }

    /// What a row has in columns of unique indexes while its values wait; empty if they cannot.
    private mutating func emptiedContents(after error: SQLiteError) throws -> [Int: SQLUniqueColumns.Content] {
        guard waiting != nil, error.code == SQLiteError.Code.unique || error.code == SQLiteError.Code.primaryKey
        else { return [:] }
        let contents = try uniqueContents ?? connection.uniqueColumns(of: merge.layout, merge.schema).contents
        uniqueContents = contents
        return contents
    }

    private mutating func wait(_ row: Int, _ columns: [Int], isNew: Bool) {
        guard let object = merged[row]?.object, var values = waiting else { return }
        waiting = nil
        values.add(reader, row: row, of: object, columns: columns, merge.layout, isNew: isNew)
        waiting = values
        waitingRows.append(row)
    }

    /// Reports a refused row, or fails.
    private mutating func refuse(_ row: Int, _ error: SQLiteError) throws {
        let object = merged[row].flatMap { $0.change == .inserted ? nil : $0.object }
        let refusal = try merge.refusal(error, reader, row: row, object: object, table, connection)
        guard setsRefusedAside else { throw StoreError.refused(refusal) }
        refused.append(refusal)
        merged[row] = nil
    }
}

extension SQLiteMerge {
    /// Describes a refused row.
    ///
    /// - Parameter object: The stored object of the row; nil if it was not inserted.
    fileprivate func refusal(
        _ error: SQLiteError, _ reader: RecordBatch.Reader, row: Int, object: ObjectID?, _ table: SQLiteBatchTable,
        _ connection: SQLiteConnection
    ) throws -> StoreError.Refusal {
        var refusal = StoreError.Refusal(
            entity: layout.name, reason: .check, index: row, object: object, databaseError: error.debugDescription)
        let identity = Record.Key(layout.identityColumns.map { reader.value(row: row, column: $0) ?? .null })
        refusal.key = try identity ?? object.flatMap { try key(of: $0, connection) }
        if let list = error.subject(after: "UNIQUE constraint failed: ") {
            let names = columns(list)
            refusal.attributes = attributes(of: names)
            let holder = try holder(of: names, reader, row: row, object: object, table, connection)
            refusal.reason = .taken(by: holder)
            if refusal.attributes.isEmpty { refusal.constraint = list }
        } else if let list = error.subject(after: "NOT NULL constraint failed: ") {
            let names = columns(list)
            refusal.attributes = attributes(of: names)
            refusal.reason = .null
            if refusal.attributes.isEmpty { refusal.constraint = list }
        } else if let name = error.subject(after: "CHECK constraint failed: ") {
            refusal.constraint = name
            refusal.attributes = try attributes(inCheck: name, connection)
        } else if error.isForeignKey, let found = try referring(to: object, reader, row: row, connection) {
            refusal.attributes = found.attributes
            refusal.reason = .referred(by: found.table)
        } else if error.isForeignKey {
            let table: SQLBinding = .text(statements.tableName)
            let columns = try connection.texts("SELECT \"from\" FROM pragma_foreign_key_list(?)", [table])
            refusal.attributes = attributes(of: columns)
            refusal.reason = .missingReference(from: statements.tableName)
        } else {
            refusal.constraint = error.messageWithoutValues
        }
        return refusal
    }

    /// The table of others that refers to values of an object which a row changes, and their
    /// attributes; nil if there is none.
    private func referring(
        to object: ObjectID?, _ reader: RecordBatch.Reader, row: Int, _ connection: SQLiteConnection
    ) throws -> (table: String, attributes: [String])? {
        guard let object else { return nil }
        let found = try connection.prepare(
            """
            SELECT m.name, f.seq, f."from", \
            ifnull(f."to", (SELECT c.name FROM pragma_table_info(f."table") c WHERE c.pk = f.seq + 1)) \
            FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' \
            AND f."table" = ?1 COLLATE NOCASE AND m.name <> ?1 COLLATE NOCASE ORDER BY m.name, f.id, f.seq
            """, [.text(statements.tableName)])
        var keys: [(table: String, columns: [(from: String, to: String)])] = []
        while try found.step() {
            if found.integer(at: 1) == 0 { keys.append((found.text(at: 0), [])) }
            let target = found.isNull(at: 3) ? "" : found.text(at: 3)
            keys[keys.count - 1].columns.append((found.text(at: 2), target))
        }
        for key in keys {
            let columns = columns(of: key.columns.map(\.to))
            guard columns.count == key.columns.count else { continue }
            let values = key.columns.map { "t.\(SQLText.name($0.to))" }
            let conditions = key.columns.map { "c.\(SQLText.name($0.from)) = t.\(SQLText.name($0.to))" }
            let stored = try connection.prepare(
                "SELECT \(values.joined(separator: ", ")) FROM \(SQLText.name(statements.tableName)) t "
                    + "JOIN \(SQLText.name(key.table)) c ON \(conditions.joined(separator: " AND ")) "
                    + "WHERE t.\(schema.rowColumn) = ? LIMIT 1", [.integer(object)])
            guard try stored.step() else { continue }
            let changed = columns.enumerated().filter { place, column in
                reader.value(row: row, column: column).map {
                    $0 != stored.value(at: place, as: layout.attributes[column].type)
                } ?? false
            }
            if !changed.isEmpty { return (key.table, changed.map { layout.attributes[$0.element].name }) }
        }
        return nil
    }

    private func columns(of names: [String]) -> [Int] {
        let own = schema.columns[layout.index].map(schema.dialect.folded)
        return names.compactMap { own.firstIndex(of: schema.dialect.folded($0)) }
    }

    private func attributes(of names: [String]) -> [String] {
        columns(of: names).map { layout.attributes[$0].name }
    }

    /// The attributes whose columns a check names.
    private func attributes(inCheck constraint: String, _ connection: SQLiteConnection) throws(SQLiteError) -> [String]
    {
        let creation = try connection.prepare(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            [.text(statements.tableName)])
        guard try creation.step() else { return [] }
        let names = SQLiteDeclarations.names(inCheck: constraint, of: creation.text(at: 0))
        return attributes(
            of: schema.columns[layout.index].filter { names.contains(schema.dialect.folded($0)) })
    }

    /// The identity of the object that has the values of a unique index.
    private func holder(
        of names: [String], _ reader: RecordBatch.Reader, row: Int, object: ObjectID?, _ table: SQLiteBatchTable,
        _ connection: SQLiteConnection
    ) throws -> Record.Key? {
        let columns = columns(of: names)
        guard columns.count == names.count else { return nil }
        let quoted = schema.columns[layout.index].map(SQLText.name)
        // A row that lacks a cell leaves the stored value.
        let stored =
            "FROM \(SQLText.name(statements.tableName)) o WHERE o.\(schema.rowColumn) = b.\(SQLiteBatchColumns.object)"
        let conditions = columns.map { column in
            let isStored = object != nil && reader.kind(row: row, column: column) == .absent
            return "t.\(quoted[column]) = "
                + (isStored ? "(SELECT o.\(quoted[column]) \(stored))" : "b.\(SQLiteBatchColumns.cell(column))")
        }
        let statement = try connection.prepare(
            "SELECT t.\(schema.rowColumn) FROM \(SQLiteBatchTable.name(columnCount: reader.columnCount)) b "
                + "CROSS JOIN \(SQLText.name(statements.tableName)) t WHERE \(conditions.joined(separator: " AND ")) "
                + "AND t.\(schema.rowColumn) IS NOT b.\(SQLiteBatchColumns.object) LIMIT 1")
        let objects = Array(repeating: object, count: row + 1)
        let content = SQLiteBatchTable.Content(reader: reader, rows: [row], objects: objects)
        let found = try table.lend(content) { () throws(SQLiteError) in
            try statement.step() ? statement.integer(at: 0) : nil
        }
        return try found.flatMap { try key(of: $0, connection) }
    }

    /// The identity of an object.
    private func key(of object: ObjectID, _ connection: SQLiteConnection) throws -> Record.Key? {
        guard layout.hasIdentity else { return .object(object) }
        let names = layout.identityColumns.map { SQLText.name(schema.columns[layout.index][$0]) }
        let statement = try connection.prepare(
            "SELECT \(names.joined(separator: ", ")) FROM \(SQLText.name(statements.tableName)) "
                + "WHERE \(schema.rowColumn) = ?", [.integer(object)])
        guard try statement.step() else { return nil }
        let values = layout.identityColumns.enumerated().map { place, column in
            statement.value(at: place, as: layout.attributes[column].type)
        }
        return Record.Key(values) ?? .object(object)
    }
}

extension SQLiteConnection {
    /// The columns that a row of an entity leaves empty while values of unique indexes wait.
    func uniqueColumns(
        of layout: EntityLayout, _ schema: SQLSchema
    ) throws(SQLiteError) -> SQLUniqueColumns {
        let table = schema.table(of: layout.index)
        let columns = schema.columns[layout.index]
        let generated = try generatedColumns(of: table)
        // The text of an index or of a generated column names the columns that it depends on.
        func named(_ text: String, besides passed: Set<String> = []) -> Set<String> {
            var names = Set(columns.filter { text.contains($0.lowercased()) })
            for (name, declaration) in generated where !passed.contains(name) && text.contains(name) {
                names.formUnion(named(declaration, besides: passed.union([name])))
            }
            return names
        }
        func sources(_ column: String) -> Set<String> {
            let name = column.lowercased()
            return generated[name].map { named($0, besides: [name]) } ?? [column]
        }
        let found = try prepare(
            """
            SELECT l.name, x.name, x.cid, m.sql FROM pragma_index_list(?) l JOIN pragma_index_xinfo(l.name) x \
            LEFT JOIN sqlite_master m ON m.type = 'index' AND m.name = l.name WHERE l."unique" AND x.key
            """, [.text(table)])
        var indexes: [String: SQLUniqueColumns.Index] = [:]
        while try found.step() {
            let name = found.text(at: 0)
            let text = found.isNull(at: 3) ? "" : found.text(at: 3).lowercased()
            let parts = text.components(separatedBy: " where ")
            var index =
                indexes[name] ?? SQLUniqueColumns.Index(keys: [], conditions: named(parts.dropFirst().joined()))
            if found.integer(at: 2) == -2 {
                index.keys.formUnion(named(parts[0].drop { $0 != "(" }.description))
            } else if !found.isNull(at: 1) {
                index.keys.formUnion(sources(found.text(at: 1)))
            }
            indexes[name] = index
        }
        var mandatory = try texts("SELECT name FROM pragma_table_xinfo(?) WHERE \"notnull\"", [.text(table)])
        mandatory += try texts(
            """
            SELECT ifnull(f."to", (SELECT c.name FROM pragma_table_info(f."table") c WHERE c.pk = f.seq + 1)) \
            FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f \
            WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE AND f.on_update = 'CASCADE'
            """, [.text(table)])
        return SQLUniqueColumns(
            Array(indexes.values), of: layout, in: schema, mandatory: Set(mandatory.flatMap(sources)))
    }

    /// The declarations of a table's generated columns, from their first parenthesis. The names and
    /// the texts are in lower case.
    private func generatedColumns(of table: String) throws(SQLiteError) -> [String: String] {
        let found = try prepare(
            """
            SELECT x.name, m.sql FROM pragma_table_xinfo(?1) x JOIN sqlite_master m \
            ON m.type = 'table' AND m.name = ?1 COLLATE NOCASE WHERE x.hidden > 1
            """, [.text(table)])
        var declarations: [String: String] = [:]
        while try found.step() {
            let name = found.text(at: 0)
            let declaration = SQLiteDeclarations(found.text(at: 1))[name] ?? ""
            declarations[name.lowercased()] = declaration.drop { $0 != "(" }.lowercased()
        }
        return declarations
    }
}
