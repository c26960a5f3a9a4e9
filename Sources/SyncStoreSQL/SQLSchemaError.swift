/// Why the tables of a database and a model do not come together; the database is left as it was.
public enum SQLSchemaError: Error, Hashable, Sendable {
    /// A newer program made the tables, or a newer version of the model: the number found, and the one that is known here.
    case newer(found: Int, known: Int)
    /// What is written in the database about its tables cannot be read.
    case unreadable
    /// The database was opened for reading alone, and its tables are not those of the model.
    case outdated
    /// A table that was there before lacks a column.
    case missingColumn(table: String, column: String)
    /// Dates were kept in another form.
    case otherDates
    /// An entity has moved to another family, for whose table its objects have no number.
    case movedEntity(entity: String)
    /// An attribute's type cannot take over what was stored as another.
    case narrowedType(entity: String, attribute: String)
    /// A relationship is of another kind than it was, or leads elsewhere.
    case changedRelationship(entity: String, relationship: String)
    /// An index, a trigger or a view that is not the store's own does not fit the tables as they are to be.
    case unfitForeignObject(name: String, reason: String)
}

extension SQLSchemaError: CustomStringConvertible {
    /// The error as a sentence for people.
    public var description: String {
        switch self {
        case .newer(let found, let known): "the database is of version \(found), this program knows \(known)"
        case .unreadable: "the database's description of its tables cannot be read"
        case .outdated: "the tables are not those of the model, and the database was opened for reading alone"
        case .missingColumn(let table, let column): "the table \(table) has no column \(column)"
        case .otherDates: "the database keeps dates in another form"
        case .movedEntity(let entity): "\(entity) inherits from another entity than in the database"
        case .narrowedType(let entity, let attribute):
            "\(entity).\(attribute) has a type that cannot hold what the database has"
        case .changedRelationship(let entity, let relationship):
            "\(entity).\(relationship) is of another kind than in the database"
        case .unfitForeignObject(let name, let reason):
            "\(name), which somebody added to the database, does not fit its new tables (\(reason))"
        }
    }
}
