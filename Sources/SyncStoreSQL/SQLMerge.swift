package import SyncModel

/// Writes the statements that merge records of one entity.
package struct SQLMerge: Sendable {
    package let layout: EntityLayout
    package let columns: SQLQueries.Columns
    private let schema: SQLSchema

    package init(_ entity: Int, schema: SQLSchema) {
        self.schema = schema
        layout = schema.model.layouts[entity]
        columns = SQLQueries(schema).columns(of: entity)
    }

    private var table: String {
        SQLText.name(schema.table(of: layout.index))
    }

    private var selection: String {
        let own = schema.columns[layout.index].map(SQLText.name)
        let head = [schema.rowColumn] + (columns.namesEntity ? [schema.entityColumn] : [])
        return "SELECT \((head + own).joined(separator: ", ")) FROM \(table) t"
    }

    /// Where the columns of slots start in what the selections give.
    package var firstSlotColumn: Int {
        columns.namesEntity ? 2 : 1
    }

    /// Selects the object of an identity, whose values are the parameters; of several of different entities, the entity's own, else the first.
    package var selectionByIdentity: String {
        var conditions = layout.identitySlots.map { "\(SQLText.name(schema.columns[layout.index][$0])) = ?" }
        let scope = schema.identityScope(of: layout.index)
        if let condition = schema.scopeCondition(scope) { conditions.append(condition) }
        let found = selection + " WHERE \(conditions.joined(separator: " AND "))"
        guard columns.namesEntity else { return found }
        let members = layout.family.filter { schema.identityScope(of: $0) == scope }
        let names = members.map { SQLText.literal(schema.model.layouts[$0].name) }.joined(separator: ", ")
        return found + " AND \(schema.entityColumn) IN (\(names)) "
            + "ORDER BY \(schema.entityColumn) <> \(SQLText.literal(layout.name)), \(schema.rowColumn) LIMIT 1"
    }

    /// Selects the object of a row, if it is of the entity.
    package var selectionByRow: String {
        let condition = schema.entityCondition(layout.index, alias: "t").map { " AND \($0)" } ?? ""
        return selection + " WHERE \(schema.rowColumn) = ?\(condition)"
    }

    /// Inserts an object; the parameters are the values of all slots, then the row that a relationship leads to, if one is given whose column
    /// the entity has. Does nothing where its identity is taken.
    package func insertion(relatedBy relationship: RelationshipLayout?) -> String {
        var own = schema.columns[layout.index].map(SQLText.name)
        if let relationship, case .column(let link) = schema.relationships[relationship.source][relationship.index] {
            own.append(SQLText.name(link.column))
        }
        let names = (columns.namesEntity ? [schema.entityColumn] : []) + own
        guard !names.isEmpty else { return "INSERT INTO \(table) DEFAULT VALUES" }
        let values = (columns.namesEntity ? [SQLText.literal(layout.name)] : []) + own.map { _ in "?" }
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", "))) "
            + "ON CONFLICT DO NOTHING"
    }

    /// Updates some slots of an object; the parameters are their values, then the row.
    package func update(_ slots: [Int]) -> String {
        let assignments = slots.map { "\(SQLText.name(schema.columns[layout.index][$0])) = ?" }
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(schema.rowColumn) = ?"
    }
}
