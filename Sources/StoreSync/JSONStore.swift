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
/// Every writing call is one transaction. It is rolled back when it throws, when its task is
/// cancelled, and when a lease is lost that it runs under (see `SyncLease`). Calls on one store run
/// one after another in the order in which they were made, even through several values of this
/// type.
public struct JSONStore: Sendable {
    /// The store that holds the objects.
    public let store: any Store
    /// The mapper that turns JSON into objects.
    public let mapper: RecordMapper
    /// How syncs are recorded in the store; nil if they are not.
    public let history: SyncHistory?

    /// Creates a JSON store from a store and a mapper.
    ///
    /// - Parameters:
    ///   - store: The store that holds the objects.
    ///   - mapper: The mapper that turns JSON into objects.
    ///   - history: How syncs are recorded in the store. Nil, the default, records nothing.
    /// - Throws: `StoreSyncError.differentModels` unless the store's model equals `mapper.model`;
    ///   `ModelError.unknownEntity` if there is a history and the model lacks `SyncHistory.entity`.
    public init(_ store: any Store, mapper: RecordMapper, history: SyncHistory? = nil) throws {
        guard store.model.isData(of: mapper.model) else { throw StoreSyncError.differentModels }
        if history != nil { _ = try mapper.model.layout(of: SyncHistory.entity.name) }
        self.store = store
        self.mapper = mapper
        self.history = history
    }

    // MARK: Many objects

    /// Creates the objects of an entity equal to those of a payload.
    ///
    /// Objects are inserted, updated and related, and objects that are absent from the payload are
    /// deleted. An object is matched by its identity. A key that is absent leaves its property as
    /// it is; null clears it. If several objects have one identity, the last one wins. Objects
    /// without a key, or with a key of the wrong type, are left out and reported. Objects that do
    /// not differ are not written.
    ///
    /// If the value contract leaves out an object that has a key, or the key of an object has the
    /// wrong type, no object is deleted for being absent, because it may be that one.
    ///
    /// - Parameters:
    ///   - json: An array of objects, or one object.
    ///   - entity: The entity of the objects. Objects of its sub-entities count as well.
    ///   - parent: The object whose children the payload lists. The children are related to it, and
    ///     only its children can be absent. Nil, the default, for none.
    ///   - options: What the sync may do, and how.
    /// - Returns: What was done.
    /// - Throws: `JSONError`, `MappingError`, ``StoreSyncError``, `StoreError`,
    ///   `RecordPredicateError`, `CancellationError`, and errors of the source, the hook and the
    ///   store. After an error nothing has been done.
    @discardableResult
    public func sync(
        _ json: JSONSource, into entity: String, childrenOf parent: JSONStore.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await sync({ PayloadList([json]) }, into: entity, childrenOf: parent, options: options)
    }

    /// Creates the objects of an entity equal to those of many payloads together.
    ///
    /// Objects that are absent from all payloads are deleted once, after the last payload.
    ///
    /// - Parameters:
    ///   - pages: The payloads, in any order and of any sizes. An object may be in several; the
    ///     last one wins.
    ///   - entity: The entity of the objects; objects of sub-entities are included.
    ///   - parent: The object that the payloads' objects are children of; nil, the default, for
    ///     none.
    ///   - options: What may be done, and how.
    /// - Returns: What was done.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``, and errors of the sequence.
    ///   After an error nothing has been done.
    @discardableResult
    public func sync<Pages: AsyncSequence & Sendable>(
        pages: Pages, into entity: String,
        childrenOf parent: JSONStore.Parent? = nil, options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult where Pages.Element == JSONSource {
        try await sync({ PayloadList(pages) }, into: entity, childrenOf: parent, options: options)
    }

    private func sync(
        _ payloads: @Sendable () -> PayloadList, into entity: String, childrenOf parent: JSONStore.Parent?,
        options: StoreSyncOptions
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await recorded(into: entity) { recorder in
            try await changeUnlessUndone { transaction in
                try await request.run(payloads(), in: transaction, of: store).map(\.summary.result)
            } noting: { result, transaction in
                try await BookmarkPlace.noteChanges(
                    in: result, by: request, asList: request.sweeps && parent == nil, transaction)
                try await recorder?.succeed(result, in: transaction)
            }
        }
    }

    /// Predicts the result of a sync by the same code, without writing.
    ///
    /// - Returns: The result that the sync would have.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``.
    public func plan(
        _ json: JSONSource, into entity: String, childrenOf parent: JSONStore.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await planned { try await request.run([json], in: $0, of: store).value }
    }

    /// Runs a body in a transaction that is always rolled back.
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

    /// Inserts or merges objects by their identity, without deleting any. Objects without an
    /// identity are inserted.
    ///
    /// Nested objects are imported as well. A relationship that the payload names leads only to the
    /// objects that the payload names for it. An identifier stands for its object; if the store
    /// lacks that object, it is inserted with the identifier only. In the Groot dialect, a new
    /// object that lacks a mandatory attribute is an error.
    ///
    /// - Parameters:
    ///   - json: An array of objects or identifiers, or a single one.
    ///   - entity: The entity of the objects. The entity mapper may choose a sub-entity for each.
    ///   - keyPath: The keys that lead to the array, separated by dots.
    /// - Returns: What was done.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``, also for an object or a
    ///   relationship that does not fit. After an error nothing has been done.
    @discardableResult
    public func importObjects(
        _ json: JSONSource, into entity: String, keyPath: String = ""
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(
            mapper: mapper, entity: entity, options: StoreSyncOptions(keyPath: keyPath),
            rules: SyncRules(importing: mapper.dialect))
        return try await changed(by: json, request)
    }

    /// Inserts or updates objects by their identity, without deleting absent ones.
    ///
    /// - Returns: What was done.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``.
    @discardableResult
    public func insertOrUpdate(_ json: JSONSource, into entity: String) async throws -> StoreSyncResult {
        let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
        let request = SyncRequest(mapper: mapper, entity: entity, options: options)
        return try await changed(by: json, request)
    }

    /// Carries out a request that deletes nothing for being absent.
    private func changed(by json: JSONSource, _ request: SyncRequest) async throws -> StoreSyncResult {
        try await changeUnlessUndone { transaction in
            try await request.run([json], in: transaction, of: store)
        } noting: { result, transaction in
            try await BookmarkPlace.noteChanges(in: result, by: request, asList: false, transaction)
        }
    }

    // MARK: One object

    /// Updates one object by JSON, whatever key the JSON itself has.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - entity: The entity of the object, or an entity it inherits from.
    ///   - json: An object. A key that is absent leaves its property as it is.
    /// - Returns: What was done; nil, and nothing is done, if there is no such object.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``; `StoreError.identityTaken` if
    ///   the JSON gives the object the key of another one.
    @discardableResult
    public func update(_ key: RecordKey, in entity: String, with json: JSONValue) async throws -> StoreSyncResult? {
        let request = SyncRequest(mapper: mapper, entity: entity)
        return try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return nil }
            return try await request.update(stored, with: json, in: transaction)
        }
    }

    /// Deletes one object and applies the delete rules.
    ///
    /// - Returns: Whether there was such an object.
    /// - Throws: `StoreError.deletionDenied`, and errors of the store.
    @discardableResult
    public func delete(_ key: RecordKey, in entity: String) async throws -> Bool {
        try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return false }
            try await transaction.remove(StoreQuery(entity, objects: .only([stored.object])))
            try await transaction.forgetPendingLinksOfMissingObjects()
            return true
        }
    }
}
