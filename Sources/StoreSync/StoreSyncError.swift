public import Foundation
public import JSONMapper
public import OneWaySynchronizer
package import SyncBase

/// Why a sync was rolled back, apart from errors of the JSON, the mapping and the store.
public enum StoreSyncError: Error, Hashable, Sendable {
    /// The model of the store has no compiled mapping, or another one than the store's data.
    case differentModels
    /// More objects are absent than may be deleted.
    case removalLimitExceeded(entity: String, removals: Int, localCount: Int, limit: RemovalLimit)
    /// The payload differs from the model or contradicts itself, or objects were rejected, and the
    /// options do not allow it.
    case payloadDiffers(DriftReport, rejectedCount: Int)
    /// The parent is not in the store, or more than one object matches it.
    case noParent(entity: String)
    /// The parent's entity does not have exactly one suitable relationship to the children, of the
    /// given name, if any.
    case noRelationship(entity: String, destination: String)
    /// No element of the payload, or of one of its pages, has a usable identity, or any key of an
    /// entity without an identity.
    ///
    /// Such JSON is an error report, or the list is elsewhere in it. `key` names the keys of the
    /// identity; empty without one.
    /// `lists` are the first lists in the JSON, if it is an object.
    case unidentifiedObjects(entity: String, key: String, count: Int, lists: [JSONError.List] = [])
    /// The value of a relationship is not an object, an identifier or, where allowed, an array of
    /// them.
    case unsuitableRelationship(entity: String, relationship: String, index: Int)
    /// The key has a different number of values than the entity's identity.
    case unsuitableKey(entity: String)
    /// The value at the key path of tombstones is not a list.
    case unsuitableTombstones(entity: String, keyPath: String)
    /// This many pages in a row had the same objects as earlier pages.
    case repeatedPages(entity: String, count: Int)
    /// The source supplies objects without JSON, which a hook, tombstones that are fields, or a
    /// `StoreProcessor` would read.
    case noJSON(entity: String)
    /// The details that a `StoreProcessor` fetched are not the requested object alone. `count` is
    /// the number of objects in them.
    case unrequestedDetails(entity: String, count: Int)
    /// The entity does not have the attribute that is to order the versions of an object.
    case unknownVersion(entity: String, attribute: String)
}

extension StoreSyncError: CustomStringConvertible {
    /// A readable sentence without values.
    public var description: String {
        switch self {
        case .differentModels:
            "the store was not opened for JSON: open it with types or a model, or give a store of your own "
                + "the model of a RecordMapper"
        case .removalLimitExceeded(let entity, let removals, let localCount, let limit):
            "\(removals) of \(localCount) \(entity) would be deleted; the limit is \(limit)"
        case .payloadDiffers(let drift, let rejectedCount):
            "the payload differs from the model: "
                + (drift.entries.prefix(3).map { "\($0)" }
                + (drift.entries.count > 3 ? [Self.count(drift.entries.count - 3, "more place")] : [])
                + (rejectedCount > 0 ? [Self.count(rejectedCount, "object") + " left out"] : []))
                .joined(separator: "; ")
        case .noParent(let entity): "there is no such \(entity), or more than one"
        case .noRelationship(let entity, let destination):
            "\(entity) has no relationship to \(destination), or has several and none was named"
        case .unidentifiedObjects(let entity, let key, let count, let lists):
            (count == 1 ? "the only object has " : "none of the \(count) elements has ")
                + (key.isEmpty
                    ? "\(count == 1 ? "no" : "a") key of \(entity)" : "\(count == 1 ? "no" : "a") usable \(key)")
                + ", so the JSON is not a list of \(entity); "
                + (JSONError.List.text(lists)
                    ?? #"if the list is inside, give its key path, as in StoreSyncOptions(keyPath: "data.items")"#)
        case .unsuitableRelationship(let entity, let relationship, let index):
            "\(entity).\(relationship), element \(index): the value does not identify an object"
        case .unsuitableKey(let entity): "the key does not fit the identity of \(entity)"
        case .unsuitableTombstones(let entity, let keyPath):
            "the value at \(keyPath) is not a list of deleted \(entity) objects"
        case .repeatedPages(let entity, let count):
            "\(count) pages in a row had the same \(entity) objects as pages before them; "
                + "the source seems to ignore the number of the requested page"
        case .noJSON(let entity):
            "the source supplies \(entity) objects without JSON, which hooks, tombstones in fields, and items need"
        case .unrequestedDetails(let entity, let count):
            "the details of the requested \(entity) are "
                + (count == 0 ? "empty" : count == 1 ? "those of another one" : "\(count) objects")
        case .unknownVersion(let entity, let attribute): "\(entity) has no attribute \(attribute)"
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

extension StoreSyncError: LocalizedError {
    /// The same sentence as ``description``.
    public var errorDescription: String? { description }
}

extension StoreSyncError: AreaError {
    package var errorArea: ErrorArea {
        switch self {
        case .repeatedPages: .server
        case .removalLimitExceeded, .payloadDiffers, .noParent, .unidentifiedObjects, .unsuitableRelationship,
            .unsuitableTombstones, .unrequestedDetails:
            .data
        case .differentModels, .noRelationship, .unsuitableKey, .noJSON, .unknownVersion: .program
        }
    }
}
