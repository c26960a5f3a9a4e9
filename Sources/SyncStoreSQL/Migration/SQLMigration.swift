import SyncModel

/// Writes the statements that turn the tables of a stored schema into those of another one, with
/// their data.
///
/// A changed table is created beside the old one, filled from it, and renamed, as
/// https://www.sqlite.org/lang_altertable.html advises. Foreign keys must be off meanwhile. Tables
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
    private let found: Found

    /// Columns of the database that the old schema does not describe.
    package struct Found: Sendable {
        /// A column that somebody added to a table of the store.
        package struct Column: Sendable {
            package let name: String
            /// The declaration after the name.
            package let declaration: String

            package init(name: String, declaration: String) {
                self.name = name
                self.declaration = declaration
            }
        }

        /// The columns of tables that are not the store's own, in lower case, by the name of the
        /// table.
        package var adopted: [String: Set<String>] = [:]
        /// The columns that others added to the store's tables, by the name of the table.
        package var additions: [String: [Column]] = [:]

        package init() {}
    }

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
        var columns = [(schema.naming.rowColumn, SQLText.name(old.rowColumn))]
        let (entity, condition) = entityColumn(root, oldRoot: oldRoot)
        if let entity { columns.append((schema.naming.entityColumn, entity)) }
        for column in schema.attributeColumns[family] {
            columns.append((column.name, try expression(column, oldRoot: oldRoot)))
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
            former?.isBuilt(as: table) == true && condition == nil && columns.allSatisfy { SQLText.name($0.0) == $0.1 }
        if isSame {
            keptTables.insert(table.name)
        } else {
            replace(oldTable, by: table, columns: columns, condition: condition)
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
        _ oldTable: String, _ known: Set<String>, to table: SQLSchema.Table, family: Int, columns: [(String, String)],
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
        for (column, source) in columns where SQLText.name(column) != source {
            guard !known.contains(column.lowercased()) else {
                // It may hold values already; those of the former column stay where they are.
                guard source == "NULL" || !isOldColumn(source, of: oldTable) else {
                    throw .adoptedTable(
                        table: table.name,
                        advice: "move the values of \(source) to \(column), or map it in SQLNaming.columns")
                }
                continue
            }
            guard !isOldColumn(source, of: oldTable), let declaration = schema.addition(of: column, toFamily: family)
            else {
                throw .adoptedTable(
                    table: table.name,
                    advice: "rename the column \(source) to \(column) with ALTER TABLE, or map it in SQLNaming.columns")
            }
            let name = SQLText.name(table.name)
            statements.append("ALTER TABLE \(name) ADD COLUMN \(declaration)")
            if source != "NULL", column != schema.naming.entityColumn {
                statements.append("UPDATE \(name) SET \(SQLText.name(column)) = \(source)")
            }
        }
    }

    /// Whether an expression reads a column that the old table had.
    private func isOldColumn(_ expression: String, of table: String) -> Bool {
        let columns = old.tables.first { $0.name == table }?.columns ?? []
        return columns.contains {
            expression == SQLText.name($0) || expression.hasPrefix("CAST(\(SQLText.name($0)) AS ")
        }
    }

    /// The expression that fills the column of entity names, nil without the column, and the
    /// condition on the rows to keep, nil for all.
    private func entityColumn(_ root: EntityLayout, oldRoot: String) -> (expression: String?, condition: String?) {
        let oldNames = old.entities.map(\.name).filter { old.root(of: $0) == oldRoot }
        var names: [(old: String, new: String)] = []
        for member in root.family {
            if let former = formerEntities[member] { names.append((former, schema.model.layouts[member].name)) }
        }
        guard oldNames.count > 1 else {
            return (root.family.count > 1 ? names.first.map { SQLText.literal($0.new) } : nil, nil)
        }
        let column = SQLText.name(old.entityColumn)
        let isComplete = names.count == oldNames.count
        let condition =
            isComplete ? nil : "\(column) IN (\(names.map { SQLText.literal($0.old) }.joined(separator: ", ")))"
        guard root.family.count > 1 else { return (nil, condition) }
        if names.allSatisfy({ $0.old == $0.new }) { return (column, condition) }
        let cases = names.map { "WHEN \(SQLText.literal($0.old)) THEN \(SQLText.literal($0.new))" }
        return ("CASE \(column) \(cases.joined(separator: " ")) END", condition)
    }

    /// The expression that fills an attribute's column.
    private func expression(_ column: SQLSchema.AttributeColumn, oldRoot: String) throws(SQLSchemaError) -> String {
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
        guard let found else { return defaultExpression(attribute, of: entity) }
        guard let type = AttributeType(rawValue: found.type), type.isContained(in: attribute.type) else {
            throw .narrowedType(entity: entity.name, attribute: attribute.name)
        }
        let name = SQLText.name(found.column)
        return schema.dialect.converted(name, from: type, to: attribute.type)
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
    ) throws(SQLSchemaError) -> [(String, String)] {
        let former = try former(relationship, of: layout)
        switch (schema.relationships[layout.index][relationship.index], former?.storage) {
        case (.column(let link), nil):
            return [(link.column, "NULL")] + (link.position.map { [($0, "NULL")] } ?? [])
        case (.column(let link), .column(let known)):
            let position = known.position.map(SQLText.name) ?? "NULL"
            return [(link.column, SQLText.name(known.column))] + (link.position.map { [($0, position)] } ?? [])
        case (.inverseColumn, nil), (.inverseColumn, .inverseColumn), (.join, nil), (.join, .join): return []
        default: throw .changedRelationship(entity: layout.name, relationship: relationship.name)
        }
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
                    (join.source, SQLText.name(known.source)), (join.target, SQLText.name(known.target)),
                ]
                if let position = join.position {
                    columns.append((position, known.position.map(SQLText.name) ?? "NULL"))
                }
                if let position = join.inversePosition {
                    columns.append((position, known.inversePosition.map(SQLText.name) ?? "NULL"))
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
                if oldTable?.isBuilt(as: table) == true, columns.allSatisfy({ SQLText.name($0.0) == $0.1 }) {
                    keptTables.insert(table.name)
                } else {
                    replace(known.table, by: table, columns: columns, condition: nil)
                }
                return
            }
        }
        createUnlessAdopted(table)
    }

    // MARK: Statements

    private mutating func replace(
        _ oldTable: String?, by table: SQLSchema.Table, columns: [(String, String)], condition: String?
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
            let columns = columns + additions.map { ($0.name, SQLText.name($0.name)) }
            let source = columns.map(\.1).joined(separator: ", ")
            let filter = condition.map { " WHERE \($0)" } ?? ""
            statements.append(
                "INSERT INTO \(SQLText.name(temporary)) (\(SQLText.names(columns.map(\.0)))) "
                    + "SELECT \(source) FROM \(SQLText.name(oldTable))\(filter)")
            if schema.families.contains(where: { $0.table == table.name }),
                let numbering = schema.dialect.numbering(temporary, objectColumn: schema.naming.rowColumn)
            {
                statements.append(numbering)
            }
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

extension AttributeType {
    /// Whether another type can hold every value of this one.
    fileprivate func isContained(in other: AttributeType) -> Bool {
        switch (self, other) {
        case _ where self == other: true
        // Any value that JSON has is JSON too.
        case (.int16, .json), (.int32, .json), (.int64, .json), (.double, .json), (.decimal, .json), (.string, .json),
            (.uri, .json), (.bool, .json), (.date, .json), (.uuid, .json):
            true
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double), (.uri, .string), (.uuid, .string),
            (.transformable, .binary), (.int16, .double), (.int16, .float), (.int32, .double), (.int16, .decimal),
            (.int32, .decimal), (.int64, .decimal):
            true
        default: false
        }
    }
}
