import SyncModel

/// Plans the tables of a `SQLSchema`.
struct SQLSchemaPlanner {
    private let model: DataModel
    private let naming: SQLNaming
    private let dialect: any SQLDialect
    private var tableNames: SQLNames
    private var columnNames: [SQLNames] = []
    private(set) var families: [SQLSchema.Family] = []
    private(set) var familyIndex: [Int]
    private(set) var attributeColumns: [[SQLSchema.AttributeColumn]] = []
    private(set) var columns: [[String]]
    private(set) var relationships: [[SQLSchema.Storage]]
    private(set) var references: [[(link: SQLSchema.ColumnLink, rule: SyncRelationship.DeleteRule)]] = []
    private(set) var joins: [SQLSchema.JoinLink] = []

    init(_ model: DataModel, naming: SQLNaming, dialect: any SQLDialect) {
        self.model = model
        self.naming = naming
        self.dialect = dialect
        tableNames = SQLNames(dialect)
        familyIndex = Array(repeating: 0, count: model.layouts.count)
        columns = Array(repeating: [], count: model.layouts.count)
        relationships = Array(repeating: [], count: model.layouts.count)
    }

    /// Plans the entity tables and their attribute columns.
    mutating func planFamilies() {
        for root in model.layouts where root.parent == nil {
            let table = tableName(of: root.entity)
            var names = SQLNames(dialect)
            for name in dialect.reservedColumns { names.reserve(name) }
            _ = names.take(naming.rowColumn, otherwise: naming.rowColumn)
            _ = names.take(naming.entityColumn, otherwise: naming.entityColumn)
            var found: [SQLSchema.AttributeColumn] = []
            for place in root.family {
                let layout = model.layouts[place]
                familyIndex[place] = families.count
                var entityColumns = layout.parent.map { columns[$0] } ?? []
                for attribute in layout.entity.attributes {
                    let wish = naming.columns["\(layout.name).\(attribute.name)"] ?? attribute.name
                    let name = names.take(wish, otherwise: "\(layout.name)_\(attribute.name)")
                    found.append(SQLSchema.AttributeColumn(name: name, attribute: attribute, source: place))
                    entityColumns.append(name)
                }
                columns[place] = entityColumns
            }
            families.append(SQLSchema.Family(table: table, root: root.index, namesEntity: root.family.count > 1))
            attributeColumns.append(found)
            columnNames.append(names)
            references.append([])
        }
    }

    private mutating func tableName(of entity: SyncEntity) -> String {
        if let own = entity.bookkeepingTable { return tableNames.take(own, otherwise: own) }
        let wish = naming.tables[entity.name] ?? entity.name
        return tableNames.takeTable(wish, otherwise: wish + "_table")
    }

    /// Plans the storage of each relationship once, on the side that stores it, for both sides.
    mutating func planRelationships() {
        var planned: [EntityLayout.Relationship.ID: SQLSchema.Storage] = [:]
        // To-one sides first, because to-many sides use their columns.
        for wantsMany in [false, true] {
            for layout in model.layouts {
                for relationship in layout.relationships
                where relationship.source == layout.index && relationship.isToMany == wantsMany {
                    let id = relationship.id
                    guard planned[id] == nil else { continue }
                    let inverse = model.inverse(of: relationship)
                    let sides =
                        wantsMany && inverse?.isToMany != false
                        ? planJoin(relationship, inverse: inverse)
                        : planColumn(relationship, inverse: inverse)
                    planned[id] = sides.own
                    if let inverse, inverse.id != id {
                        planned[inverse.id] = sides.other
                    }
                }
            }
        }
        for layout in model.layouts {
            relationships[layout.index] = layout.relationships.compactMap { planned[$0.id] }
        }
    }

    private mutating func planColumn(
        _ relationship: EntityLayout.Relationship, inverse: EntityLayout.Relationship?
    ) -> (own: SQLSchema.Storage, other: SQLSchema.Storage) {
        let family = familyIndex[relationship.source]
        let entity = model.layouts[relationship.source].name
        let wish = naming.columns["\(entity).\(relationship.name)"] ?? relationship.name
        let column = columnNames[family].take(wish, otherwise: "\(entity)_\(relationship.name)")
        var position: String?
        if let inverse, inverse.isOrdered {
            position = columnNames[family].take("\(column)_position", otherwise: "\(entity)_\(column)_position")
        }
        let link = SQLSchema.ColumnLink(
            table: families[family].table, column: column, position: position,
            target: families[familyIndex[relationship.destination]].table)
        references[family].append((link, inverse?.deleteRule ?? .nullify))
        return (.column(link), .inverseColumn(link))
    }

    private mutating func planJoin(
        _ relationship: EntityLayout.Relationship, inverse: EntityLayout.Relationship?
    ) -> (own: SQLSchema.Storage, other: SQLSchema.Storage) {
        let source = model.layouts[relationship.source].name
        let destination = model.layouts[relationship.destination].name
        let key = "\(source).\(relationship.name)"
        let wish = naming.columns[key] ?? "\(source)_\(relationship.name)"
        var names = SQLNames(dialect)
        for name in dialect.reservedColumns { names.reserve(name) }
        let isSymmetric = inverse?.id == relationship.id
        let link = SQLSchema.JoinLink(
            table: tableNames.takeTable(wish, otherwise: wish + "_join"),
            source: names.take(naming.columns["\(key).source"] ?? source, otherwise: source),
            target: names.take(
                naming.columns["\(key).target"] ?? destination, otherwise: "\(relationship.name)_\(destination)"),
            position: relationship.isOrdered ? names.take("position", otherwise: "position") : nil,
            inversePosition: !isSymmetric && inverse?.isOrdered == true
                ? names.take("inverse_position", otherwise: "inverse_position") : nil,
            isSymmetric: isSymmetric, sourceTable: families[familyIndex[relationship.source]].table,
            targetTable: families[familyIndex[relationship.destination]].table)
        joins.append(link)
        return (.join(link), .join(link.reversed))
    }
}

extension SQLSchema.JoinLink {
    /// The same table, as seen from the other side.
    var reversed: SQLSchema.JoinLink {
        SQLSchema.JoinLink(
            table: table, source: target, target: source, position: inversePosition, inversePosition: position,
            isSymmetric: isSymmetric, sourceTable: targetTable, targetTable: sourceTable)
    }
}
