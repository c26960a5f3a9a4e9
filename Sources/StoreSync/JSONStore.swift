package import JSONMapper
import OneWaySynchronizer
package import SyncModel
package import SyncStore

/// A store with the mapping that it was opened with, which carries out the syncs of the store.
package struct JSONStore: Sendable {
    /// The store that holds the objects.
    package let store: any Store
    /// The mapper that turns JSON into objects.
    package let mapper: RecordMapper
    /// The settings of the sync history; nil if syncs are not recorded.
    package let history: SyncHistory?
    /// What all syncs of the store share.
    let shared: SharedSyncs

    /// Creates a JSON store from a store and a mapper.
    ///
    /// - Throws: `StoreSyncError.differentModels` unless the store's model equals `mapper.model`.
    package init(_ store: any Store, mapper: RecordMapper, history: SyncHistory? = nil) throws {
        guard store.model.isData(of: mapper.model) else { throw StoreSyncError.differentModels }
        if history != nil { _ = try mapper.model.layout(of: SyncEntity.pass.name) }
        self.store = store
        self.mapper = mapper
        self.history = history
        shared = store.model.companion(SharedSyncs.self) ?? SharedSyncs()
    }

    // MARK: Many objects

    /// Makes the objects of an entity equal to those of a payload.
    ///
    /// Objects are matched by identity. They are inserted, updated and related, and objects that
    /// are absent from the payload are deleted. An absent key leaves its property unchanged; null
    /// clears it. If several objects have the same identity, the last one counts. Objects that do
    /// not differ are not written. Objects without a key, or with a key of the wrong type, are
    /// rejected and reported.
    ///
    /// If a rejected object has a key, or a key of the wrong type, no absent object is deleted,
    /// because the rejected object may be one of them.
    ///
    /// - Parameters:
    ///   - json: An array of objects, or one object.
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - parent: The object whose children the payload lists. The children are related to it, and
    ///     only its children can be absent. Nil, the default, for none.
    ///   - options: The options of the sync.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: `JSONError`, `MappingError`, ``StoreSyncError``, `StoreError`,
    ///   `RecordPredicateError`, `CancellationError`, and errors of the source, the hook and the
    ///   store. After an error, nothing has changed.
    @discardableResult
    package func sync(
        _ json: JSONSource, into entity: String, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await sync({ PayloadList([json]) }, into: entity, childrenOf: parent, options: options)
    }

    /// Makes the objects of an entity equal to those of several payloads together.
    ///
    /// Objects that are absent from all payloads are deleted after the last payload.
    ///
    /// - Parameters:
    ///   - pages: The payloads, in any order and of any size. If several contain the same object,
    ///     the last one counts.
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - parent: The object whose children the payloads list; nil, the default, for none.
    ///   - options: The options of the sync.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``, and errors of the sequence.
    ///   After an error, nothing has changed.
    @discardableResult
    package func sync<Pages: AsyncSequence & Sendable>(
        pages: Pages, into entity: String,
        childrenOf parent: StoreSyncOptions.Parent? = nil, options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult where Pages.Element == JSONSource {
        try await sync({ PayloadList(pages) }, into: entity, childrenOf: parent, options: options)
    }

    /// Makes the objects of an entity equal to those of several payloads at hand together.
    func sync(
        pages: [JSONSource], into entity: String, childrenOf parent: StoreSyncOptions.Parent?,
        options: StoreSyncOptions
    ) async throws -> StoreSyncResult {
        try await sync({ PayloadList(pages) }, into: entity, childrenOf: parent, options: options)
    }

    private func sync(
        _ payloads: @Sendable () -> PayloadList, into entity: String, childrenOf parent: StoreSyncOptions.Parent?,
        options: StoreSyncOptions
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await recorded(into: entity) { recorder in
            let payloads = payloads()
            return try await change(isAtHand: payloads.isAtHand) { transaction in
                let result = try await request.run(payloads, as: .payloads, in: transaction).summary
                try await BookmarkPlace.noteChanges(
                    in: result, by: request, asList: request.deletesAbsent && parent == nil, transaction)
                try await recorder?.succeed(result, in: transaction)
                return result
            }
        }
    }

    /// Predicts the result of a sync. Runs the same code without writing.
    ///
    /// - Returns: The result that the sync would have.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``.
    package func plan(
        _ json: JSONSource, into entity: String, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(mapper: mapper, entity: entity, parent: parent, options: options)
        return try await planned { try await request.run([json], in: $0) }
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

    /// The error that rolls back the transaction of a plan.
    private struct Planned<Result: Sendable>: Error {
        let result: Result
    }

    /// Inserts or merges objects by their identity, without deleting any. Objects without an
    /// identity are inserted.
    ///
    /// Nested objects are imported too. A relationship that the payload states leads only to the
    /// stated objects. An identifier refers to an object; if the store lacks it, an object with
    /// only that identifier is inserted. In the Groot dialect, a new object without a mandatory
    /// attribute is an error.
    ///
    /// - Parameters:
    ///   - json: An array of objects or identifiers, or a single one.
    ///   - entity: The entity of the objects. The entity mapper may choose a sub-entity for each.
    ///   - keyPath: The keys that lead to the array, separated by dots.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``. An object or a relationship
    ///   that does not fit is an error too. After an error, nothing has changed.
    @discardableResult
    package func importObjects(
        _ json: JSONSource, into entity: String, keyPath: String = ""
    ) async throws -> StoreSyncResult {
        let request = SyncRequest(
            mapper: mapper, entity: entity, options: StoreSyncOptions(keyPath: keyPath),
            rules: SyncRules(importing: mapper.dialect))
        return try await changed(by: json, request)
    }

    /// Inserts or updates objects by their identity, without deleting absent ones.
    ///
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``.
    @discardableResult
    package func insertOrUpdate(_ json: JSONSource, into entity: String) async throws -> StoreSyncResult {
        let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
        let request = SyncRequest(mapper: mapper, entity: entity, options: options)
        return try await changed(by: json, request)
    }

    /// Carries out a request that deletes no absent objects.
    private func changed(by json: JSONSource, _ request: SyncRequest) async throws -> StoreSyncResult {
        try await change(isAtHand: json.isAtHand) { transaction in
            let result = try await request.run([json], in: transaction)
            try await BookmarkPlace.noteChanges(in: result, by: request, asList: false, transaction)
            return result
        }
    }

    // MARK: One object

    /// Updates one object with JSON, regardless of the key in the JSON.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - entity: The entity of the object, or an entity that it inherits from.
    ///   - json: An object. An absent key leaves its property unchanged.
    /// - Returns: The result; nil if no object has the key.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``; `StoreError.identityTaken` if
    ///   the JSON contains the key of another object.
    @discardableResult
    package func update(_ key: Record.Key, in entity: String, with json: JSONValue) async throws -> StoreSyncResult? {
        let request = SyncRequest(mapper: mapper, entity: entity)
        return try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return nil }
            return try await request.update(stored, with: json, in: transaction)
        }
    }

    /// Deletes one object, and applies the delete rules.
    ///
    /// - Returns: Whether the object existed.
    /// - Throws: `StoreError.deletionDenied`, and errors of the store.
    @discardableResult
    package func delete(_ key: Record.Key, in entity: String) async throws -> Bool {
        try await change { transaction in
            guard let stored = try await transaction.record(entity, key: key) else { return false }
            try await transaction.remove(StoreQuery(entity, objects: .only([stored.object])))
            try await transaction.forgetPendingLinksOfMissingObjects()
            return true
        }
    }
}
