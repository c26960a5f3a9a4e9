import SyncModel

/// Finds the relationships of an old schema that a new schema continues, and how their columns are
/// filled.
struct SQLFormerRelationships {
    private let old: SQLSchemaDescription
    private let schema: SQLSchema
    private let entities: [String?]

    /// Creates a finder.
    ///
    /// - Parameter entities: The former name of each entity of the model.
    init(_ old: SQLSchemaDescription, schema: SQLSchema, entities: [String?]) {
        self.old = old
        self.schema = schema
        self.entities = entities
    }

    /// The old relationship that a relationship continues; nil if it is new.
    ///
    /// - Throws: `SQLSchemaError.changedRelationship` if the destination differs.
    func former(
        _ relationship: EntityLayout.Relationship, of layout: EntityLayout
    ) throws(SQLSchemaError) -> SQLSchemaDescription.Relationship? {
        guard let entity = entities[layout.index].flatMap({ old.entity($0) }) else { return nil }
        let own = layout.relationships.filter { $0.source == layout.index }
        let counterparts = SQLRenaming.counterparts(
            of: own.map { .init($0.name, formerName: $0.declaration.formerName) },
            in: entity.relationships.map { .init($0.name, formerName: $0.formerName) })
        guard let index = own.firstIndex(of: relationship).flatMap({ counterparts[$0] }) else { return nil }
        let found = entity.relationships[index]
        let destination = schema.model.layouts[relationship.destination]
        let roots = destination.family.compactMap { entities[$0] }.map { old.root(of: $0) }
        guard roots.contains(old.root(of: found.destination)) else {
            throw .changedRelationship(entity: layout.name, relationship: relationship.name)
        }
        return found
    }

    /// The expressions that fill the columns of a relationship in its own table.
    func links(
        _ relationship: EntityLayout.Relationship, of layout: EntityLayout
    ) throws(SQLSchemaError) -> [SQLMigration.Filling] {
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

    /// The query for related objects that several objects share, if a to-one inverse no longer
    /// allows that, with the error to throw if there are any; nil for any other relationship.
    func sharing(
        _ relationship: EntityLayout.Relationship, of layout: EntityLayout
    ) throws(SQLSchemaError) -> (query: String, error: SQLSchemaError)? {
        guard schema.model.isOneToOne(relationship), let inverse = schema.model.inverse(of: relationship),
            let stored = try former(relationship, of: layout), stored.isOneToOne != true,
            case .column(let link) = stored.storage
        else { return nil }
        let column = SQLText.name(link.column)
        let destination = schema.model.layouts[relationship.destination].name
        let query =
            "SELECT 1 FROM \(schema.relation(link.table)) WHERE \(column) IS NOT NULL "
            + "GROUP BY \(column) HAVING count(*) > 1 LIMIT 1"
        let error = SQLSchemaError.sharedTarget(
            entity: layout.name, relationship: relationship.name, inverse: "\(destination).\(inverse.name)")
        return (query: query, error: error)
    }

    /// The filling of a column of object numbers or positions from an old column; empty if there is
    /// none.
    func reference(_ column: String, from former: String?) -> SQLMigration.Filling {
        SQLMigration.Filling(
            column: column, type: schema.dialect.referenceType, expression: former.map(SQLText.name) ?? "NULL",
            former: former)
    }
}
