package import SyncModel
import SyncStore

/// The tables of a model, and the place of each attribute and relationship.
///
/// **Entities.** A family is a topmost entity with all entities that inherit from it, and has one
/// table. A foreign key can therefore refer to any object of a family, and an identity can be
/// unique in the whole family. If a family has several entities, a column holds the entity of each
/// row. Every row has a number, to which foreign keys refer.
///
/// **Relationships.** A to-one relationship is a column with a foreign key. In a one-to-one pair,
/// only the side that comes first in the model has a column. A to-many relationship with a to-one
/// inverse is stored in the inverse's column; if it is ordered, a second column holds the position.
/// Any other to-many relationship is a join table with two columns, and a position for each ordered
/// side.
package struct SQLSchema: Sendable {
    /// A table of a family.
    package struct Family: Sendable {
        package let table: String
        /// The index of the topmost entity in the model.
        package let root: Int
        /// Whether a column holds the entity of each row.
        package let namesEntity: Bool
    }

    /// A column of an attribute.
    package struct AttributeColumn: Hashable, Sendable {
        package let name: String
        package let attribute: SyncAttribute
        /// The index of the declaring entity in the model.
        package let source: Int
    }

    /// The storage of a relationship; both sides share it.
    package enum Storage: Hashable, Sendable {
        /// A column of the objects' own table.
        case column(ColumnLink)
        /// A column of the related objects' table that refers to the objects.
        case inverseColumn(ColumnLink)
        /// A table of pairs.
        case join(JoinLink)
    }

    /// A column with a foreign key.
    package struct ColumnLink: Hashable, Sendable, Codable {
        /// The table that has the column.
        package let table: String
        package let column: String
        /// The column of positions among the rows that refer to the same object; nil if the
        /// relationship is not ordered.
        package let position: String?
        /// The table that the column refers to.
        package let target: String

        package init(table: String, column: String, position: String?, target: String) {
            self.table = table
            self.column = column
            self.position = position
            self.target = target
        }
    }

    /// A join table, as seen from one side.
    package struct JoinLink: Hashable, Sendable, Codable {
        package let table: String
        /// The column of this side's objects.
        package let source: String
        /// The column of the related objects.
        package let target: String
        /// The column of the related objects' positions; nil if the relationship is not ordered.
        package let position: String?
        /// The column of positions for the inverse; nil if there is no ordered inverse.
        package let inversePosition: String?
        /// Whether the relationship is its own inverse. The table then has every pair in both
        /// directions.
        package let isSymmetric: Bool
        package let sourceTable: String
        package let targetTable: String
    }

    package let model: DataModel
    package let naming: SQLNaming
    package let dates: SQLNaming.DateStorage
    package let dialect: any SQLDialect
    /// The values of new rows in columns that the model does not have, by table and column.
    package let suppliedValues: [String: [String: SQLSuppliedValue]]
    /// The families, in the order of their topmost entities.
    package let families: [Family]
    /// The index of each entity's family.
    package let familyIndex: [Int]
    /// The attribute columns of each family, in order.
    package let attributeColumns: [[AttributeColumn]]
    /// The names of each entity's attribute columns, by column.
    package let columns: [[String]]
    /// The storage of each entity's relationships, by index.
    package let relationships: [[Storage]]
    /// The columns with foreign keys of each family, each with the delete rule of the object that
    /// it refers to.
    package let references: [[(link: ColumnLink, rule: SyncRelationship.DeleteRule)]]
    /// The join tables, as seen from the declaring side.
    package let joins: [JoinLink]
    /// The conditions of partial indices.
    private let indexConditions: Set<RecordPredicate.Bound>
    /// The columns of each family that occur in indices that the model declares.
    private let indexedColumns: [Set<String>]
    /// The columns that foreign keys refer to, by table, where they differ from
    /// ``SQLNaming/rowColumn``.
    package var keyColumns: [String: String] = [:]
    /// The existing tables that accept only a few types.
    package var strictTables: Set<String> = []

    /// Creates the schema of a model.
    package init(
        _ model: DataModel, naming: SQLNaming = SQLNaming(), dates: SQLNaming.DateStorage = .iso8601,
        suppliedValues: [String: [String: SQLSuppliedValue]] = [:], dialect: any SQLDialect
    ) {
        var planner = SQLSchemaPlanner(model, naming: naming, dialect: dialect)
        planner.planFamilies()
        planner.planRelationships()
        self.model = model
        self.naming = naming
        self.dates = dates
        self.dialect = dialect
        self.suppliedValues = suppliedValues
        families = planner.families
        familyIndex = planner.familyIndex
        attributeColumns = planner.attributeColumns
        columns = planner.columns
        relationships = planner.relationships
        references = planner.references
        joins = planner.joins
        indexConditions = Set(
            model.layouts.flatMap { layout in
                model.indexes(of: layout).flatMap { index -> [RecordPredicate.Bound] in
                    switch index.condition {
                    case .and(let parts): parts
                    case let single?: [single]
                    case nil: []
                    }
                }
            })
        var indexedColumns = [Set<String>](repeating: [], count: planner.families.count)
        for layout in model.layouts {
            for column in model.indexes(of: layout).flatMap(\.columns) {
                indexedColumns[planner.familyIndex[layout.index]].insert(planner.columns[layout.index][column])
            }
        }
        self.indexedColumns = indexedColumns
    }

    /// The table of an entity.
    package func table(of entity: Int) -> String {
        families[familyIndex[entity]].table
    }

    /// The name of a table or an index in statements, quoted.
    package func relation(_ name: String) -> String {
        dialect.relation(name)
    }

    /// Whether a condition is the condition of a partial index.
    func isIndexCondition(_ condition: RecordPredicate.Bound) -> Bool {
        indexConditions.contains(condition)
    }

    /// Whether an attribute occurs in an index that the model declares.
    func isIndexed(_ entity: Int, column: Int) -> Bool {
        indexedColumns[familyIndex[entity]].contains(columns[entity][column])
    }

    /// The column of row numbers, quoted.
    package var rowColumn: String {
        SQLText.name(naming.rowColumn)
    }

    /// The column of entity names, quoted.
    package var entityColumn: String {
        SQLText.name(naming.entityColumn)
    }

    /// The condition that a row belongs to an entity or its sub-entities; nil if every row does.
    ///
    /// A table with a column of entity names can have rows of unknown entities, such as those of a
    /// newer model.
    ///
    /// - Parameter alias: The name of the table in the statement.
    package func entityCondition(_ entity: Int, alias: String) -> String? {
        guard families[familyIndex[entity]].namesEntity else { return nil }
        return "\(alias).\(membership(of: model.layouts[entity]))"
    }

    /// The condition that a row belongs to an entity or its sub-entities, in a table with a column
    /// of entity names.
    func membership(of layout: EntityLayout) -> String {
        let names = layout.family.map { SQLText.literal(model.layouts[$0].name) }
        return "\(entityColumn) IN (\(names.joined(separator: ", ")))"
    }

    /// The continuation of a condition that the target of a link is an object of an entity that the
    /// model has; empty if every row is.
    func knownCondition(_ relationship: EntityLayout.Relationship, _ target: String) -> String {
        guard let isKnown = entityCondition(relationship.destination, alias: "k") else { return "" }
        return " AND EXISTS (SELECT 1 FROM \(relation(table(of: relationship.destination))) k "
            + "WHERE k.\(rowColumn) = \(target) AND \(isKnown))"
    }

    /// The columns of a family's table in which a new object can have values.
    package func filledColumns(family: Int) -> Set<String> {
        var filled: Set<String> = [naming.rowColumn]
        filled.formUnion((suppliedValues[families[family].table] ?? [:]).keys)
        if families[family].namesEntity { filled.insert(naming.entityColumn) }
        for column in attributeColumns[family] { filled.insert(column.name) }
        for layout in model.layouts[families[family].root].family.map({ model.layouts[$0] }) {
            for relationship in layout.relationships where MergeRequest.InitialLinks.isPossible(relationship, in: model)
            {
                guard case .column(let link) = relationships[layout.index][relationship.index] else { continue }
                filled.insert(link.column)
                if let position = link.position { filled.insert(position) }
            }
        }
        return filled
    }

    /// The columns of a family's table that identify objects: those of identities, and that of
    /// entity names.
    package func identifyingColumns(family: Int) -> Set<String> {
        let members = model.layouts[families[family].root].family
        var names = Set(members.flatMap { member in model.layouts[member].identityColumns.map { columns[member][$0] } })
        if families[family].namesEntity { names.insert(naming.entityColumn) }
        return names
    }

    /// The topmost entity with the same identity attributes as an entity.
    ///
    /// All entities with the same scope share one unique index.
    package func identityScope(of entity: Int) -> Int {
        var scope = model.layouts[entity]
        while let parent = scope.parent, model.layouts[parent].identityColumns == scope.identityColumns {
            scope = model.layouts[parent]
        }
        return scope.index
    }

    /// The entities with an identity scope, including the scope itself.
    package func members(ofScope scope: Int) -> [Int] {
        model.layouts[scope].family.filter { identityScope(of: $0) == scope }
    }
}
