import SyncModel

extension SQLSchema {
    /// A table of the schema, with the statements that create it.
    package struct Table: Hashable, Sendable, Codable {
        package let name: String
        /// The names of its columns.
        package let columns: [String]
        /// The text between the parentheses of its definition.
        package let definition: String
        /// Its indices.
        package let indices: [Index]
        /// The foreign keys that are not part of the definition; nil if all are.
        package let foreignKeys: [ForeignKey]?

        /// Whether another table has the same name, columns and indices. Separate foreign keys may
        /// differ.
        func isBuilt(as other: Table) -> Bool {
            name == other.name && definition == other.definition && indices == other.indices
        }

        /// The statement that creates it, with its own name or another.
        package func creation(as name: String? = nil, _ dialect: any SQLDialect) -> String {
            "CREATE TABLE \(dialect.relation(name ?? self.name)) (\(definition))"
        }
    }

    /// A foreign key that is created after all tables.
    package struct ForeignKey: Hashable, Sendable, Codable {
        package let name: String
        package let definition: String

        /// Whether deleting the referenced row deletes the row.
        package var isCascade: Bool { definition.contains(" \(SyncRelationship.DeleteRule.cascade.onDelete) ") }

        /// The statement that creates it.
        ///
        /// - Parameter isValidated: Whether the rows are checked at once; true by default. If not,
        ///   ``validation(on:_:)`` checks them, while others can read and write.
        package func creation(on table: String, _ dialect: any SQLDialect, isValidated: Bool = true) -> String {
            dialect.findingTables(
                "ALTER TABLE \(SQLText.name(table)) ADD CONSTRAINT \(SQLText.name(name)) \(definition)"
                    + (isValidated ? "" : " NOT VALID"))
        }

        /// The statement that checks the rows that were there before it.
        package func validation(on table: String, _ dialect: any SQLDialect) -> String {
            "ALTER TABLE \(dialect.relation(table)) VALIDATE CONSTRAINT \(SQLText.name(name))"
        }

        /// The statement that drops it.
        package func removal(from table: String, _ dialect: any SQLDialect) -> String {
            "ALTER TABLE \(dialect.relation(table)) DROP CONSTRAINT IF EXISTS \(SQLText.name(name))"
        }
    }

