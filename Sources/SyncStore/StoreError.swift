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
        }
    }
}
