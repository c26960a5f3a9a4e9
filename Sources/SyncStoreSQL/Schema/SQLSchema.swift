package import SyncModel
import SyncStore

/// The tables of a model, and the place of each attribute and relationship.
///
/// **Entities.** A family, which is a topmost entity and all entities that inherit from it, shares
/// one table. A foreign key can refer to any object of a family, and an identity can be unique in
/// all of it. If a family has several entities, a column names the entity of a row. Every row has a
/// number, to which foreign keys refer.
///
/// **Relationships.** A to-one relationship is a column with a foreign key. Of a one-to-one pair,
/// only the side that comes first in the model has a column. A to-many relationship whose inverse
/// is to-one is the column of the inverse; if it is ordered, a second column holds the position.
/// Any other to-many relationship is a join table of two columns, with a position for each ordered
/// side.
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

    /// The place of a relationship, the same for both of its sides.
    package enum Storage: Hashable, Sendable, Codable {
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
        /// The column of positions among the rows that refer to the same object; nil without an
        /// order.
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

    /// A join table, seen from one side.
    package struct JoinLink: Hashable, Sendable, Codable {
        package let table: String
        /// The column of this side's objects.
        package let source: String
        /// The column of the related objects.
        package let target: String
        /// The column of the related objects' positions; nil without an order.
        package let position: String?
        /// The column of positions of the inverse; nil if it has no order or does not exist.
        package let inversePosition: String?
        /// Whether the relationship is its own inverse, so that the table has every pair in both
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
    /// The index of each entity's family.
    package let familyIndex: [Int]
    /// The columns of attributes of each family, in order.
    package let attributeColumns: [[AttributeColumn]]
    /// The names of each entity's attribute columns, by slot.
    package let columns: [[String]]
    /// The places of each entity's relationships, by index.
    package let relationships: [[Storage]]
    /// The columns with foreign keys of each family, with the delete rule of the objects that they
    /// refer to.
    package let references: [[(link: ColumnLink, rule: SyncRelationship.DeleteRule)]]
    /// The join tables, seen from the side that declares them.
    package let joins: [JoinLink]
    /// The conditions of partial indices.
    private let indexConditions: Set<BoundPredicate>
    /// The columns of each family that occur in indices that the model declares.
    private let indexedColumns: [Set<String>]
    /// The columns that foreign keys refer to, by table, if they differ from
    /// ``SQLNaming/rowColumn``.
    package var keyColumns: [String: String] = [:]
    /// The adopted tables that accept few types.
    package var strictTables: Set<String> = []

    /// Creates the schema of a model.
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
        var indexedColumns = [Set<String>](repeating: [], count: planner.families.count)
        for layout in model.layouts {
            for slot in model.indexes(of: layout).flatMap(\.slots) {
                indexedColumns[planner.familyIndex[layout.index]].insert(planner.columns[layout.index][slot])
            }
        }
        self.indexedColumns = indexedColumns
    }

    /// The table of an entity.
    package func table(of entity: Int) -> String {
        families[familyIndex[entity]].table
    }

    /// Whether a condition is one of a partial index.
    func isIndexCondition(_ condition: BoundPredicate) -> Bool {
        indexConditions.contains(condition)
    }

    /// Whether an attribute occurs in an index that the model declares.
    func isIndexed(_ entity: Int, slot: Int) -> Bool {
        indexedColumns[familyIndex[entity]].contains(columns[entity][slot])
    }

    /// The column of row numbers, quoted.
    package var rowColumn: String {
        SQLText.name(naming.rowColumn)
    }

    /// The column of entity names, quoted.
    package var entityColumn: String {
        SQLText.name(naming.entityColumn)
    }

    /// The condition that a row belongs to an entity or one that inherits from it; nil if every row
    /// does.
    ///
    /// A table that names entities can have rows of entities that the model does not know, such as
    /// those of a newer model.
    ///
    /// - Parameter alias: The name of the table in the statement.
    package func entityCondition(_ entity: Int, alias: String) -> String? {
        guard families[familyIndex[entity]].namesEntity else { return nil }
        let layout = model.layouts[entity]
        let names = layout.family.map { SQLText.literal(model.layouts[$0].name) }
        return "\(alias).\(entityColumn) IN (\(names.joined(separator: ", ")))"
    }

    /// The columns of a family's table that new objects can have values in.
    package func filledColumns(family: Int) -> Set<String> {
        var filled: Set<String> = [naming.rowColumn]
        if families[family].namesEntity { filled.insert(naming.entityColumn) }
        for column in attributeColumns[family] { filled.insert(column.name) }
        for layout in model.layouts[families[family].root].family.map({ model.layouts[$0] }) {
            for relationship in layout.relationships where InitialLinks.isPossible(relationship, in: model) {
                guard case .column(let link) = relationships[layout.index][relationship.index] else { continue }
                filled.insert(link.column)
            }
        }
        return filled
    }

    /// The topmost entity with the same identity as an entity.
    ///
    /// The entities below it share one unique index, unless they add to the identity.
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
