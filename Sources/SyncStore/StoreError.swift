/// Why a store refused something; each store adds errors of its own kind for what happens beneath it.
public enum StoreError: Error, Hashable, Sendable {
    /// A transaction was asked for inside of one of the same store, and would have waited for itself.
    case nestedTransaction
    /// A transaction or reader was used after its body had returned.
    case transactionEnded
    /// An object of an abstract entity was to be inserted.
    case abstractEntity(entity: String)
    /// Two objects of one entity would have had the same identity.
    case identityTaken(entity: String)
    /// An object was to be deleted while others depend on it.
    case deletionDenied(entity: String, relationship: String)
    /// A value was to be stored that is not of the attribute's type.
    case unsuitableValue(entity: String, attribute: String)
    /// A batch is of an entity that the store's model does not have, or has with other attributes; nil for a batch that is of no entity.
    case foreignBatch(entity: String?)
    /// A merge was given another number of handles than its batch has rows.
    case unsuitableHandles(entity: String)
    /// A relationship is of another model than the store's.
    case foreignRelationship(relationship: String)
}

extension StoreError: CustomStringConvertible {
    /// The error as a sentence for people; values are left out.
    public var description: String {
        switch self {
        case .nestedTransaction: "a transaction of this store is running already in this task"
        case .transactionEnded: "the transaction has ended"
        case .abstractEntity(let entity): "\(entity) is abstract; only objects of its sub-entities exist"
        case .identityTaken(let entity): "there is another \(entity) of that identity"
        case .deletionDenied(let entity, let relationship):
            "\(entity) cannot be deleted as long as its \(relationship) leads to anything"
        case .unsuitableValue(let entity, let attribute): "\(entity).\(attribute) holds values of another type"
        case .foreignBatch(let entity):
            "the records are of \(entity.map { "another \($0)" } ?? "no entity") than the store's model has"
        case .unsuitableHandles(let entity): "there is not one handle for each record of \(entity)"
        case .foreignRelationship(let relationship): "the store's model has another \(relationship), or none"
        }
    }
}
