package import SyncModel

/// The tables that hold a model's data: where each attribute and relationship is kept.
///
/// **Entities.** A family — a topmost entity and all that inherit from it — shares one table, so
/// that a foreign key can lead to any object of the family and an identity can be unique in all of
/// it. Where a family has more than one entity, a column names that of the row. Every row has a
/// number, which foreign keys refer to, whatever the identity is made of.
///
/// **Relationships.** A to-one relationship is a column with a foreign key; of a one-to-one pair,
/// only that which comes first in the model. A to-many relationship whose inverse is to-one is that
/// column, read from the other side; if it is ordered, a second column beside holds the position.
/// Any other to-many relationship is a join table of two columns, with a position for each side
/// that is ordered.
package struct SQLSchema: Sendable {
    /// A table of a family.
    package struct Family: Sendable {
        package let table: String
        /// The place in the model of the topmost entity.
        package let root: Int
        /// Whether a column names the entity of a row.
        package let namesEntity: Bool
    }

    /// A column of an attribute.
    package struct AttributeColumn: Hashable, Sendable {
        package let name: String
        package let attribute: SyncAttribute
        /// The place in the model of the entity that declares it.
        package let source: Int
    }

    /// What a relationship is kept in. All sides of one relationship agree on it.
    package enum Storage: Hashable, Sendable, Codable {
        /// A column of the objects' own table.
        case column(ColumnLink)
        /// A column of the related objects' table, which leads back.
        case inverseColumn(ColumnLink)
        /// A table of pairs; the names of the columns of this side and of the other one, and of
        /// this side's positions.
        case join(JoinLink)
    }

    /// A column with a foreign key.
    package struct ColumnLink: Hashable, Sendable, Codable {
        /// The table that has the column.
        package let table: String
        package let column: String
        /// The column of positions among those that lead to the same object; nil where they have no
        /// order.
        package let position: String?
        /// The table that the column leads to.
        package let target: String
    }

    /// A join table, seen from one side.
    package struct JoinLink: Hashable, Sendable, Codable {
        package let table: String
        /// The column of this side's objects.
        package let source: String
        /// The column of the related objects.
        package let target: String
        /// The column of the related objects' positions; nil where they have no order.
        package let position: String?
        /// The column of positions that the inverse reads; nil where it has no order or does not
        /// exist.
        package let inversePosition: String?
        /// Whether the relationship is its own inverse, so that every pair is there in both
        /// directions.
        package let isSymmetric: Bool
        package let sourceTable: String
        package let targetTable: String
    }

    package let model: DataModel
    package let naming: SQLNaming
    package let dates: DateStorage
    package let dialect: any SQLDialect
    /// The families, in the order of their topmost entities.
    package let families: [Family]
    /// For each entity of the model, the place of its family.
    package let familyIndex: [Int]
    /// For each family, the columns of attributes in order.
    package let attributeColumns: [[AttributeColumn]]
    /// For each entity, the names of its attributes' columns by slot.
    package let columns: [[String]]
    /// For each entity, what its relationships are kept in, by index.
    package let relationships: [[Storage]]
    /// For each family, its columns with foreign keys, and the rule for what happens when the
    /// object they lead to is deleted.
    package let references: [[(link: ColumnLink, rule: SyncRelationship.DeleteRule)]]
    /// The join tables, seen from the side that names them.
    package let joins: [JoinLink]
    /// The conditions of partial indices.
    private let indexConditions: Set<BoundPredicate>
    /// The columns that foreign keys refer to, by table, where they are not called as
    /// ``SQLNaming/rowColumn``.
    package var keyColumns: [String: String] = [:]

    /// Lays out the tables of a model.
    package init(
        _ model: DataModel, naming: SQLNaming = SQLNaming(), dates: DateStorage = .iso8601,
        dialect: any SQLDialect
    ) {
        var planner = SQLSchemaPlanner(model, naming: naming, dialect: dialect)
        planner.planFamilies()
        planner.planRelationships()
        self.model = model
        self.naming = naming
        self.dates = dates
        self.dialect = dialect
        families = planner.families
        familyIndex = planner.familyIndex
        attributeColumns = planner.attributeColumns
        columns = planner.columns
        relationships = planner.relationships
        references = planner.references
        joins = planner.joins
        indexConditions = Set(
            model.layouts.flatMap { layout in
                model.indexes(of: layout).flatMap { index -> [BoundPredicate] in
                    switch index.condition {
                    case .and(let parts): parts
                    case let single?: [single]
                    case nil: []
                    }
                }
            })
    }

    /// The table of an entity.
    package func table(of entity: Int) -> String {
        families[familyIndex[entity]].table
    }

    /// Whether a condition is one of a partial index.
    func isIndexCondition(_ condition: BoundPredicate) -> Bool {
        indexConditions.contains(condition)
    }

    /// The column of row numbers, quoted.
    package var rowColumn: String {
        SQLText.name(naming.rowColumn)
    }

    /// The column of entity names, quoted.
    package var entityColumn: String {
        SQLText.name(naming.entityColumn)
    }

    /// The condition that a row is of an entity or one that inherits from it; nil where every row
    /// of the table is.
    ///
    /// - Parameter alias: What the table is called in the statement.
    package func entityCondition(_ entity: Int, alias: String) -> String? {
        let layout = model.layouts[entity]
        guard layout.parent != nil else { return nil }
        let names = layout.family.map { SQLText.literal(model.layouts[$0].name) }
        return "\(alias).\(entityColumn) IN (\(names.joined(separator: ", ")))"
    }

    /// The topmost entity that has the same identity as an entity: those below it share one unique
    /// index, unless they add to it.
    package func identityScope(of entity: Int) -> Int {
        var scope = model.layouts[entity]
        while let parent = scope.parent, model.layouts[parent].identitySlots == scope.identitySlots {
            scope = model.layouts[parent]
        }
        return scope.index
    }

    /// The entities whose identity is that of a scope, the scope included.
    package func members(ofScope scope: Int) -> [Int] {
        model.layouts[scope].family.filter { identityScope(of: $0) == scope }
    }
}
