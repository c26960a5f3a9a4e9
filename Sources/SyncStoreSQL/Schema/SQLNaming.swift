/// The names of tables and columns that differ from the model's own names.
///
///     SQLNaming(tables: ["User": "users"], columns: ["User.createdAt": "created_at"])
///
/// By default:
/// - A table has the name of the topmost entity of its family.
/// - A column has the name of its attribute or to-one relationship.
/// - A join table has the names of its entity and its relationship, such as `User_friends`, and its
///   columns those of the two entities.
/// - A column of positions has the name of its relationship and `_position`.
///
/// If two names differ only in case, or two sub-entities declare the same property, the later name
/// is prefixed with the name of its entity.
public struct SQLNaming: Hashable, Sendable {
    /// The tables of entities, by the name of the topmost entity of the family.
    public var tables: [String: String]
    /// The columns of attributes and to-one relationships, and the join tables of to-many ones.
    ///
    /// A key is the entity that declares the property, a period, and the property:
    /// `User.createdAt`. The columns of the join table `User.groups` have the keys
    /// `User.groups.source` and `User.groups.target`.
    public var columns: [String: String]
    /// The column of object numbers in each table. Foreign keys refer to it.
    public var rowColumn: String
    /// The column for the entity of a row, in tables with more than one entity.
    public var entityColumn: String

    /// Creates names.
    ///
    /// - Parameters:
    ///   - tables: The tables of entities, by the name of the topmost entity of the family.
    ///   - columns: The columns and join tables, by entity and property; see ``columns``.
    ///   - rowColumn: The column of object numbers; `_id` by default.
    ///   - entityColumn: The column of entity names; `_entity` by default.
    public init(
        tables: [String: String] = [:], columns: [String: String] = [:], rowColumn: String = "_id",
        entityColumn: String = "_entity"
    ) {
        self.tables = tables
        self.columns = columns
        self.rowColumn = rowColumn
        self.entityColumn = entityColumn
    }
}
