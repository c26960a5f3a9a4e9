public import Foundation
public import SyncModel
package import SyncBase

/// Why the tables of a database cannot match a model. The database is unchanged.
public enum SQLSchemaError: Error, Hashable, Sendable {
    /// A newer version of the package or of the model wrote the tables.
    case newer(found: Int, known: Int)
    /// The database's record of its tables cannot be read.
    case unreadable
    /// The database was opened read-only and its tables do not match the model.
    case outdated
    /// Somebody has dropped or renamed tables or columns of the store.
    case damaged([SQLSchemaError.Defect])
    /// The database has no record of a store's tables.
    case noStore
    /// An existing table lacks a column.
    case missingColumn(table: String, column: String)
    /// A table cannot hold the model's objects: the store did not create it, or somebody changed
    /// it.
    case unsuitableTable(table: String, reason: String)
    /// The store does not make this change to a table that it did not create.
    case existingTable(table: String, advice: String)
    /// A table would need more columns than the database allows.
    case tooManyColumns(table: String, count: Int, limit: Int)
    /// The database stores text in another encoding than UTF-8.
    case otherEncoding(String)
    /// The database stores dates in another form.
    case otherDates
    /// An entity moved to another family, whose table has other object numbers.
    case movedEntity(entity: String)
    /// A model of the same version lacks an entity whose objects share a table with other entities.
    case removedEntity(entity: String, table: String)
    /// An attribute's new type cannot hold exactly the value of an object, or does not accept what
    /// a conversion returned for it.
    case unfitValue(entity: String, object: Record.Key, attribute: String, type: AttributeType, value: AttributeValue)
    /// A conversion is for an attribute that the model does not have.
    case unknownConversion(entity: String, attribute: String)
    /// A relationship has another kind or another destination than the stored one.
    case changedRelationship(entity: String, relationship: String)
    /// Several objects have the same related object, which the relationship's new to-one inverse
    /// does not allow. The inverse is named with its entity, such as `Person.passport`.
    case sharedTarget(entity: String, relationship: String, inverse: String)
    /// Several rows of a table have equal values in a unique index that the model has gained.
    case equalValues(table: String, index: String)
    /// An index, a trigger or a view of another tool does not fit the new tables.
    case unfitDependentObject(name: String, reason: String)
}

extension SQLSchemaError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// A readable sentence, whose only values are identities.
    public var description: String {
        switch self {
        case .newer(let found, let known):
            "the database has version \(found), but this program only knows versions up to \(known)"
        case .unreadable: "the database's record of its tables cannot be read"
        case .outdated: "the tables do not match the model, and the database was opened read-only"
        case .damaged(let defects):
            "\(defects.map(\.description).joined(separator: ", ")) of the store \(defects.count == 1 ? "is" : "are") "
                + "missing, because somebody dropped or renamed it; undo that, or create it again without its values, "
                + "with repair(at:options:) of the store's type"
        case .noStore: "the database has no record of a store's tables, \(SQLSchemaRecord.table)"
        case .missingColumn(let table, let column): "the table \(table) has no column \(column)"
        case .unsuitableTable(let table, let reason): "the table \(table) cannot be synced into: \(reason)"
        case .existingTable(let table, let advice):
            "the table \(table) is not the store's own and is not rebuilt: \(advice)"
        case .tooManyColumns(let table, let count, let limit):
            "the table \(table) would need columns for \(count) attributes; the limit is \(limit)"
        case .otherEncoding(let name): "the database stores text as \(name); only UTF-8 is supported"
        case .otherDates: "the database stores dates in another form"
        case .movedEntity(let entity):
            "\(entity) has another parent entity in the database than in the model; give it another name, or create "
                + "the tables again"
        case .removedEntity(let entity, let table):
            "the model no longer has \(entity), and the table \(table) has objects of it; "
                + "raise the model version to delete them"
        case .unfitValue(let entity, let object, let attribute, let type, _):
            "the value of \(attribute) in \(Self.name(entity, object)) does not fit the new type \(type); change the "
                + "value, keep the former type, convert it with a conversion in the store's options, or create the "
                + "tables again"
        case .unknownConversion(let entity, let attribute):
            "there is a conversion for \(entity).\(attribute), which the model does not have"
        case .changedRelationship(let entity, let relationship):
            "\(entity).\(relationship) has another kind or destination than in the database; give it another name, or "
                + "create the tables again"
        case .sharedTarget(let entity, let relationship, let inverse):
            "several objects of \(entity) have the same \(relationship), but its inverse \(inverse) is to-one; unlink "
                + "all but one with the former model, declare the inverse as to-many, or create the tables again"
        case .equalValues(let table, let index):
            "several rows of \(table) have equal values, which the unique index \(index) does not allow"
        case .unfitDependentObject(let name, let reason):
            "\(name), which somebody added to the database, does not fit the new tables (\(reason))"
        }
    }

    /// The sentence with the value that does not fit.
    public var debugDescription: String {
        guard case .unfitValue(_, _, _, _, let value) = self else { return description }
        return "\(description); the value is \(value)"
    }

    private static func name(_ entity: String, _ object: Record.Key) -> String {
        switch object {
        case .identity(let values): "\(entity) \(values.map(\.description).joined(separator: ", "))"
        case .object(let number): "\(entity) in row \(number)"
        }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension SQLSchemaError: AreaError {
    package var errorArea: ErrorArea { if case .unknownConversion = self { .program } else { .storage } }
}
