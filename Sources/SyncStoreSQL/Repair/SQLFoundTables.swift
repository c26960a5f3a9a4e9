/// What a database has of the tables of a store. Names are as the database compares them.
package struct SQLFoundTables {
    /// A name within a table.
    package struct Name: Hashable, Sendable {
        let table: [UInt8]
        let name: [UInt8]

        package init(_ name: String, of table: String, _ dialect: any SQLDialect) {
            self.table = dialect.folded(table)
            self.name = dialect.folded(name)
        }
    }

    private let dialect: any SQLDialect
    private var tables: Set<[UInt8]> = []
    private var columns: Set<Name> = []
    private var indices: Set<Name> = []
    private var invalidIndices: Set<Name> = []
    private var otherIndices: Set<Name> = []
    /// The columns of unique indices, as in ``SQLSchema/Index/columns``.
    private var uniqueColumns: Set<Name> = []
    /// Nil if foreign keys are part of the tables' definitions.
    private var foreignKeys: Set<Name>?
    /// Foreign keys that are not validated.
    private var unsureKeys: Set<Name> = []
    /// The tables with a primary key; nil if no other program can drop one.
    private var primaryKeys: Set<[UInt8]>?

    /// Creates a description without tables.
    ///
    /// - Parameter hasSeparateKeys: Whether keys can be dropped without their tables.
    package init(_ dialect: any SQLDialect, hasSeparateKeys: Bool) {
        self.dialect = dialect
        foreignKeys = hasSeparateKeys ? [] : nil
        primaryKeys = hasSeparateKeys ? [] : nil
    }

    /// A part of a table that was found.
    package enum Part {
        case column, index, invalidIndex, foreignKey, unsureKey, primaryKey
        /// An index with the name of one of the store's, but with another definition.
        case otherIndex
        /// The columns of a unique index instead of its name, as in ``SQLSchema/Index/columns``.
        case uniqueColumns
    }

    /// Adds a part of a table.
    package mutating func add(_ part: Part, _ name: String, of table: String) {
        let name = Name(name, of: table, dialect)
        switch part {
        case .column:
            tables.insert(name.table)
            columns.insert(name)
        case .index: indices.insert(name)
        case .invalidIndex: invalidIndices.insert(name)
        case .otherIndex:
            indices.insert(name)
            otherIndices.insert(name)
        case .foreignKey: foreignKeys?.insert(name)
        case .unsureKey: unsureKeys.insert(name)
        case .uniqueColumns: uniqueColumns.insert(name)
        case .primaryKey: primaryKeys?.insert(name.table)
        }
    }

    /// Whether a unique index of others does the work of an index of identities.
    package func hasEqual(of index: SQLSchema.Index, of table: String) -> Bool {
        index.isUnique && index.attributes == nil
            && uniqueColumns.contains(Name(index.columns, of: table, dialect))
    }

    /// Whether an index exists but cannot be used, because its creation failed or it has another
    /// definition.
    func isInvalid(index: String, of table: String) -> Bool {
        let name = Name(index, of: table, dialect)
        return invalidIndices.contains(name) || otherIndices.contains(name)
    }

    /// Whether a foreign key exists but is not validated.
    func isUnsure(foreignKey: String, of table: String) -> Bool {
        unsureKeys.contains(Name(foreignKey, of: table, dialect))
    }

    /// The parts of tables that the database lacks.
    ///
    /// - Parameters:
    ///   - tables: The tables.
    ///   - existing: Those that the store did not create. Their columns and keys belong to others.
    package func defects(
        of tables: [SQLSchema.Table], existing: some Collection<String>
    ) -> [SQLSchemaError.Defect] {
        tables.flatMap { table -> [SQLSchemaError.Defect] in
            func missing(_ part: SQLSchemaError.Defect.Part) -> SQLSchemaError.Defect {
                .init(table: table.name, part: part)
            }
            func name(_ name: String) -> Name { Name(name, of: table.name, dialect) }
            let folded = dialect.folded(table.name)
            guard self.tables.contains(folded) else { return [missing(.table)] }
            let isExisting = existing.contains(table.name)
            let lostIndices = table.indices.filter { index in
                guard indices.contains(name(index.name)) else {
                    return !(isExisting && hasEqual(of: index, of: table.name))
                }
                return !isExisting && otherIndices.contains(name(index.name))
            }.map { missing(.index($0.name)) }
            guard !isExisting else { return lostIndices }
            let lostColumns = table.columns.filter { !columns.contains(name($0)) }.map { missing(.column($0)) }
            let lostKey = primaryKeys?.contains(folded) == false ? [missing(.primaryKey)] : []
            let lostReferences = (table.foreignKeys ?? []).filter { foreignKeys?.contains(name($0.name)) == false }
            return lostColumns + lostKey + lostIndices + lostReferences.map { missing(.foreignKey($0.name)) }
        }
    }
}
