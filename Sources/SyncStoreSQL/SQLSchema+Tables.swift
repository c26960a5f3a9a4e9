import SyncModel

extension SQLSchema {
    /// A table of the schema, with the statements that make it.
    package struct Table: Hashable, Sendable, Codable {
        package let name: String
        /// The names of its columns.
        package let columns: [String]
        /// What stands between the parentheses of its definition.
        package let definition: String
        /// The names of its indices, and what makes each after `CREATE … INDEX name`.
        package let indices: [Index]

        /// The statement that makes it, under its own name or another.
        package func creation(as name: String? = nil) -> String {
            "CREATE TABLE \(SQLText.name(name ?? self.name)) (\(definition))"
        }
    }

    /// An index of a table.
    package struct Index: Hashable, Sendable, Codable {
        package let isUnique: Bool
        package let name: String
        /// The columns in parentheses, and the condition where there is one.
        package let columns: String

        /// The statement that makes it.
        package func creation(on table: String) -> String {
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.name(name)) ON \(SQLText.name(table)) \(columns)"
        }
    }

    /// All tables: those of entities, then the join tables.
    package var tables: [Table] {
        families.indices.map(entityTable) + joins.map(joinTable)
    }

    private func entityTable(_ family: Int) -> Table {
        let table = families[family].table
        var names = [naming.rowColumn]
        var lines = ["\(rowColumn) INTEGER PRIMARY KEY"]
        if families[family].namesEntity {
            names.append(naming.entityColumn)
            lines.append("\(entityColumn) TEXT NOT NULL")
        }
        for column in attributeColumns[family] {
            names.append(column.name)
            lines.append("\(SQLText.name(column.name)) \(columnType(column.attribute.type))")
        }
        var indices = identityIndices(family)
        for (link, rule) in references[family] {
            names += [link.column] + (link.position.map { [$0] } ?? [])
            lines.append(
                "\(SQLText.name(link.column)) INTEGER REFERENCES \(SQLText.name(link.target))(\(rowColumn)) "
                    + "\(rule.onDelete) DEFERRABLE INITIALLY DEFERRED")
            if let position = link.position {
                lines.append("\(SQLText.name(position)) INTEGER")
            }
            let column = SQLText.name(link.column)
            indices.append(
                Index(
                    isUnique: false, name: "\(table)_\(link.column)",
                    columns: "(\(column)) WHERE \(column) IS NOT NULL"))
        }
        return Table(name: table, columns: names, definition: lines.joined(separator: ", "), indices: indices)
    }

    private func identityIndices(_ family: Int) -> [Index] {
        let root = families[family].root
        var indices: [Index] = []
        for place in model.layouts[root].family {
            let layout = model.layouts[place]
            guard layout.hasIdentity, identityScope(of: place) == place else { continue }
            let names = layout.identitySlots.map { self.columns[place][$0] }
            let isShared = families[family].namesEntity
            var columns = "(\(SQLText.names(names + (isShared ? [naming.entityColumn] : []))))"
            if let condition = scopeCondition(place) {
                columns += " WHERE \(condition)"
            }
            indices.append(Index(isUnique: true, name: "\(layout.name)_identity", columns: columns))
        }
        return indices
    }

    /// The condition that a row's identity is that of a scope, as its unique index has it; nil where that of every row is.
    package func scopeCondition(_ scope: Int) -> String? {
        let members = members(ofScope: scope)
        guard members.count < model.layouts[model.layouts[scope].root].family.count else { return nil }
        let names = members.map { SQLText.literal(model.layouts[$0].name) }
        return "\(entityColumn) IN (\(names.joined(separator: ", ")))"
    }

    private func joinTable(_ join: JoinLink) -> Table {
        let source = SQLText.name(join.source)
        let target = SQLText.name(join.target)
        var lines = [(source, join.sourceTable), (target, join.targetTable)].map { column, table in
            "\(column) INTEGER NOT NULL REFERENCES \(SQLText.name(table))(\(rowColumn)) "
                + "ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
        }
        for position in [join.position, join.inversePosition].compactMap({ $0 }) {
            lines.append("\(SQLText.name(position)) INTEGER")
        }
        lines.append("PRIMARY KEY (\(source), \(target))")
        let index = Index(isUnique: false, name: "\(join.table)_\(join.target)", columns: "(\(target))")
        let names = [join.source, join.target] + [join.position, join.inversePosition].compactMap { $0 }
        return Table(name: join.table, columns: names, definition: lines.joined(separator: ", "), indices: [index])
    }

    /// The declared type of an attribute's column, which gives its affinity.
    func columnType(_ type: AttributeType) -> String {
        switch type {
        case .int16, .int32, .int64: "INTEGER"
        case .bool: "BOOLEAN"
        case .double, .float: "REAL"
        case .decimal, .string, .uri, .uuid: "TEXT"
        case .binary, .transformable: "BLOB"
        case .date: dates == .iso8601 ? "DATETIME" : "REAL"
        }
    }
}

extension DeleteRule {
    /// What the foreign key of a column that leads to an object does when that is deleted.
    ///
    /// A store looks after rules itself, since it reports what it deletes; the foreign keys see to them for other programs.
    fileprivate var onDelete: String {
        switch self {
        case .cascade: "ON DELETE CASCADE"
        case .deny: "ON DELETE NO ACTION"
        case .nullify, .noAction: "ON DELETE SET NULL"
        }
    }
}
