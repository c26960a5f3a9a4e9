import SyncModel

/// Writes the statements that turn the tables of a stored schema into those of another one, with
/// their data.
///
/// Where the dialect can change tables, they are changed in place, so that everything that others
/// attached to them stays: privileges, policies, columns, triggers, foreign keys. Otherwise, a
/// changed table is created beside the old one, filled from it, and renamed, as
/// https://www.sqlite.org/lang_altertable.html advises; foreign keys must be off meanwhile. Tables
/// without a change are not touched.
package struct SQLMigration {
    private let old: SQLSchemaDescription
    private let schema: SQLSchema
    private let new: SQLSchemaDescription
    /// The former name of each entity of the model.
    private let formerEntities: [String?]
    private var statements: [String] = []
    private var replaced: [(temporary: String, table: SQLSchema.Table)] = []
    private var keptTables: Set<String> = []
    /// Indices of tables that stay, to be created when all other indices are gone.
    private var addedIndices: [String] = []
    private let found: Found

    /// - Parameters:
    ///   - old: The tables of the database.
    ///   - schema: The tables that it gets.
    ///   - found: Columns that the old schema does not describe.
    package init(from old: SQLSchemaDescription, to schema: SQLSchema, found: Found = Found()) {
        self.found = found
        self.old = old
        self.schema = schema
        new = SQLSchemaDescription(schema)
        formerEntities = SQLRenaming.counterparts(
            of: schema.model.layouts.map { .init($0.name, formerName: $0.entity.formerName) },
            in: old.entities.map { .init($0.name, formerName: $0.formerName) }
        ).map { $0.map { old.entities[$0].name } }
    }

    /// The statements, in order.
    ///
    /// - Throws: `SQLSchemaError` for a change that is not possible.
    package static func statements(
        from old: SQLSchemaDescription, to schema: SQLSchema, found: Found = Found()
    ) throws(SQLSchemaError) -> [String] {
        var migration = SQLMigration(from: old, to: schema, found: found)
        return try migration.run()
    }

    private mutating func run() throws(SQLSchemaError) -> [String] {
        guard old.dates == new.dates else { throw .otherDates }
        let tables = new.tables
        for family in schema.families.indices {
            try migrate(family: family, to: tables[family])
        }
        for (index, join) in schema.joins.enumerated() {
            try migrate(join: join, to: tables[schema.families.count + index])
        }
        for table in old.tables where !keptTables.contains(table.name) && found.adopted[table.name] == nil {
            statements.append("DROP TABLE IF EXISTS \(SQLText.name(table.name))")
        }
        for (temporary, table) in replaced {
            statements.append(
                "ALTER TABLE \(SQLText.name(temporary)) RENAME TO \(SQLText.name(table.name))")
            statements += table.indices.map { $0.creation(on: table.name) }
        }
        statements += addedIndices
        guard !statements.isEmpty else { return foreignKeyChanges }
        return foreignKeyRemovals + statements + cleanups + foreignKeyCreations
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
            createUnlessAdopted(table)
            return
        }
        for other in schema.model.layouts where other.root != root.index {
            if let former = formerEntities[other.index], old.root(of: former) == oldRoot {
                throw .movedEntity(entity: other.name)
            }
        }
        var columns = [reference(schema.naming.rowColumn, from: old.rowColumn)]
        let (entity, condition) = entityColumn(root, oldRoot: oldRoot)
        if let entity { columns.append(entity) }
        for column in schema.attributeColumns[family] {
            columns.append(try filling(column, oldRoot: oldRoot))
        }
        for member in root.family {
            let layout = schema.model.layouts[member]
            for relationship in layout.relationships where relationship.source == member {
                columns += try links(relationship, of: layout)
            }
        }
        if let known = found.adopted[oldTable] {
            return try extend(oldTable, known, to: table, family: family, columns: columns, condition: condition)
        }
        guard found.adopted[table.name] == nil else {
            throw .adoptedTable(
                table: table.name, advice: "move the objects of \(oldTable) into it, and drop \(oldTable)")
        }
        let former = old.tables.first { $0.name == oldTable }
        let isSame =
            former?.isBuilt(as: table) == true && condition == nil && columns.allSatisfy(\.isSame)
        let hasSameColumns =
            former?.definition == table.definition && former?.name == table.name && condition == nil
            && columns.allSatisfy(\.isSame)
        if isSame {
            keptTables.insert(table.name)
        } else if hasSameColumns, let former {
            keptTables.insert(table.name)
            let (old, new) = (Set(former.indices), Set(table.indices))
            statements += former.indices.filter { !new.contains($0) }.map {
                "DROP INDEX IF EXISTS \(SQLText.name($0.name))"
            }
            addedIndices += table.indices.filter { !old.contains($0) }.map { $0.creation(on: table.name) }
        } else {
            try change(oldTable, to: table, columns: columns, condition: condition)
        }
    }

    /// Takes a table that exists already, or creates it.
    private mutating func createUnlessAdopted(_ table: SQLSchema.Table) {
        guard found.adopted[table.name] == nil else { return _ = keptTables.insert(table.name) }
        replace(nil, by: table, columns: [], condition: nil)
    }

    /// Adds missing columns to a table that is not the store's own.
    ///
    /// - Throws: `SQLSchemaError.adoptedTable` for any other change.
    private mutating func extend(
        _ oldTable: String, _ known: Set<String>, to table: SQLSchema.Table, family: Int, columns: [Filling],
        condition: String?
    ) throws(SQLSchemaError) {
        guard oldTable == table.name else {
            throw .adoptedTable(
                table: oldTable, advice: "rename it to \(table.name), or name it in SQLNaming.tables")
        }
        guard condition == nil else {
            throw .adoptedTable(table: table.name, advice: "delete the objects of the removed entities first")
        }
        keptTables.insert(table.name)
        for filling in columns where !filling.isSame {
            let column = filling.column
            guard !known.contains(column.lowercased()) else {
                // It may hold values already; those of the former column stay where they are.
                guard let former = filling.former else { continue }
                throw .adoptedTable(
                    table: table.name,
                    advice: "move the values of \(SQLText.name(former)) to \(column), or map it in SQLNaming.columns")
            }
            guard filling.former == nil, let declaration = schema.addition(of: column, toFamily: family) else {
                let former = filling.former.map(SQLText.name) ?? filling.expression
                throw .adoptedTable(
                    table: table.name,
                    advice: "rename the column \(former) to \(column) with ALTER TABLE, or map it in SQLNaming.columns")
            }
            let name = SQLText.name(table.name)
            statements.append("ALTER TABLE \(name) ADD COLUMN \(declaration)")
            if filling.expression != "NULL", column != schema.naming.entityColumn {
                statements.append("UPDATE \(name) SET \(SQLText.name(column)) = \(filling.expression)")
            }
        }
    }

    /// How the column of entity names is filled, nil without the column, and the condition on the
    /// rows to keep, nil for all.
    private func entityColumn(_ root: EntityLayout, oldRoot: String) -> (filling: Filling?, condition: String?) {
        func filling(_ expression: String, from former: String? = nil) -> Filling {
            let type = schema.dialect.columnType(.string, dates: schema.dates)
            return Filling(
                column: schema.naming.entityColumn, type: type, expression: expression, former: former,
                isMandatory: true)
        }
        let oldNames = old.entities.map(\.name).filter { old.root(of: $0) == oldRoot }
        var names: [(old: String, new: String)] = []
        for member in root.family {
            if let former = formerEntities[member] { names.append((former, schema.model.layouts[member].name)) }
        }
        guard oldNames.count > 1 else {
            return (root.family.count > 1 ? names.first.map { filling(SQLText.literal($0.new)) } : nil, nil)
        }
        let column = SQLText.name(old.entityColumn)
        let isComplete = names.count == oldNames.count
        let condition =
            isComplete ? nil : "\(column) IN (\(names.map { SQLText.literal($0.old) }.joined(separator: ", ")))"
        guard root.family.count > 1 else { return (nil, condition) }
        if names.allSatisfy({ $0.old == $0.new }) { return (filling(column, from: old.entityColumn), condition) }
        let cases = names.map { "WHEN \(SQLText.literal($0.old)) THEN \(SQLText.literal($0.new))" }
        let renamed = "CASE \(column) \(cases.joined(separator: " ")) END"
        return (filling(renamed, from: old.entityColumn), condition)
    }

    /// How an attribute's column is filled.
    private func filling(_ column: SQLSchema.AttributeColumn, oldRoot: String) throws(SQLSchemaError) -> Filling {
        let attribute = column.attribute
        let entity = schema.model.layouts[column.source]
        var found: SQLSchemaDescription.SyncAttribute?
        if let stored = formerEntities[column.source].flatMap({ old.entity($0) })?.attributes {
            let wanted = entity.entity.attributes
            let counterparts = SQLRenaming.counterparts(
                of: wanted.map { .init($0.name, formerName: $0.formerName) },
                in: stored.map { .init($0.name, formerName: $0.formerName) })
            found = wanted.firstIndex { $0.name == attribute.name }.flatMap { counterparts[$0] }.map { stored[$0] }
        }
        if found == nil {
            // It may have been declared by another entity of the family.
            let own = Set(formerEntities[column.source].flatMap { old.entity($0) }?.attributes.map(\.name) ?? [])
            let all = old.entities.filter { old.root(of: $0.name) == oldRoot }.flatMap(\.attributes)
                .filter { !own.contains($0.name) }
            for name in [attribute.formerName, attribute.name].compactMap({ $0 }) where found == nil {
                let candidates = all.filter { $0.name == name }
                if candidates.count == 1 { found = candidates.first }
            }
        }
        let columnType = schema.dialect.columnType(attribute.type, dates: schema.dates)
        guard let found else {
            return Filling(
                column: column.name, type: columnType, expression: defaultExpression(attribute, of: entity))
        }
        guard let type = AttributeType(rawValue: found.type), type.isContained(in: attribute.type) else {
            throw .narrowedType(entity: entity.name, attribute: attribute.name)
        }
        let converted = schema.dialect.converted(SQLText.name(found.column), from: type, to: attribute.type)
        return Filling(column: column.name, type: columnType, expression: converted, former: found.column)
    }

    private func defaultExpression(_ attribute: SyncAttribute, of entity: EntityLayout) -> String {
        let literal = schema.dialect.defaultLiteral(schema.binding(attribute.defaultValue)) ?? "NULL"
        guard literal != "NULL", entity.parent != nil else { return literal }
        let oldNames = entity.family.compactMap { formerEntities[$0] }
        guard !oldNames.isEmpty else { return "NULL" }
        let list = oldNames.map(SQLText.literal).joined(separator: ", ")
        return "CASE WHEN \(SQLText.name(old.entityColumn)) IN (\(list)) THEN \(literal) END"
    }

    // MARK: Relationships

    private func former(
        _ relationship: RelationshipLayout, of layout: EntityLayout
    ) throws(SQLSchemaError) -> SQLSchemaDescription.SyncRelationship? {
        guard let entity = formerEntities[layout.index].flatMap({ old.entity($0) }) else { return nil }
        let own = layout.relationships.filter { $0.source == layout.index }
        let counterparts = SQLRenaming.counterparts(
            of: own.map { .init($0.name, formerName: $0.declaration.formerName) },
            in: entity.relationships.map { .init($0.name, formerName: $0.formerName) })
        guard let index = own.firstIndex(of: relationship).flatMap({ counterparts[$0] }) else { return nil }
        let found = entity.relationships[index]
        let destination = schema.model.layouts[relationship.destination]
        let roots = destination.family.compactMap { formerEntities[$0] }.map { old.root(of: $0) }
        guard roots.contains(old.root(of: found.destination)) else {
            throw .changedRelationship(entity: layout.name, relationship: relationship.name)
        }
        return found
    }

    /// The expressions that fill the columns of a relationship in its own table.
    private func links(
        _ relationship: RelationshipLayout, of layout: EntityLayout
    ) throws(SQLSchemaError) -> [Filling] {
        let former = try former(relationship, of: layout)
        switch (schema.relationships[layout.index][relationship.index], former?.storage) {
        case (.column(let link), nil):
            return [link.column, link.position].compactMap(\.self).map { reference($0, from: nil) }
        case (.column(let link), .column(let known)):
            let position = link.position.map { reference($0, from: known.position) }
            return [reference(link.column, from: known.column), position].compactMap(\.self)
        case (.inverseColumn, nil), (.inverseColumn, .inverseColumn), (.join, nil), (.join, .join): return []
        default: throw .changedRelationship(entity: layout.name, relationship: relationship.name)
        }
    }

    /// A column of object numbers or positions, which takes the values of an old one or is empty.
    private func reference(_ column: String, from former: String?) -> Filling {
        Filling(
            column: column, type: schema.dialect.referenceType, expression: former.map(SQLText.name) ?? "NULL",
            former: former)
    }

    private mutating func migrate(
        join: SQLSchema.JoinLink, to table: SQLSchema.Table
    ) throws(SQLSchemaError) {
        for layout in schema.model.layouts {
            for relationship in layout.relationships where relationship.source == layout.index {
                guard case .join(join) = schema.relationships[layout.index][relationship.index],
                    let former = try former(relationship, of: layout), case .join(let known) = former.storage
                else { continue }
                var columns = [
                    reference(join.source, from: known.source), reference(join.target, from: known.target),
                ]
                if let position = join.position { columns.append(reference(position, from: known.position)) }
                if let position = join.inversePosition {
                    columns.append(reference(position, from: known.inversePosition))
                }
                guard found.adopted[known.table] == nil else {
                    guard known.table == table.name else {
                        throw .adoptedTable(
                            table: known.table, advice: "rename it to \(table.name), or map it in SQLNaming.columns")
                    }
                    keptTables.insert(table.name)
                    return
                }
                let oldTable = old.tables.first { $0.name == known.table }
                if oldTable?.isBuilt(as: table) == true, columns.allSatisfy(\.isSame) {
                    keptTables.insert(table.name)
                } else {
                    try change(known.table, to: table, columns: columns, condition: nil)
                }
                return
            }
        }
        createUnlessAdopted(table)
    }

    // MARK: Statements

    /// Turns an old table into another one, with its rows.
    private mutating func change(
        _ oldTable: String, to table: SQLSchema.Table, columns: [Filling], condition: String?
    ) throws(SQLSchemaError) {
        guard schema.dialect.changesTables else {
            return replace(oldTable, by: table, columns: columns, condition: condition)
        }
        guard let former = old.tables.first(where: { $0.name == oldTable }) else { throw .unreadable }
        statements += SQLTableChange(former, columns: columns, condition: condition).statements
        if oldTable == table.name {
            keptTables.insert(oldTable)
            addedIndices += table.indices.map { $0.creation(on: table.name) }
        } else {
            // Another table may have the name until all of them have given up theirs.
            let temporary = "_sync_new_\(replaced.count)"
            statements.append("ALTER TABLE \(SQLText.name(oldTable)) RENAME TO \(SQLText.name(temporary))")
            replaced.append((temporary, table))
        }
    }

    private mutating func replace(
        _ oldTable: String?, by table: SQLSchema.Table, columns: [Filling], condition: String?
    ) {
        let temporary = "_sync_new_\(replaced.count)"
        statements.append(table.creation(as: temporary))
        if let oldTable {
            // Columns that others added are kept.
            let taken = Set(table.columns.map { $0.lowercased() })
            let additions = (found.additions[oldTable] ?? []).filter { !taken.contains($0.name.lowercased()) }
            statements += additions.map {
                "ALTER TABLE \(SQLText.name(temporary)) ADD COLUMN \(SQLText.name($0.name)) \($0.declaration)"
            }
            let source = (columns.map(\.expression) + additions.map { SQLText.name($0.name) }).joined(separator: ", ")
            let filter = condition.map { " WHERE \($0)" } ?? ""
            statements.append(
                "INSERT INTO \(SQLText.name(temporary)) "
                    + "(\(SQLText.names(columns.map(\.column) + additions.map(\.name)))) SELECT \(source) FROM \(SQLText.name(oldTable))\(filter)"
            )
        }
        replaced.append((temporary, table))
    }

    // MARK: Foreign keys that are no part of a table's definition

    private var foreignKeyRemovals: [String] {
        old.tables.flatMap { table in (table.foreignKeys ?? []).map { $0.removal(from: table.name) } }
    }

    private var foreignKeyCreations: [String] {
        new.tables.flatMap { table in (table.foreignKeys ?? []).map { $0.creation(on: table.name) } }
    }

    /// The statements if only delete rules have changed.
    private var foreignKeyChanges: [String] {
        let isSame = old.tables.map(\.foreignKeys) == new.tables.map(\.foreignKeys)
        return isSame ? [] : foreignKeyRemovals + foreignKeyCreations
    }

    /// Removes references to objects that have been dropped.
    private var cleanups: [String] {
        let row = schema.rowColumn
        let columns = schema.families.indices.flatMap { family in
            schema.references[family].map { reference in
                let column = SQLText.name(reference.link.column)
                return "UPDATE \(SQLText.name(reference.link.table)) SET \(column) = NULL WHERE \(column) NOT IN "
                    + "(SELECT \(row) FROM \(SQLText.name(reference.link.target)))"
            }
        }
        let joins = schema.joins.map { join in
            "DELETE FROM \(SQLText.name(join.table)) WHERE \(SQLText.name(join.source)) NOT IN "
                + "(SELECT \(row) FROM \(SQLText.name(join.sourceTable))) OR \(SQLText.name(join.target)) NOT IN "
                + "(SELECT \(row) FROM \(SQLText.name(join.targetTable)))"
        }
        return columns + joins
    }
}
