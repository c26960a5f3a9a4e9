import SyncModel

/// Keeps what a model of the same version no longer has.
///
/// A program without an attribute may be older than the program that added it. The tables, columns
/// and objects therefore stay, and the database continues to record them, until a higher model
/// version removes them. If something new needs the name, the old table or column is renamed and no
/// longer recorded.
struct SQLRetention {
    private let old: SQLSchemaDescription
    private let new: SQLSchemaDescription
    private let dialect: any SQLDialect
    /// The suffix for tables, columns and entities whose names are needed.
    private static let suffix = "_removed"
    /// The current name of each entity table.
    private var tableNames: [String: String] = [:]
    /// The current name of each old entity that is still recorded.
    private var entityNames: [String: String] = [:]
    /// The recorded columns of old tables that no new column continues, by table.
    private var columns: [String: Set<String>] = [:]
    /// The tables of the new schema with their retained columns, by name.
    private var merged: [String: SQLSchema.Table] = [:]
    /// The recorded tables that no new table continues.
    private var tables: [SQLSchema.Table] = []
    private var takenNames: SQLNames
    /// The foreign keys that stay, by table and name.
    private(set) var foreignKeys: Set<[String]> = []

    /// Creates a retention.
    ///
    /// - Parameters:
    ///   - former: The former name of each entity of the model.
    ///   - names: The names of everything in the database.
    init(
        _ old: SQLSchemaDescription, to new: SQLSchemaDescription, schema: SQLSchema, former: [String?],
        names: Set<String>
    ) {
        self.old = old
        self.new = new
        dialect = schema.dialect
        takenNames = SQLNames(schema.dialect)
        for name in names { takenNames.reserve(name) }
        for table in old.tables + new.tables {
            takenNames.reserve(table.name)
            for index in table.indices { takenNames.reserve(index.name) }
        }
        for layout in schema.model.layouts {
            guard let name = former[layout.index] else { continue }
            entityNames[name] = layout.name
            if let table = old.families[old.root(of: name)] { tableNames[table] = schema.table(of: layout.index) }
        }
        for table in old.families.values.sorted() where tableNames[table] == nil { tableNames[table] = freeName(table) }
        for entity in old.entities where entityNames[entity.name] == nil && new.entity(entity.name) == nil {
            let table = old.families[old.root(of: entity.name)]
            if table.map({ hasPlace($0) }) == true { entityNames[entity.name] = entity.name }
        }
    }

    /// Whether the objects of an old table are still in the recorded table.
    private func hasPlace(_ table: String) -> Bool {
        guard let name = tableNames[table] else { return false }
        return name == table || new.tables.contains { $0.name == name }
    }

    /// The name of a retained table: its own or, if a new table needs that, another.
    private mutating func freeName(_ table: String) -> String {
        guard new.tables.contains(where: { $0.name.lowercased() == table.lowercased() }) else { return table }
        return takenNames.take(table + Self.suffix, otherwise: table + Self.suffix)
    }

    /// The name that rows of a removed entity have.
    func rowName(ofRemoved entity: String) -> String {
        new.entity(entity) == nil ? entity : entity + Self.suffix
    }

    // MARK: Columns

    /// Adds the columns of an old table that no new column continues to the table that replaces it.
    ///
    /// - Parameters:
    ///   - fillings: The columns of the new table.
    ///   - additions: The names of columns that other tools added.
    /// - Returns: The table with these columns, and how they are filled.
    mutating func keepColumns(
        of former: SQLSchema.Table, in table: SQLSchema.Table, _ fillings: [SQLMigration.Filling],
        additions: [String]
    ) throws(SQLSchemaError) -> (table: SQLSchema.Table, fillings: [SQLMigration.Filling]) {
        let used = Set(fillings.compactMap(\.former))
        let unused = former.columns.filter { !used.contains($0) && $0 != old.entityColumn }
        guard !unused.isEmpty else { return (table, []) }
        guard let declarations = former.declarations else { throw .unreadable }
        let wanted = Set(table.columns.map { $0.lowercased() })
        var names = SQLNames(dialect)
        for name in former.columns + table.columns + additions { names.reserve(name) }
        var kept: [SQLMigration.Filling] = []
        var lines: [String] = []
        for column in unused {
            let isTaken = wanted.contains(column.lowercased())
            let name = isTaken ? names.take(column + Self.suffix, otherwise: column + Self.suffix) : column
            let declaration = mapped(declarations[column] ?? "")
            lines.append("\(SQLText.name(name)) \(declaration)")
            kept.append(
                SQLMigration.Filling(
                    column: name, type: declaration, expression: SQLText.name(column), former: column))
            if !isTaken { columns[former.name, default: []].insert(column) }
        }
        let keys = (former.foreignKeys ?? []).filter { key in
            unused.contains { isRecorded($0, of: former.name) && key.isOf($0) }
        }
        for key in keys { foreignKeys.insert([former.name, key.name]) }
        let result = SQLSchema.Table(
            name: table.name, columns: table.columns + kept.map(\.column),
            definition: ([table.definition] + lines).joined(separator: ", "), indices: table.indices,
            foreignKeys: table.foreignKeys.map { $0 + keys.map(mapped) })
        merged[table.name] = result
        return (result, kept)
    }

    private func isRecorded(_ column: String, of table: String) -> Bool {
        columns[table]?.contains(column) == true
    }

    // MARK: Tables

