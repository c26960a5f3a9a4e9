public import JSONMapper
import OneWaySynchronizer
public import SyncModel
public import SyncStore

/// A store that JSON is synced into and exported from.
///
///     let mapper = try RecordMapper(model)
///     let store = try JSONStore(MemoryStore(mapper.model), mapper: mapper)
///     let result = try await store.sync(.bytes(json), into: "User")
///     result.counts.inserted
///
/// Every call that writes is one transaction: it comes to pass in whole or not at all, also where its task is cancelled, or has lost a lease
/// that it runs under (see `SyncLease`). Calls on one store run one after another, in the order in which they were made, through however
/// many values of this type.
public struct JSONStore: Sendable {
    /// Where the objects are.
    public let store: any Store
    /// How JSON becomes objects.
    public let mapper: RecordMapper
    /// How syncs are recorded in the store; nil if they are not.
    public let history: SyncHistory?

    /// Puts a store and a mapper together.
    ///
    /// - Parameters:
    ///   - store: Where the objects are.
    ///   - mapper: How JSON becomes objects.
    ///   - history: How syncs are recorded in the store; nil, the default, where they are not.
    /// - Throws: `StoreSyncError.differentModels` unless the store's model is `mapper.model`; `ModelError.unknownEntity` where there is to be a
    ///   history and the model lacks `SyncHistory.entity`.
    public init(_ store: any Store, mapper: RecordMapper, history: SyncHistory? = nil) throws {
        guard store.model == mapper.model else { throw StoreSyncError.differentModels }
        if history != nil { _ = try mapper.model.layout(of: SyncHistory.entity.name) }
        self.store = store
        self.mapper = mapper
        self.history = history
    }

    // MARK: Many objects

    /// Makes the objects of an entity equal to those of a payload: inserts, updates, relates, and deletes what is absent.
    ///
    /// An object is matched by its identity. Keys that are absent in the payload leave what they stand for as it is, null clears it. Of
    /// several objects of one identity the last one wins. Objects without a key, or with one of the wrong type, are left out and
    /// reported. Nothing that would not change is written.
    ///
    /// Where the value contract leaves out an object that has a key, nothing is deleted for being absent: it may be that object.
    ///
    /// - Parameters:
    ///   - json: An array of objects, or one.
    ///   - entity: Their entity; objects of sub-entities are meant as well.
    ///   - parent: The object whose children they are: they are related to it, and what is absent is looked for among its children alone. Nil, the
    ///     default, for none.
    ///   - options: What may be done, and how.
    /// - Returns: What was done.
    /// - Throws: `JSONError`, `MappingError`, `StoreSyncError`, `StoreError`, `RecordPredicateError`, `CancellationError`, what the source, the hook and the
    ///   store throw; then nothing has been done.
    @discardableResult
    public func sync(
        _ json: JSONSource, into entity: String, childrenOf parent: SyncParent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let session = SyncSession(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await recorded(into: entity) { recorder in
            try await change { transaction in
                let result = try await session.run([json], in: transaction)
                try await recorder?.succeed(result, in: transaction)
                return result
            }
        }
    }

    /// Makes the objects of an entity equal to those of many payloads together; what is absent from all of them is deleted once, after the
    /// last.
    ///
    /// - Parameter pages: The payloads, in any order and of any sizes; an object may be in several, of which the last one wins.
    /// - Returns: What was done.
    /// - Throws: As ``sync(_:into:childrenOf:options:)``, and what the sequence throws; then nothing has been done.
    @discardableResult
    public func sync(
        pages: any AsyncSequence<JSONSource, any Error> & Sendable, into entity: String,
        childrenOf parent: SyncParent? = nil, options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let session = SyncSession(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await recorded(into: entity) { recorder in
            try await change { transaction in
                let result = try await session.run(pages: pages, in: transaction)
                try await recorder?.succeed(result, in: transaction)
                return result
            }
        }
    }

    /// Says what a sync would do, by the same code; nothing is written.
    ///
    /// - Returns: What would be done.
    /// - Throws: What ``sync(_:into:childrenOf:options:)`` would.
    public func plan(
        _ json: JSONSource, into entity: String, childrenOf parent: SyncParent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let session = SyncSession(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await planned { try await session.run([json], in: $0) }
    }

    /// Does something in a transaction of which nothing remains.
    func planned<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await store.transaction { throw Planned(result: try await body($0)) }
        } catch let planned as Planned<Result> {
            return planned.result
        }
    }

    /// Ends the transaction of a plan.
    private struct Planned<Result: Sendable>: Error {
        let result: Result
    }

    /// Inserts or merges objects by their identity and deletes nothing; objects without an identity are inserted.
    ///
    /// What is nested is imported as well, and a relationship that is named leads to what is named from then on. An identifier alone stands
    /// for its object, which is made with nothing but that if there is none. In the Groot dialect a new object that lacks a mandatory attribute
    /// is an error.
    ///
    /// - Parameters:
    ///   - json: An array of objects or identifiers, or one.
    ///   - entity: Their entity; the entity mapper may name a sub-entity for each.
    ///   - keyPath: The keys that lead to the array, dots between them.
    /// - Returns: What was done.
    /// - Throws: As ``sync(_:into:childrenOf:options:)``; also for an object or relationship that does not fit. Then nothing has been done.
    @discardableResult
    public func importObjects(
        _ json: JSONSource, into entity: String, keyPath: String = ""
    ) async throws -> StoreSyncResult {
        var session = SyncSession(
            mapper: mapper, entity: entity, parent: nil, options: StoreSyncOptions(keyPath: keyPath))
        session.rules = SyncRules(importing: mapper.dialect)
        let importing = session
        return try await change { transaction in
            try await importing.run([json], in: transaction)
        }
    }

    // MARK: One object

    /// Inserts or updates objects by their identity; nothing is deleted for being absent.
    ///
    /// - Returns: What was done.
    /// - Throws: As ``sync(_:into:childrenOf:options:)``.
    @discardableResult
    public func insertOrUpdate(_ json: JSONSource, in entity: String) async throws -> StoreSyncResult {
        let options = StoreSyncOptions(operations: SyncOperations.all.subtracting(.delete))
        let session = SyncSession(mapper: mapper, entity: entity, parent: nil, options: options)
        return try await change { try await session.run([json], in: $0) }
    }

    /// Updates one object by JSON, whatever key the JSON itself has.
    ///
    /// - Parameters:
    ///   - key: What the object is found by.
    ///   - entity: Its entity, or one it inherits from.
    ///   - json: An object; keys that are absent leave what they stand for as it is.
    /// - Returns: What was done; nil if there is no such object, and then nothing is.
    /// - Throws: As ``sync(_:into:childrenOf:options:)``; `StoreError.identityTaken` where the JSON gives it the key of another object.
    @discardableResult
    public func update(_ key: RecordKey, in entity: String, with json: JSONValue) async throws -> StoreSyncResult? {
        let session = SyncSession(mapper: mapper, entity: entity, parent: nil, options: StoreSyncOptions())
        return try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return nil }
            return try await session.update(stored, with: json, in: transaction)
        }
    }

    /// Deletes one object, applying the delete rules.
    ///
    /// - Returns: Whether there was such an object.
    /// - Throws: `StoreError.deletionDenied`, and what the store throws.
    @discardableResult
    public func delete(_ key: RecordKey, in entity: String) async throws -> Bool {
        try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return false }
            try await transaction.remove(StoreQuery(entity, objects: .only([stored.object])))
            return true
        }
    }
}
