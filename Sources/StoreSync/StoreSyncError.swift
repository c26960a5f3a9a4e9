public import OneWaySynchronizer

/// Why a sync ended without effect, apart from errors of the JSON, the mapping and the store.
public enum StoreSyncError: Error, Hashable, Sendable {
    /// The mapper's model is not the store's.
    case differentModels
    /// More objects would have been deleted for being absent than the limit allows.
    case removalLimitExceeded(entity: String, removals: Int, localCount: Int, limit: RemovalLimit)
    /// The object that others were to be related to is not in the store, or is not the only one that was meant.
    case noParent(entity: String)
    /// The parent's entity has no relationship to the children of that name, or several of which none was named.
    case noRelationship(entity: String, destination: String)
    /// A relationship's value is neither an object, nor an identifier, nor an array of those where there may be many.
    case unsuitableRelationship(entity: String, relationship: String, index: Int)
    /// The key has another number of values than the entity's identity.
    case unsuitableKey(entity: String)
    /// What a source has in the place of its list of objects that are gone is no list.
    case unsuitableTombstones(entity: String, keyPath: String)
}

extension StoreSyncError: CustomStringConvertible {
    /// The error as a sentence for people; values are left out.
    public var description: String {
        switch self {
        case .differentModels: "the mapper and the store have different models"
        case .removalLimitExceeded(let entity, let removals, let localCount, let limit):
            "\(removals) of \(localCount) \(entity) would be deleted; the limit is \(limit)"
        case .noParent(let entity): "there is no such \(entity), or more than one"
        case .noRelationship(let entity, let destination):
            "\(entity) has no relationship to \(destination), or several of which none was named"
        case .unsuitableRelationship(let entity, let relationship, let index):
            "\(entity).\(relationship), element \(index): the value leads to no object"
        case .unsuitableKey(let entity): "the key does not fit the identity of \(entity)"
        case .unsuitableTombstones(let entity, let keyPath): "\(keyPath) is no list of \(entity) that are gone"
        }
    }
}
