import SyncModel

/// The statements that create the missing parts of a store's tables again.
package struct SQLRepair {
    private let description: SQLSchemaDescription
    private let dialect: any SQLDialect
    private let defects: Set<SQLSchemaError.Defect>
    private let tables: [String: SQLSchema.Table]
    private let found: SQLFoundTables

    /// Creates a repair.
    ///
    /// - Parameter description: The database's record of its tables.
    package init(
        _ defects: [SQLSchemaError.Defect], of description: SQLSchemaDescription, found: SQLFoundTables,
        _ dialect: any SQLDialect
    ) {
        self.description = description
        self.dialect = dialect
        self.defects = Set(defects)
        self.found = found
        tables = Dictionary(description.tables.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The statements, in order.
    ///
    /// - Throws: `SQLSchemaError.damaged` with the columns of object numbers that are missing.
    package func statements() throws(SQLSchemaError) -> [String] {
        let numbers = defects.filter { $0.part == .column(description.rowColumn) }
        guard numbers.isEmpty else { throw .damaged(numbers.sorted { $0.table < $1.table }) }
        var statements: [String] = []
        for table in description.tables {
            if isNew(table) {
                statements += ["DROP TABLE IF EXISTS \(dialect.relation(table.name))", table.creation(dialect)]
            } else {
                statements += additions(to: table)
            }
        }
        statements += cleanups
        for table in description.tables { statements += restorations(of: table) }
        for table in description.tables {
            statements += (table.foreignKeys ?? []).filter { key in
                isNew(table) || defects.contains(.init(table: table.name, part: .foreignKey(key.name)))
            }.map { key in
                !isNew(table) && found.isUnsure(foreignKey: key.name, of: table.name)
                    ? key.validation(on: table.name, dialect) : key.creation(on: table.name, dialect)
            }
        }
        return statements + forgetting
    }

    /// The tables to lock before the statements run.
    package var locks: SQLMigration.Locks {
        let changed = defects.filter { defect in
            switch defect.part {
            case .column, .primaryKey: true
            case .index(let name): found.isInvalid(index: name, of: defect.table)
            case .table, .foreignKey: false
            }
        }
        return SQLMigration.Locks(exclusive: Set(changed.map(\.table)))
    }

    /// Whether a table is created. A join table that lacks one side of its pairs has no links.
    private func isNew(_ table: SQLSchema.Table) -> Bool {
        if defects.contains(.init(table: table.name, part: .table)) { return true }
        guard isJoin(table) else { return false }
        return table.columns.prefix(2).contains { defects.contains(.init(table: table.name, part: .column($0))) }
    }

    private func isJoin(_ table: SQLSchema.Table) -> Bool {
        !description.families.values.contains(table.name)
    }

    private func additions(to table: SQLSchema.Table) -> [String] {
        let declarations = table.declarations ?? [:]
        return table.columns.filter { defects.contains(.init(table: table.name, part: .column($0))) }.map { column in
            let name = SQLText.name(column)
            let declaration: String
            if column == description.entityColumn {
                let root = description.families.first { $0.value == table.name }?.key ?? ""
                declaration = "\(dialect.entityDeclaration) DEFAULT \(SQLText.literal(root))"
            } else {
                // The definition of a join table ends with its key.
                declaration = isJoin(table) ? dialect.referenceType : declarations[column] ?? dialect.referenceType
            }
            return "ALTER TABLE \(dialect.relation(table.name)) ADD COLUMN \(name) \(declaration)"
        }
    }

    private func restorations(of table: SQLSchema.Table) -> [String] {
        var statements: [String] = []
        if !isNew(table), defects.contains(.init(table: table.name, part: .primaryKey)) {
            let columns = isJoin(table) ? SQLText.names(table.columns.prefix(2)) : SQLText.name(description.rowColumn)
            statements.append("ALTER TABLE \(dialect.relation(table.name)) ADD PRIMARY KEY (\(columns))")
        }
        for index in table.indices {
            guard isNew(table) || defects.contains(.init(table: table.name, part: .index(index.name))) else { continue }
            if !isNew(table), found.isInvalid(index: index.name, of: table.name) {
                statements.append("DROP INDEX \(dialect.relation(index.name))")
            }
            statements.append(index.creation(on: table.name, dialect))
        }
        return statements
    }

    // MARK: References

    /// The statements that remove references to objects that no longer exist.
    private var cleanups: [String] {
        let changed = Set(
            description.tables.filter { table in
                isNew(table) || defects.contains { $0.table == table.name && $0.part.isForeignKey }
            }.map(\.name))
        guard !changed.isEmpty else { return [] }
        let row = SQLText.name(description.rowColumn)
        func isLost(_ column: String, _ target: String) -> String {
            "\(SQLText.name(column)) NOT IN (SELECT \(row) FROM \(dialect.relation(target)))"
        }
        var statements: [String] = []
        for relationship in description.entities.flatMap(\.relationships) {
            let statement: String?
            switch relationship.storage {
            case .column(let link), .inverseColumn(let link):
                let isConcerned = changed.contains(link.table) || changed.contains(link.target)
                statement =
                    isConcerned
                    ? "UPDATE \(dialect.relation(link.table)) SET \(SQLText.name(link.column)) = NULL WHERE "
                        + isLost(link.column, link.target) : nil
            case .join(let link):
                let isConcerned = !changed.isDisjoint(with: [link.table, link.sourceTable, link.targetTable])
                statement =
                    isConcerned
                    ? "DELETE FROM \(dialect.relation(link.table)) WHERE \(isLost(link.source, link.sourceTable)) OR "
                        + isLost(link.target, link.targetTable) : nil
            }
            if let statement, !statements.contains(statement) { statements.append(statement) }
        }
        return statements
    }

    // MARK: Bookkeeping

    /// The statements that make the next sync read everything from its source, and that delete the
    /// links which wait for objects of lost tables.
    private var forgetting: [String] {
        guard defects.contains(where: \.heldData) else { return [] }
        var statements: [String] = []
        if let bookmarks = description.families[SyncEntity.bookmark.name] {
            statements.append("DELETE FROM \(dialect.relation(bookmarks))")
        }
        if let links = description.families[SyncEntity.pendingLink.name] {
            let lost = description.entities.filter { entity in
                description.families[description.root(of: entity.name)].flatMap { tables[$0] }.map(isNew) ?? false
            }
            for entity in lost {
                let start = SQLText.literal("\(entity.name).")
                statements.append(
                    "DELETE FROM \(dialect.relation(links)) WHERE substr(relationship, 1, length(\(start))) = \(start)")
            }
        }
        return statements
    }
}

extension SQLSchemaError.Defect.Part {
    fileprivate var isForeignKey: Bool {
        if case .foreignKey = self { true } else { false }
    }
}
