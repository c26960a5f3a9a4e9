import SyncModel

extension SQLMigration {
    /// How a column of a new table is filled.
    struct Filling {
        let column: String
        /// The declared type.
        let type: String
        /// The expression that computes the value from a row of the old table.
        let expression: String
        /// The old column that supplies the values, converted or not; nil for none.
        var former: String?
        var isMandatory = false

        /// Whether the values are copied unchanged.
        var isCopy: Bool { expression == former.map(SQLText.name) }
        /// Whether neither the column nor its values change.
        var isSame: Bool { isCopy && former == column }
    }
}

// How the columns of entity tables are filled.
extension SQLMigration {
    /// The filling of the column of entity names, and the condition on the rows to keep. The
    /// filling is nil without the column; the condition is nil to keep all rows.
    mutating func entityColumn(
        _ root: EntityLayout, oldRoot: String
    ) -> (filling: Filling?, condition: String?) {
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
        guard old.namesEntities(root: oldRoot) else {
            // All objects are of the root entity. The old schema may record sub-entities without
            // objects.
            let own = names.first { $0.old == oldRoot } ?? names.first
            return (root.family.count > 1 ? own.map { filling(SQLText.literal($0.new)) } : nil, nil)
        }
        let column = SQLText.name(old.entityColumn)
        let removed = oldNames.filter { name in !names.contains { $0.old == name } }
        var condition: String?
        var renamed = names.filter { $0.old != $0.new }
        if let retention, root.family.count > 1 {
            renamed += removed.map { ($0, retention.rowName(ofRemoved: $0)) }.filter { $0.0 != $0.1 }
        } else if retention != nil {
            // Without the column of entity names, these objects would become objects of another
            // entity.
            for name in removed { refuseObjects(of: name, oldRoot: oldRoot) }
        } else if !removed.isEmpty {
            condition = "\(column) IN (\(names.map { SQLText.literal($0.old) }.joined(separator: ", ")))"
        }
        guard root.family.count > 1 else { return (nil, condition) }
        guard !renamed.isEmpty else { return (filling(column, from: old.entityColumn), condition) }
        let cases = renamed.map { "WHEN \(SQLText.literal($0.old)) THEN \(SQLText.literal($0.new))" }
        let expression = "CASE \(column) \(cases.joined(separator: " ")) ELSE \(column) END"
        return (filling(expression, from: old.entityColumn), condition)
    }

    /// Makes the migration fail if objects of an entity exist.
    private mutating func refuseObjects(of entity: String, oldRoot: String) {
        guard let table = old.families[oldRoot] else { return }
        let condition = "\(SQLText.name(old.entityColumn)) = \(SQLText.literal(entity))"
        checks.append(
            (
                "SELECT 1 FROM \(schema.relation(table)) WHERE \(condition) LIMIT 1",
                .removedEntity(entity: entity, table: table)
            ))
    }

    /// The filling of an attribute's column.
    func filling(_ column: SQLSchema.AttributeColumn, oldRoot: String) throws(SQLSchemaError) -> Filling {
        let attribute = column.attribute
        let entity = schema.model.layouts[column.source]
        var found: SQLSchemaDescription.Attribute?
        if let stored = formerEntities[column.source].flatMap({ old.entity($0) })?.attributes {
            let wanted = entity.entity.attributes
            let counterparts = SQLRenaming.counterparts(
                of: wanted.map { .init($0.name, formerName: $0.formerName) },
                in: stored.map { .init($0.name, formerName: $0.formerName) })
            found = wanted.firstIndex { $0.name == attribute.name }.flatMap { counterparts[$0] }.map { stored[$0] }
        }
        if found == nil {
            // Another entity of the family may have declared the attribute.
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
                column: column.name, type: columnType,
                expression: defaultExpression(attribute, of: entity, oldRoot: oldRoot))
        }
        guard let type = AttributeType(rawValue: found.type), type.isContained(in: attribute.type) else {
            throw .narrowedType(entity: entity.name, attribute: attribute.name)
        }
        let converted = converted(SQLText.name(found.column), from: type, to: attribute)
        return Filling(column: column.name, type: columnType, expression: converted, former: found.column)
    }

    /// A column's values, converted to the type of an attribute.
    private func converted(_ column: String, from type: AttributeType, to attribute: SyncAttribute) -> String {
        guard type == .uuid, attribute.type != .uuid else {
            return schema.dialect.converted(column, from: type, to: attribute.type)
        }
        let text = schema.dialect.converted(column, from: .uuid, to: .string)
        return schema.dialect.converted(
            attribute.hasLowercaseUUIDs ? "lower(\(text))" : text, from: .string, to: attribute.type)
    }

    private func defaultExpression(_ attribute: SyncAttribute, of entity: EntityLayout, oldRoot: String) -> String {
        let literal = schema.dialect.defaultLiteral(schema.binding(attribute.defaultValue)) ?? "NULL"
        guard literal != "NULL", entity.parent != nil else { return literal }
        let oldNames = entity.family.compactMap { formerEntities[$0] }
        guard !oldNames.isEmpty else { return "NULL" }
        guard old.namesEntities(root: oldRoot) else { return oldNames.contains(oldRoot) ? literal : "NULL" }
        let list = oldNames.map(SQLText.literal).joined(separator: ", ")
        return "CASE WHEN \(SQLText.name(old.entityColumn)) IN (\(list)) THEN \(literal) END"
    }
}