    /// Keeps an old table that no new table continues.
    ///
    /// - Returns: The retained table. If its name changed, it is no longer recorded.
    mutating func keep(_ table: SQLSchema.Table) -> SQLSchema.Table {
        let name = tableNames[table.name] ?? freeName(table.name)
        let isRecorded = name == table.name
        let newIndices = Set(new.tables.flatMap(\.indices).map { $0.name.lowercased() })
        let kept = SQLSchema.Table(
            name: name, columns: table.columns, definition: mapped(table.definition),
            indices: isRecorded ? table.indices.filter { !newIndices.contains($0.name.lowercased()) } : [],
            foreignKeys: table.foreignKeys.map { $0.map(mapped) })
        for key in table.foreignKeys ?? [] { foreignKeys.insert([table.name, key.name]) }
        if isRecorded { tables.append(kept) }
        return kept
    }

    private func mapped(_ key: SQLSchema.ForeignKey) -> SQLSchema.ForeignKey {
        SQLSchema.ForeignKey(name: key.name, definition: mapped(key.definition))
    }

    /// A part of a definition with the current names of the tables that it refers to.
    private func mapped(_ definition: String) -> String {
        let parts = definition.split(separator: "REFERENCES ", omittingEmptySubsequences: false)
        let rest = parts.dropFirst().map { part in
            for (table, name) in tableNames where table != name && part.hasPrefix("\(SQLText.name(table))(") {
                return SQLText.name(name) + part.dropFirst(SQLText.name(table).count)
            }
            return String(part)
        }
        return (parts.prefix(1).map(String.init) + rest).joined(separator: "REFERENCES ")
    }

    // MARK: The record

    /// The description of the database after the migration.
    func description() -> SQLSchemaDescription {
        var result = new
        result.tables = new.tables.map { merged[$0.name] ?? $0 } + tables
        for (root, table) in old.families
        where entityNames[root] == root && tables.contains(where: { $0.name == table }) {
            result.families[root] = table
        }
        for entity in old.entities {
            guard let name = entityNames[entity.name] else { continue }
            if let index = result.entities.firstIndex(where: { $0.name == name }) {
                let known = result.entities[index]
                let names = Set(known.attributes.map(\.name) + known.relationships.map(\.name))
                result.entities[index].attributes += attributes(of: entity).filter { !names.contains($0.name) }
                result.entities[index].relationships += relationships(of: entity).filter { !names.contains($0.name) }
            } else {
                var kept = entity
                kept.parent = entity.parent.flatMap { entityNames[$0] }
                kept.attributes = attributes(of: entity)
                kept.relationships = relationships(of: entity)
                result.entities.append(kept)
            }
        }
        return result
    }

    private func isKept(_ column: String, of table: String) -> Bool {
        isRecorded(column, of: table) || tables.contains { $0.name == table }
    }

    private func attributes(of entity: SQLSchemaDescription.Entity) -> [SQLSchemaDescription.Attribute] {
        guard let table = old.families[old.root(of: entity.name)] else { return [] }
        return entity.attributes.filter { isKept($0.column, of: table) }
    }

    private func relationships(
        of entity: SQLSchemaDescription.Entity
    ) -> [SQLSchemaDescription.Relationship] {
        entity.relationships.compactMap { relationship in
            guard let destination = entityNames[relationship.destination], let storage = kept(relationship.storage)
            else { return nil }
            var kept = relationship
            kept.destination = destination
            kept.storage = storage
            return kept
        }
    }

    private func kept(_ storage: SQLSchema.Storage) -> SQLSchema.Storage? {
        switch storage {
        case .column(let link): kept(link).map { .column($0) }
        case .inverseColumn(let link): kept(link).map { .inverseColumn($0) }
        case .join(let link): kept(link).map { .join($0) }
        }
    }

    private func kept(_ link: SQLSchema.ColumnLink) -> SQLSchema.ColumnLink? {
        guard isKept(link.column, of: link.table), let table = tableNames[link.table],
            let target = tableNames[link.target]
        else { return nil }
        return SQLSchema.ColumnLink(
            table: table, column: link.column,
            position: link.position.flatMap { isKept($0, of: link.table) ? $0 : nil }, target: target)
    }

    private func kept(_ link: SQLSchema.JoinLink) -> SQLSchema.JoinLink? {
        guard tables.contains(where: { $0.name == link.table }), let source = tableNames[link.sourceTable],
            let target = tableNames[link.targetTable]
        else { return nil }
        return SQLSchema.JoinLink(
            table: link.table, source: link.source, target: link.target, position: link.position,
            inversePosition: link.inversePosition, isSymmetric: link.isSymmetric, sourceTable: source,
            targetTable: target)
    }
}

extension SQLSchema.Table {
    /// The declaration of each column in the definition, without its name; nil if the package did
    /// not write the definition.
    var declarations: [String: String]? {
        var declarations: [String: String] = [:]
        var rest = definition[...]
        for (index, column) in columns.enumerated() {
            let start = SQLText.name(column) + " "
            guard rest.hasPrefix(start) else { return nil }
            rest = rest.dropFirst(start.count)
            guard index + 1 < columns.count else {
                declarations[column] = String(rest)
                break
            }
            guard let end = rest.firstRange(of: ", \(SQLText.name(columns[index + 1])) ") else { return nil }
            declarations[column] = String(rest[..<end.lowerBound])
            rest = rest[end.lowerBound...].dropFirst(2)
        }
        return declarations
    }
}
