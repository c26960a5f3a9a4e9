import SyncModel

/// Plans the statements that convert the tables and data of a stored schema to another schema.
///
/// If the dialect can change tables, they are changed in place. Everything that other tools
/// attached to them stays: privileges, policies, columns, triggers, foreign keys. Otherwise, a
/// table is renamed first, so that references to it stay valid. Columns are added in place. For any
/// other change, the new table is created beside the old one, filled from it, and renamed, as
/// https://www.sqlite.org/lang_altertable.html advises; foreign keys must be off in the meantime.
/// Tables without a change are not touched.
package struct SQLMigration {
    let old: SQLSchemaDescription
    let schema: SQLSchema
    private let new: SQLSchemaDescription
    /// The former name of each entity of the model.
    let formerEntities: [String?]
    private let formerRelationships: SQLFormerRelationships
    private var statements: [String] = []
    private var replaced: [(temporary: String, table: SQLSchema.Table, isNew: Bool)] = []
    private var preparations: [String] = []
    private var locks = Locks()
    /// The columns that do not change, of tables that keep their names.
    private var sameColumns: [String: Set<String>] = [:]
    /// Whether rows are deleted to which others may refer.
    private var deletesRows = false
    private var keptTables: Set<String> = []
    /// Indices of tables that stay, created after all other indices are dropped.
    private var addedIndices: [String] = []
    /// The old tables whose rows are copied to new tables.
    private var usedTables: Set<String> = []
    var checks: [(query: String, error: SQLSchemaError)] = []
    private var moves: [Move] = []
    private var dropped: [String] = []
    private var additions: [String: String] = [:]
    private let found: Found
    /// The program's conversions.
    let hooks: [AttributeConversion]
    var conversions: [SQLValueConversion] = []
    /// The statements that give objects the default of an attribute that has become mandatory.
    private var defaults: [String] = []
    /// Keeps what the model no longer has; nil to drop it.
    var retention: SQLRetention?

    private init(
        from old: SQLSchemaDescription, to schema: SQLSchema, found: Found, keepsRemoved: Bool,
        hooks: [AttributeConversion]
    ) {
        self.found = found
        self.hooks = hooks
        self.old = old
        self.schema = schema
        new = SQLSchemaDescription(schema)
        formerEntities = SQLRenaming.counterparts(
            of: schema.model.layouts.map { .init($0.name, formerName: $0.entity.formerName) },
            in: old.entities.map { .init($0.name, formerName: $0.formerName) }
        ).map { $0.map { old.entities[$0].name } }
        formerRelationships = SQLFormerRelationships(old, schema: schema, entities: formerEntities)
        guard keepsRemoved else { return }
        retention = SQLRetention(old, to: new, schema: schema, former: formerEntities, names: found.names)
    }

    /// Plans a migration.
    ///
    /// - Parameters:
    ///   - old: The tables of the database.
    ///   - schema: The new tables.
    ///   - found: The contents of the database that the old schema does not describe.
    ///   - keepsRemoved: Whether everything stays that the model no longer has.
    ///   - hooks: The program's conversions of attributes.
    /// - Throws: `SQLSchemaError` for a change that is not possible.
    package static func plan(
        from old: SQLSchemaDescription, to schema: SQLSchema, found: Found = Found(), keepsRemoved: Bool,
        hooks: [AttributeConversion] = []
    ) throws(SQLSchemaError) -> Plan {
        var migration = SQLMigration(from: old, to: schema, found: found, keepsRemoved: keepsRemoved, hooks: hooks)
        let statements = try migration.run()
        return Plan(
            preparations: migration.preparations, locks: migration.locks, conversions: migration.conversions,
            checks: migration.checks, moves: migration.moves,
            dropped: migration.dropped, statements: statements,
            additions: migration.additions,
            description: migration.retention?.description() ?? migration.new)
    }

    private mutating func run() throws(SQLSchemaError) -> [String] {
        guard old.dates == new.dates else { throw .otherDates }
        for hook in hooks
        where schema.model[hook.entity]?.entity.attributes.contains(where: { $0.name == hook.attribute }) != true {
            throw .unknownConversion(entity: hook.entity, attribute: hook.attribute)
        }
        let tables = new.tables
        for family in schema.families.indices {
            try migrate(family: family, to: tables[family])
        }
        for (index, join) in schema.joins.enumerated() {
            try migrate(join: join, to: tables[schema.families.count + index])
        }
        for table in old.tables where !keptTables.contains(table.name) && found.existing[table.name] == nil {
            remove(table)
        }
        // A dropped table frees the name for a renamed one.
        for table in dropped where moves.contains(where: { $0.to.lowercased() == table.lowercased() }) {
            moves.append((table, "_sync_old_\(moves.count)"))
        }
        for (temporary, table, isNew) in replaced {
            statements.append(
                "ALTER TABLE \(schema.relation(temporary)) RENAME TO \(SQLText.name(table.name))")
            statements += table.indices.filter { isNew || isCreatedNow($0) }.map {
                $0.creation(on: table.name, schema.dialect)
            }
        }
        statements += addedIndices
        let keys = SQLForeignKeyChanges(
            from: old, to: schema, keeping: retention?.foreignKeys ?? [], besides: found.existing.keys,
            newTables: Set(replaced.filter(\.isNew).map(\.table.name)), sameColumns: sameColumns,
            deletesRows: deletesRows)
        let existing = Set(old.tables.map(\.name)).union(found.existing.keys)
        locks.exclusive.formUnion(keys.removalTables)
        locks.shared.formUnion(keys.creationTables.intersection(existing))
        locks.shared.subtract(locks.exclusive)
        let isUnchanged = statements.isEmpty && keys.removals.isEmpty && keys.creations.isEmpty
        return isUnchanged ? defaults : keys.removals + statements + keys.cleanups + keys.creations + defaults
    }

    /// Whether the statements create an index of an existing table. Others can follow when the
    /// table is no longer locked.
    private func isCreatedNow(_ index: SQLSchema.Index) -> Bool {
        index.isUnique || !schema.dialect.changesTables
    }

    /// Creates indices of an existing table: a unique index, if it can, before the table is locked.
    ///
    /// - Parameter changed: The columns that change, quoted.
    private mutating func create(_ indices: [SQLSchema.Index], on table: String, changed: [String]) {
        for index in indices where isCreatedNow(index) {
            let statement = index.creation(on: table, schema.dialect)
            let isFree =
                schema.dialect.changesTables && !old.indexNames.contains(index.name)
                && !changed.contains { index.columns.contains($0) }
            if isFree { preparations.append(statement) } else { addedIndices.append(statement) }
        }
    }

    /// Drops an old table that no new table continues, unless it is retained.
    private mutating func remove(_ table: SQLSchema.Table) {
        let count = statements.count
        defer { if statements.count > count { locks.exclusive.insert(table.name) } }
        let isUsed = usedTables.contains(table.name)
        guard !isUsed, let kept = retention?.keep(table) else {
            if !isUsed { dropped.append(table.name) }
            return statements.append("DROP TABLE IF EXISTS \(schema.relation(present(table.name)))")
        }
        statements += table.indices.filter { !kept.indices.contains($0) }.map {
            "DROP INDEX IF EXISTS \(schema.relation($0.name))"
        }
        if kept.name != table.name, schema.dialect.changesTables {
            statements.append("ALTER TABLE \(schema.relation(table.name)) RENAME TO \(SQLText.name(kept.name))")
        }
        move(table.name, to: kept.name)
    }

    /// Plans the renaming of a table, if the dialect's statements cannot rename it.
    private mutating func move(_ table: String, to name: String) {
        if table != name, !schema.dialect.changesTables { moves.append((table, name)) }
    }

    /// The name of an old table when the statements run.
    private func present(_ table: String) -> String {
        found.moved[table] ?? table
    }

    // MARK: Tables of entities

    private mutating func migrate(family: Int, to table: SQLSchema.Table) throws(SQLSchemaError) {
        let root = schema.model.layouts[schema.families[family].root]
        var oldRoot: String?
        for member in root.family {
            guard let former = formerEntities[member] else { continue }
            let found = old.root(of: former)
            guard oldRoot == nil || oldRoot == found else {
                throw .movedEntity(entity: schema.model.layouts[member].name)
            }
            oldRoot = found
        }
        guard let oldRoot, let oldTable = old.families[oldRoot] else {
            createUnlessExisting(table)
            return
        }
        for other in schema.model.layouts where other.root != root.index {
            if let former = formerEntities[other.index], old.root(of: former) == oldRoot {
                throw .movedEntity(entity: other.name)
            }
        }
        var columns = [formerRelationships.reference(schema.naming.rowColumn, from: old.rowColumn)]
        let (entity, condition) = entityColumn(root, oldRoot: oldRoot)
        if let entity { columns.append(entity) }
        for column in schema.attributeColumns[family] {
            columns.append(try filling(column, oldRoot: oldRoot, in: present(oldTable)))
            if let statement = defaultFilling(column, oldRoot: oldRoot, in: table.name) { defaults.append(statement) }
        }
        for member in root.family {
            let layout = schema.model.layouts[member]
            for relationship in layout.relationships where relationship.source == member {
                columns += try formerRelationships.links(relationship, of: layout)
                if let check = try formerRelationships.sharing(relationship, of: layout) { checks.append(check) }
            }
        }
        if let known = found.existing[oldTable] {
            return try extend(oldTable, known, to: table, family: family, columns: columns, condition: condition)
        }
        guard found.existing[table.name] == nil else {
            throw .existingTable(
                table: table.name, advice: "move the objects of \(oldTable) into it, and drop \(oldTable)")
        }
        guard let former = old.tables.first(where: { $0.name == oldTable }) else { throw .unreadable }
        let additions = found.additions[oldTable] ?? []
        var table = table
        if let kept = try retention?.keepColumns(of: former, in: table, columns, additions: additions.map(\.name)) {
            table = kept.table
            columns += kept.fillings
        }
        usedTables.insert(oldTable)
        let names = Set(table.columns.map(schema.dialect.folded))
        for addition in additions where names.contains(schema.dialect.folded(addition.name)) {
            throw .unfitDependentObject(
                name: "\(table.name).\(addition.name)",
                reason: "the model needs a column of this name; rename the one in the database")
        }
        if condition == nil, canStay(former, as: table, columns: columns) {
            keep(former, as: table, columns: columns)
        } else {
            try change(oldTable, to: table, columns: columns, condition: condition)
        }
    }

    /// Whether a table needs at most another name and more columns.
    private func canStay(_ former: SQLSchema.Table, as table: SQLSchema.Table, columns: [Filling]) -> Bool {
        if former.name == table.name, columns.allSatisfy(\.isSame), former.definition == table.definition {
            return true
        }
        guard let known = former.declarations, let wanted = table.declarations else { return false }
        if former.name == table.name, columns.allSatisfy(\.isSame), known == wanted { return true }
        return !schema.dialect.changesTables
            && Set(columns.compactMap(\.former)).isSuperset(of: former.columns)
            && columns.allSatisfy { filling in
                guard filling.former != nil else { return !filling.isMandatory }
                return filling.isSame && known[filling.column] == wanted[filling.column]
            }
    }

    /// Adds the new columns and indices to a table that stays.
    private mutating func keep(_ former: SQLSchema.Table, as table: SQLSchema.Table, columns: [Filling]) {
        keptTables.insert(former.name)
        move(former.name, to: table.name)
        let count = statements.count
        let name = schema.relation(table.name)
        for filling in columns where filling.former == nil {
            let column = SQLText.name(filling.column)
            let declaration = table.declarations?[filling.column] ?? filling.type
            statements.append("ALTER TABLE \(name) ADD COLUMN \(column) \(declaration)")
            if filling.expression != "NULL" {
                statements.append("UPDATE \(name) SET \(column) = \(filling.expression)")
            }
        }
        let (old, new) = (Set(former.indices), Set(table.indices))
        statements += former.indices.filter { !new.contains($0) }.map {
            "DROP INDEX IF EXISTS \(schema.relation($0.name))"
        }
        if statements.count > count { locks.exclusive.insert(former.name) }
        sameColumns[table.name] = Set(columns.filter(\.isSame).map(\.column))
        create(
            table.indices.filter { !old.contains($0) }, on: table.name,
            changed: columns.filter { !$0.isSame }.map { SQLText.name($0.column) })
    }

    /// Uses an existing table, or creates the table.
    private mutating func createUnlessExisting(_ table: SQLSchema.Table) {
        guard found.existing[table.name] == nil else { return _ = keptTables.insert(table.name) }
        statements.append(table.creation(as: nextTemporary, schema.dialect))
        replaced.append((nextTemporary, table, true))
    }

    /// Adds missing columns to a table that the store did not create.
    ///
    /// - Throws: `SQLSchemaError.existingTable` for any other change.
    private mutating func extend(
        _ oldTable: String, _ known: Set<String>, to table: SQLSchema.Table, family: Int, columns: [Filling],
        condition: String?
    ) throws(SQLSchemaError) {
        guard oldTable == table.name else {
            throw .existingTable(
                table: oldTable, advice: "rename it to \(table.name), or name it in SQLNaming.tables")
        }
        guard condition == nil else {
            throw .existingTable(table: table.name, advice: "delete the objects of the removed entities first")
        }
        keptTables.insert(table.name)
        let names = Set(known.map(schema.dialect.folded))
        for filling in columns where !filling.isSame {
            let column = filling.column
            guard !names.contains(schema.dialect.folded(column)) else {
                // The column may have values already, so the values of the former column are not
                // copied.
                guard let former = filling.former else { continue }
                throw .existingTable(
                    table: table.name,
                    advice: "move the values of \(SQLText.name(former)) to \(column), or map it in SQLNaming.columns")
            }
            guard filling.former == nil, let declaration = schema.addition(of: column, toFamily: family) else {
                let former = filling.former.map(SQLText.name) ?? filling.expression
                throw .existingTable(
                    table: table.name,
                    advice: "rename the column \(former) to \(column) with ALTER TABLE, or map it in SQLNaming.columns")
            }
            let name = schema.relation(table.name)
            locks.exclusive.insert(table.name)
            statements.append("ALTER TABLE \(name) ADD COLUMN \(declaration)")
            if filling.expression != "NULL", column != schema.naming.entityColumn {
                statements.append("UPDATE \(name) SET \(SQLText.name(column)) = \(filling.expression)")
            }
        }
    }

    // MARK: Relationships

    private mutating func migrate(
        join: SQLSchema.JoinLink, to table: SQLSchema.Table
    ) throws(SQLSchemaError) {
        for layout in schema.model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                guard case .join(join) = schema.relationships[layout.index][relationship.index],
                    let former = try formerRelationships.former(relationship, of: layout),
                    case .join(let known) = former.storage
                else { continue }
                var columns = [
                    formerRelationships.reference(join.source, from: known.source),
                    formerRelationships.reference(join.target, from: known.target),
                ]
                if let position = join.position {
                    columns.append(formerRelationships.reference(position, from: known.position))
                }
                if let position = join.inversePosition {
                    columns.append(formerRelationships.reference(position, from: known.inversePosition))
                }
                guard found.existing[known.table] == nil else {
                    guard known.table == table.name else {
                        throw .existingTable(
                            table: known.table, advice: "rename it to \(table.name), or map it in SQLNaming.columns")
                    }
                    keptTables.insert(table.name)
                    return
                }
                usedTables.insert(known.table)
                let oldTable = old.tables.first { $0.name == known.table }
                if oldTable?.isBuilt(as: table) == true, columns.allSatisfy(\.isSame) {
                    keptTables.insert(table.name)
                    sameColumns[table.name] = Set(table.columns)
                } else {
                    try change(known.table, to: table, columns: columns, condition: nil)
                }
                return
            }
        }
        createUnlessExisting(table)
    }

    // MARK: Statements

    /// Converts an old table with its rows to a new one.
    private mutating func change(
        _ oldTable: String, to table: SQLSchema.Table, columns: [Filling], condition: String?
    ) throws(SQLSchemaError) {
        guard schema.dialect.changesTables else {
            return try rebuild(oldTable, as: table, columns: columns, condition: condition)
        }
        guard let former = old.tables.first(where: { $0.name == oldTable }) else { throw .unreadable }
        let indices = SQLTableChange.keptIndices(of: former, in: table, columns: columns)
        statements +=
            SQLTableChange(former, schema: schema, columns: columns, condition: condition, keeping: indices).statements
        locks.exclusive.insert(oldTable)
        if condition != nil { deletesRows = true }
        if oldTable == table.name {
            keptTables.insert(oldTable)
            sameColumns[table.name] = Set(columns.filter(\.isSame).map(\.column))
            create(
                table.indices.filter { !indices.contains($0) }, on: table.name,
                changed: columns.filter { !$0.isSame }.map { SQLText.name($0.column) })
        } else {
            // Another table may have the name until all tables have been renamed.
            statements.append("ALTER TABLE \(schema.relation(oldTable)) RENAME TO \(SQLText.name(nextTemporary))")
            replaced.append((nextTemporary, table, false))
        }
    }

    /// Creates a table in place of an old one, and copies the rows.
    private mutating func rebuild(
        _ oldTable: String, as table: SQLSchema.Table, columns: [Filling], condition: String?
    ) throws(SQLSchemaError) {
        move(oldTable, to: table.name)
        let temporary = schema.relation(nextTemporary)
        statements.append(table.creation(as: nextTemporary, schema.dialect))
        let others = found.additions[oldTable] ?? []
        for other in others {
            let name = "\(table.name).\(other.name)"
            guard !other.isGenerated else {
                throw .unfitDependentObject(name: name, reason: "a generated column cannot be moved")
            }
            let statement = "ALTER TABLE \(temporary) ADD COLUMN \(SQLText.name(other.name)) \(other.declaration)"
            statements.append(statement)
            additions[statement] = name
        }
        let names = SQLText.names(columns.map(\.column) + others.map(\.name))
        let source = (columns.map(\.expression) + others.map { SQLText.name($0.name) }).joined(separator: ", ")
        let filter = condition.map { " WHERE \($0)" } ?? ""
        statements.append(
            "INSERT INTO \(temporary) (\(names)) SELECT \(source) FROM \(schema.relation(present(oldTable)))\(filter)")
        replaced.append((nextTemporary, table, false))
    }

    private var nextTemporary: String { "_sync_new_\(replaced.count)" }
}