    /// An index of a table.
    package struct Index: Hashable, Sendable, Codable {
        package let isUnique: Bool
        package let name: String
        /// The columns in parentheses, followed by the condition of a partial index.
        package let columns: String
        /// The attributes of an index that the model declares; nil for other indices.
        package var attributes: [String]?

        /// The statement that creates it.
        package func creation(on table: String, _ dialect: any SQLDialect) -> String {
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.name(name)) ON \(dialect.relation(table)) \(columns)"
        }
    }

    /// All tables: first those of entities, then the join tables.
    package var tables: [Table] {
        var names = SQLNames(dialect)
        for family in families { names.reserve(family.table) }
        for join in joins { names.reserve(join.table) }
        return families.indices.map { entityTable($0, &names) } + joins.map { joinTable($0, &names) }
    }

    /// The declaration of a column to be added to a family's table; nil for an unknown column.
    package func addition(of name: String, toFamily family: Int) -> String? {
        if let column = attributeColumns[family].first(where: { $0.name == name }) {
            let type =
                strictTables.contains(families[family].table)
                ? dialect.strictColumnType(column.attribute.type, dates: dates)
                : dialect.columnType(column.attribute.type, dates: dates)
            return "\(SQLText.name(name)) \(type)"
        }
        for (link, rule) in references[family] {
            if link.position == name { return "\(SQLText.name(name)) \(dialect.referenceType)" }
            guard link.column == name else { continue }
            let declaration = "\(SQLText.name(name)) \(dialect.referenceType)"
            return dialect.addsForeignKeysLater
                ? declaration : "\(declaration) \(reference(to: link.target, rule.onDelete))"
        }
        guard name == naming.entityColumn, families[family].namesEntity else { return nil }
        let root = SQLText.literal(model.layouts[families[family].root].name)
        return "\(entityColumn) \(dialect.entityDeclaration) DEFAULT \(root)"
    }

    /// The unique index of an entity's identities if it is the only entity of its family; nil
    /// without an identity.
    package func identityIndex(of entity: Int) -> String? {
        tables[familyIndex[entity]].indices.first { $0.isUnique && $0.attributes == nil }?.name
    }

    private func entityTable(_ family: Int, _ names: inout SQLNames) -> Table {
        let table = families[family].table
        var columns = [naming.rowColumn]
        var lines = ["\(rowColumn) \(dialect.objectDeclaration)"]
        var foreignKeys: [ForeignKey] = []
        if families[family].namesEntity {
            columns.append(naming.entityColumn)
            lines.append("\(entityColumn) \(dialect.entityDeclaration)")
        }
        for column in attributeColumns[family] {
            columns.append(column.name)
            let type = dialect.columnType(column.attribute.type, dates: dates)
            lines.append("\(SQLText.name(column.name)) \(type)")
        }
        var indices = identityIndices(family, &names)
        for (link, rule) in references[family] {
            columns += [link.column] + (link.position.map { [$0] } ?? [])
            let reference = reference(to: link.target, rule.onDelete)
            lines.append(referring(link.column, reference, from: table, &foreignKeys, &names))
            if let position = link.position {
                lines.append("\(SQLText.name(position)) \(dialect.referenceType)")
            }
            let column = SQLText.name(link.column)
            indices.append(
                Index(
                    isUnique: false, name: names.takeIndex("\(table)_\(link.column)"),
                    columns: "(\(column)) WHERE \(column) IS NOT NULL"))
        }
        indices += declaredIndices(family, &names)
        return Table(
            name: table, columns: columns, definition: lines.joined(separator: ", "), indices: indices,
            foreignKeys: dialect.addsForeignKeysLater ? foreignKeys : nil)
    }

    private func reference(to table: String, _ action: String) -> String {
        let column = keyColumns[table].map(SQLText.name) ?? rowColumn
        return "REFERENCES \(SQLText.name(table))(\(column)) \(action) DEFERRABLE INITIALLY DEFERRED"
    }

    /// The declaration of a column that refers to rows. A foreign key to be created later is
    /// appended.
    private func referring(
        _ column: String, _ reference: String, from table: String, constraint: String = "",
        _ foreignKeys: inout [ForeignKey], _ names: inout SQLNames
    ) -> String {
        let declaration = "\(SQLText.name(column)) \(dialect.referenceType)\(constraint)"
        guard dialect.addsForeignKeysLater else { return "\(declaration) \(reference)" }
        foreignKeys.append(
            ForeignKey(
                name: names.takeIndex("\(table)_\(column)_fkey"),
                definition: "FOREIGN KEY (\(SQLText.name(column))) \(reference)"))
        return declaration
    }

    private func identityIndices(_ family: Int, _ names: inout SQLNames) -> [Index] {
        let root = families[family].root
        var indices: [Index] = []
        for place in model.layouts[root].family {
            let layout = model.layouts[place]
            guard layout.hasIdentity, identityScope(of: place) == place else { continue }
            let columns = layout.identityColumns.map { SQLText.name(self.columns[place][$0]) }
            let owner = layout.entity.bookkeepingTable ?? layout.name
            indices.append(
                identityIndex(
                    place, family, columns, lengthCondition(place, isLong: false),
                    names.takeIndex("\(owner)_identity")))
            guard let condition = lengthCondition(place, isLong: true) else { continue }
            let hashes = zip(layout.identityColumns, columns).map { "(\(longKey(place, $0, of: $1)))" }
            indices.append(
                identityIndex(
                    place, family, hashes, condition, names.takeIndex("\(owner)_long_identity")))
        }
        return indices
    }

    /// The indices that the model declares.
    private func declaredIndices(_ family: Int, _ names: inout SQLNames) -> [Index] {
        var indices: [Index] = []
        for place in model.layouts[families[family].root].family {
            let layout = model.layouts[place]
            for index in model.indexes(of: layout) {
                let columns = index.columns.map { self.columns[place][$0] }
                var text = "(\(indexTerms(index, entity: place).joined(separator: ", ")))"
                var conditions = index.condition.map { indexConditions($0, entity: place) } ?? []
                if layout.parent != nil { conditions.append(membership(of: layout)) }
                if !conditions.isEmpty { text += " WHERE \(conditions.joined(separator: " AND "))" }
                let name = names.takeIndex("\(layout.name)_by_\(columns.joined(separator: "_"))")
                indices.append(
                    Index(
                        isUnique: index.isUnique, name: name, columns: text,
                        attributes: index.columns.map { layout.attributes[$0].name }))
            }
        }
        return indices
    }

    /// The terms of an index: columns, prefixes of long values and, in a unique index, hashes of
    /// them.
    private func indexTerms(_ index: IndexLayout, entity: Int) -> [String] {
        var terms: [String] = []
        var digests: [String] = []
        for column in index.columns {
            let name = SQLText.name(columns[entity][column])
            let type = model.layouts[entity].attributes[column].type
            guard let part = dialect.indexedPart(name, type) else {
                terms.append(name + dialect.indexOrder)
                continue
            }
            terms.append(part + dialect.indexOrder)
            if index.isUnique, let longKeys = dialect.longKeys { digests.append("(\(longKeys.digest(name, type)))") }
        }
        return terms + digests
    }

    /// The parts of an index's condition, with values as literals.
    private func indexConditions(_ condition: RecordPredicate.Bound, entity: Int) -> [String] {
        func column(_ key: PropertyPath.Bound) -> String {
            guard case .attribute(let column, _) = key.leaf else { return "" }
            return SQLText.name(columns[entity][column])
        }
        switch condition {
        case .comparison(let key, let comparison, let value):
            // The model has verified that every value has a literal.
            let literal = dialect.literal(binding(value)) ?? "NULL"
            return ["\(column(key)) \(comparison.rawValue) \(literal)"]
        case .isNull(let key): return ["\(column(key)) IS NULL"]
        case .not(.isNull(let key)): return ["\(column(key)) IS NOT NULL"]
        case .and(let parts): return parts.flatMap { indexConditions($0, entity: entity) }
        default: return []
        }
    }

    /// The attributes of a unique index that the model declares; nil if it declares no such index.
    package func attributes(ofUniqueIndex name: String, entity: Int) -> [String]? {
        tables[familyIndex[entity]].indices.first { $0.isUnique && $0.name == name }?.attributes
    }

    /// The error for equal values in a unique index; nil if the statement does not create one.
    package func equalValues(creating statement: String) -> SQLSchemaError? {
        tables.equalValues(creating: statement, dialect)
    }

    private func identityIndex(
        _ place: Int, _ family: Int, _ expressions: [String], _ length: String?, _ name: String
    ) -> Index {
        let expressions = expressions + (families[family].namesEntity ? [entityColumn] : [])
        let conditions = [scopeCondition(place), length].compactMap(\.self)
        let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        return Index(isUnique: true, name: name, columns: "(\(expressions.joined(separator: ", ")))\(filter)")
    }

    /// The condition of a unique index that a row's entity belongs to an identity scope. Nil if all
    /// entities of the family do.
    package func scopeCondition(_ scope: Int) -> String? {
        let members = members(ofScope: scope)
        guard members.count < model.layouts[model.layouts[scope].root].family.count else { return nil }
        let names = members.map { SQLText.literal(model.layouts[$0].name) }
        return "\(entityColumn) IN (\(names.joined(separator: ", ")))"
    }

    private func joinTable(_ join: JoinLink, _ names: inout SQLNames) -> Table {
        let source = SQLText.name(join.source)
        let target = SQLText.name(join.target)
        var foreignKeys: [ForeignKey] = []
        var lines: [String] = []
        for (column, table) in [(join.source, join.sourceTable), (join.target, join.targetTable)] {
            let reference = reference(to: table, SyncRelationship.DeleteRule.cascade.onDelete)
            lines.append(
                referring(column, reference, from: join.table, constraint: " NOT NULL", &foreignKeys, &names))
        }
        for position in [join.position, join.inversePosition].compactMap({ $0 }) {
            lines.append("\(SQLText.name(position)) \(dialect.referenceType)")
        }
        lines.append("PRIMARY KEY (\(source), \(target))")
        let index = Index(
            isUnique: false, name: names.takeIndex("\(join.table)_\(join.target)"), columns: "(\(target))")
        let columns = [join.source, join.target] + [join.position, join.inversePosition].compactMap { $0 }
        return Table(
            name: join.table, columns: columns, definition: lines.joined(separator: ", "), indices: [index],
            foreignKeys: dialect.addsForeignKeysLater ? foreignKeys : nil)
    }
}

