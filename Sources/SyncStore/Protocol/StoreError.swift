public import Foundation
package import SyncBase

/// An error that any store can throw. Each store has further errors for its database.
public enum StoreError: Error, Hashable, Sendable {
    /// A transaction was requested inside a transaction of the same store.
    case nestedTransaction
    /// A transaction or reader was used after its body had returned.
    case transactionEnded
    /// A merge tried to insert an object of an abstract entity.
    case abstractEntity(entity: String)
    /// A change would have given two objects of one entity the same identity.
    case identityTaken(entity: String)
    /// A delete rule (deny) stopped a deletion.
    case deletionDenied(entity: String, relationship: String)
    /// A value does not have its attribute's type.
    case unsuitableValue(entity: String, attribute: String)
    /// A batch has an entity that the model lacks or declares with other attributes.
    ///
    /// The name is nil for a batch without an entity.
    case batchOfOtherModel(entity: String?)
    /// A merge request has two rows of one object.
    case repeatedObject(entity: String)
    /// A merge request does not have one match per row of its batch.
    case wrongMatchCount(entity: String)
    /// A relationship belongs to a different model.
    case relationshipOfOtherModel(relationship: String)
    /// An object was to get an entity that has no ancestor in common with its own.
    case unrelatedEntities(former: String, entity: String)
    /// An index or a constraint refused an object.
    case refused(StoreError.Refusal)
    /// The sum of a selection does not fit in 64 bits, or in the type of a property.
    case sumOverflow(entity: String)
    /// A store returned no object for a record that it had to insert.
    case missingObject(entity: String)
}

extension StoreError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    /// A readable sentence without values other than identities of refused objects.
    public var description: String {
        switch self {
        case .nestedTransaction: "this task already runs a transaction of the store"
        case .transactionEnded: "the transaction has ended"
        case .abstractEntity(let entity):
            "\(entity) is abstract; only objects of its sub-entities can exist. "
                + "To sync JSON, register an entity mapper that names the sub-entity of each object"
        case .identityTaken(let entity): "another \(entity) already has this identity"
        case .deletionDenied(let entity, let relationship):
            "\(entity) cannot be deleted while its \(relationship) leads to an object"
        case .unsuitableValue(let entity, let attribute): "the value does not have the type of \(entity).\(attribute)"
        case .batchOfOtherModel(let entity):
            "the records are not of the store's model" + (entity.map { ", which declares \($0) differently" } ?? "")
        case .repeatedObject(let entity): "two records of the request are one \(entity)"
        case .wrongMatchCount(let entity): "the request does not have one match for each record of \(entity)"
        case .relationshipOfOtherModel(let relationship):
            "the store's model has no relationship \(relationship), or declares it differently"
        case .unrelatedEntities(let former, let entity):
            "\(former) cannot become \(entity), because no other entity is an ancestor of both"
        case .refused(let refusal): refusal.description
        case .sumOverflow(let entity): "the sum of values of \(entity) is out of range"
        case .missingObject(let entity): "the store returned no object for a new \(entity)"
        }
    }

    /// The sentence, for a refused object with the error of the database, which may contain values.
    public var debugDescription: String {
        if case .refused(let refusal) = self { refusal.debugDescription } else { description }
    }

    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension StoreError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .identityTaken, .deletionDenied, .refused, .sumOverflow: .data
        case .missingObject: .storage
        case .nestedTransaction, .transactionEnded, .abstractEntity, .unsuitableValue, .batchOfOtherModel,
            .repeatedObject, .wrongMatchCount, .relationshipOfOtherModel, .unrelatedEntities:
            .program
        }
    }
}
