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
        /// Whether the expression is the same value for all rows.
        var isConstant = false

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
            var constant = own.map { filling(SQLText.literal($0.new)) }
            constant?.isConstant = true
            return (root.family.count > 1 ? constant : nil, nil)
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

    /// The stored attribute that a column continues; nil if the attribute is new.
    private func stored(_ column: SQLSchema.AttributeColumn, oldRoot: String) -> SQLSchemaDescription.Attribute? {
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
        return found
    }

    /// The filling of an attribute's column.
    ///
    /// - Parameter table: The present name of the old table.
    mutating func filling(
        _ column: SQLSchema.AttributeColumn, oldRoot: String, in table: String
    ) throws(SQLSchemaError) -> Filling {
        let attribute = column.attribute
        let entity = schema.model.layouts[column.source]
        let columnType = schema.dialect.columnType(attribute.type, dates: schema.dates)
        guard let found = stored(column, oldRoot: oldRoot) else {
            let expression = defaultExpression(attribute, of: entity, oldRoot: oldRoot)
            return Filling(
                column: column.name, type: columnType, expression: expression,
                isConstant: rowCondition(of: entity, oldRoot: oldRoot) == nil)
        }
        guard let type = AttributeType(rawValue: found.type) else { throw .unreadable }
        let isChanged = found.name != attribute.name || type != attribute.type
        let hook = isChanged ? hooks.last { $0.entity == entity.name && $0.attribute == attribute.name } : nil
        guard hook != nil || !type.isContained(in: attribute.type) else {
            let converted = converted(SQLText.name(found.column), from: type, to: attribute)
            return Filling(column: column.name, type: columnType, expression: converted, former: found.column)
        }
        let conversion = SQLValueConversion(
            of: found.column, as: type, to: attribute, of: entity.name, in: table,
            rowColumn: SQLText.name(old.rowColumn), condition: rowCondition(of: entity, oldRoot: oldRoot),
            identity: identity(of: entity, oldRoot: oldRoot), hook: hook, number: conversions.count, schema: schema)
        conversions.append(conversion)
        return Filling(
            column: column.name, type: columnType, expression: conversion.expression, former: found.column)
    }

    /// The columns of an entity's identity in the old table, and their types; empty if it has none
    /// there.
    private func identity(of entity: EntityLayout, oldRoot: String) -> [(column: String, type: AttributeType)] {
        let family = schema.attributeColumns[schema.familyIndex[entity.index]]
        let columns = entity.identityColumns.map { column -> (column: String, type: AttributeType)? in
            let name = schema.columns[entity.index][column]
            guard let stored = family.first(where: { $0.name == name }).flatMap({ stored($0, oldRoot: oldRoot) }),
                let type = AttributeType(rawValue: stored.type)
            else { return nil }
            return (stored.column, type)
        }
        return columns.contains { $0 == nil } ? [] : columns.compactMap(\.self)
    }

    /// The statement that gives objects the default of an attribute that has become mandatory; nil
    /// if there is nothing to do.
    func defaultFilling(_ column: SQLSchema.AttributeColumn, oldRoot: String, in table: String) -> String? {
        let attribute = column.attribute
        guard attribute.fillsNull, let found = stored(column, oldRoot: oldRoot), found.fillsNull != true,
            let literal = schema.dialect.defaultLiteral(schema.binding(attribute.defaultValue))
        else { return nil }
        let entity = schema.model.layouts[column.source]
        let name = SQLText.name(column.name)
        var condition = "\(name) IS NULL"
        if entity.parent != nil { condition += " AND \(schema.membership(of: entity))" }
        return "UPDATE \(schema.relation(table)) SET \(name) = \(literal) WHERE \(condition)"
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
        guard literal != "NULL", let condition = rowCondition(of: entity, oldRoot: oldRoot) else { return literal }
        return condition == Self.never ? "NULL" : "CASE WHEN \(condition) THEN \(literal) END"
    }

    private static let never = "1 = 0"

    /// The condition that a row of the old table belongs to an entity or its sub-entities; nil if
    /// every row does.
    private func rowCondition(of entity: EntityLayout, oldRoot: String) -> String? {
        guard entity.parent != nil else { return nil }
        let oldNames = entity.family.compactMap { formerEntities[$0] }
        guard !oldNames.isEmpty else { return Self.never }
        guard old.namesEntities(root: oldRoot) else { return oldNames.contains(oldRoot) ? nil : Self.never }
        let list = oldNames.map(SQLText.literal).joined(separator: ", ")
        return "\(SQLText.name(old.entityColumn)) IN (\(list))"
    }
}