extension [SQLSchema.Table] {
    fileprivate func equalValues(creating statement: String, _ dialect: any SQLDialect) -> SQLSchemaError? {
        guard let (table, index) = index(creating: statement, dialect), index.isUnique else { return nil }
        return .equalValues(table: table, index: "\(index.name) \(index.columns)")
    }

    fileprivate func index(
        creating statement: String, _ dialect: any SQLDialect
    ) -> (table: String, index: SQLSchema.Index)? {
        for table in self {
            for index in table.indices where index.creation(on: table.name, dialect) == statement {
                return (table.name, index)
            }
        }
        return nil
    }
}

extension SQLSchemaDescription {
    /// The error for equal values in a unique index; nil if the statement does not create one.
    package func equalValues(creating statement: String, _ dialect: any SQLDialect) -> SQLSchemaError? {
        tables.equalValues(creating: statement, dialect)
    }

    /// The error for an index whose name something else has; nil if the statement does not create
    /// an index.
    package func takenName(creating statement: String, _ dialect: any SQLDialect) -> SQLSchemaError? {
        tables.index(creating: statement, dialect).map { table, index in
            .unfitDependentObject(
                name: index.name, reason: "\(table) lacks an index of this name; rename or drop the other")
        }
    }
}

extension SyncRelationship.DeleteRule {
    /// The action of a foreign key when the referenced object is deleted.
    ///
    /// A store applies the delete rules itself, because it reports deleted objects. The foreign
    /// keys apply them for other programs.
    fileprivate var onDelete: String {
        switch self {
        case .cascade: "ON DELETE CASCADE"
        case .deny: "ON DELETE NO ACTION"
        case .nullify, .noAction: "ON DELETE SET NULL"
        }
    }
}
