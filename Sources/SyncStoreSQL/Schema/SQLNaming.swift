/// What tables and columns are called where the model's own names will not do, such as for tables
/// that exist already.
///
///     SQLNaming(tables: ["User": "users"], columns: ["User.createdAt": "created_at"])
///
/// By default a table is called like the topmost entity of a family, a column like its attribute or
/// to-one relationship, a join table like its entity and relationship with an underscore between,
/// and a column of positions like its relationship followed by `_position`. Where two names would
/// differ in the case of letters alone, or two sub-entities declare the same property, the later
/// one is prefixed with its entity's name.
public struct SQLNaming: Hashable, Sendable {
    /// The tables of entities, by the name of the topmost entity of the family.
    public var tables: [String: String]
    /// The columns of attributes and to-one relationships, and the join tables of to-many ones, by
    /// entity and property with a point between, the entity being the one that declares the
    /// property.
    public var columns: [String: String]
    /// The column of every table that holds the number of its row, which foreign keys refer to.
    public var rowColumn: String
    /// The column that names the entity of a row, in tables that hold more than one.
    public var entityColumn: String

    /// Names by default but for those that are given.
    ///
    /// - Parameters:
    ///   - tables: The tables of entities, by the name of the topmost entity of the family.
    ///   - columns: The columns and join tables, by `SyncEntity.property`.
    ///   - rowColumn: The column of row numbers; `_id` by default.
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
