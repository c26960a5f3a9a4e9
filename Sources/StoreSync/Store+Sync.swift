public import JSONMapper
public import SyncModel
public import SyncStore

extension Store {
    /// The store with the mapping and the history that it was opened with.
    var syncing: JSONStore {
        get throws {
            guard let mapper = model.mapper else { throw StoreSyncError.differentModels }
            return try JSONStore(self, mapper: mapper, history: model.companion(SyncHistory.self))
        }
    }

    // MARK: Many objects

    /// Makes the objects of an entity equal to those of a payload.
    ///
    ///     try await store.sync("User", .file("users.json"))
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
    /// Every writing call is one transaction. It is rolled back if it throws, if its task is
    /// cancelled, or if the lease that it runs under is lost (see `SyncLease`). Calls on one store
    /// run one at a time in the order in which they were made.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - json: An array of objects, or one object.
    ///   - parent: The object whose children the payload lists. The children are related to it, and
    ///     only its children can be absent. Nil, the default, for none.
    ///   - options: The options of the sync.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: `JSONError`, `MappingError`, ``StoreSyncError``, `StoreError`,
    ///   `RecordPredicateError`, `CancellationError`, and errors of the source, the hook and the
    ///   store. After an error, nothing has changed.
    @discardableResult
    public func sync(
        _ entity: String, _ json: JSONSource, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await syncing.sync(json, into: entity, childrenOf: parent, options: options)
    }

    /// Makes the objects of an entity equal to those of several payloads together.
    ///
    /// Objects that are absent from all payloads are deleted after the last payload.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - pages: The payloads, in any order and of any size. If several contain the same object,
    ///     the last one counts.
    ///   - parent: The object whose children the payloads list; nil, the default, for none.
    ///   - options: The options of the sync.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`, and errors of the
    ///   sequence. After an error, nothing has changed.
    @discardableResult
    public func sync<Pages: AsyncSequence & Sendable>(
        _ entity: String, pages: Pages, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult where Pages.Element == JSONSource {
        try await syncing.sync(pages: pages, into: entity, childrenOf: parent, options: options)
    }

    /// Makes the objects of an entity equal to those of several payloads at hand together.
    ///
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`.
    @discardableResult
    public func sync(
        _ entity: String, pages: [JSONSource], childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await syncing.sync(pages: pages, into: entity, childrenOf: parent, options: options)
    }

    /// Predicts the result of a sync. Runs the same code without writing.
    ///
    /// - Returns: The result that the sync would have.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`.
    public func plan(
        _ entity: String, _ json: JSONSource, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await syncing.plan(json, into: entity, childrenOf: parent, options: options)
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
    ///   - entity: The entity of the objects. The entity mapper may choose a sub-entity for each.
    ///   - json: An array of objects or identifiers, or a single one.
    ///   - keyPath: The keys that lead to the array, separated by dots.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`. An object or a
    ///   relationship that does not fit is an error too. After an error, nothing has changed.
    @discardableResult
    public func importObjects(
        _ entity: String, _ json: JSONSource, keyPath: String = ""
    ) async throws -> StoreSyncResult {
        try await syncing.importObjects(json, into: entity, keyPath: keyPath)
    }

    /// Inserts or updates objects by their identity, without deleting absent ones.
    ///
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`.
    @discardableResult
    public func insertOrUpdate(_ entity: String, _ json: JSONSource) async throws -> StoreSyncResult {
        try await syncing.insertOrUpdate(json, into: entity)
    }

    // MARK: One object

    /// Updates one object with JSON, regardless of the key in the JSON.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object, or an entity that it inherits from.
    ///   - key: The key of the object.
    ///   - json: An object. An absent key leaves its property unchanged.
    /// - Returns: The result; nil if no object has the key.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`;
    ///   `StoreError.identityTaken` if the JSON contains the key of another object.
    @discardableResult
    public func update(_ entity: String, key: Record.Key, with json: JSONValue) async throws -> StoreSyncResult? {
        try await syncing.update(key, in: entity, with: json)
    }

    /// Deletes one object, and applies the delete rules.
    ///
    /// - Returns: Whether the object existed.
    /// - Throws: `StoreError.deletionDenied`, and errors of the store.
    @discardableResult
    public func delete(_ entity: String, key: Record.Key) async throws -> Bool {
        try await syncing.delete(key, in: entity)
    }

    // MARK: A source

    /// Makes the objects of an entity equal to those of a source, from its full list or from its
    /// changes.
    ///
    /// The source's bookmark is stored with the objects, in the same transaction. If the source
    /// reports no change, nothing is written, unless the bookmark changes or the history records
    /// such syncs. A bookmark becomes invalid when the source, the options or the model change, or
    /// when another list replaces the objects. Lists that share an entity each need a scope
    /// (`StoreSyncOptions.scope`). An entity without a key, or with a hash of the content as its
    /// key, is always read in full.
    ///
    /// If objects were rejected, the next sync reads the pages again, although they may be
    /// unchanged, and reports them again:
    ///
    /// - Changes are requested again from the same cursor, until none of them is rejected or the
    ///   whole list is read.
    /// - After a whole list, the cursor stays, so that one unsuitable object does not make every
    ///   sync read the list. The object is reported again when it changes, and by the next full
    ///   pass. If the store refused an object or has no parent for it, which can change without a
    ///   change of the object, the next sync reads the whole list.
    ///
    /// All pages are read in one transaction and in bounded memory. Until the commit, readers see
    /// the old state and other writers wait.
    ///
    /// An absent object is deleted only if it is known to be gone:
    ///
    /// - If the source has several pages that are not of one moment, they are read a second time
    ///   before anything is deleted, and a third time if the objects differed. Objects that are
    ///   still in doubt are kept, counted, and examined by the next sync.
    /// - Pages of changes are read again in the same way, because a change may move from one page
    ///   to another. If they are in doubt after the third time, the next sync asks for them again.
    /// - If pages repeat objects of earlier pages, and the source does not count its objects,
    ///   nothing is deleted unless the pages are of one moment: a list without a unique order
    ///   repeats some objects and leaves out others.
    /// - If a page has elements but none with a key, nothing is deleted, because such a page
    ///   reports an error.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - source: The source of the objects.
    ///   - options: The options of the sync. The removal limit also counts objects that the source
    ///     names as gone.
    ///   - usesBookmark: Whether to ask the source only for its changes, if it can report them.
    ///     False reads everything.
    ///   - progress: Called after each batch of objects. It must not block.
    /// - Returns: The result, with the coverage and the size of the transfer.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`, and errors of the
    ///   source. After an error, nothing has changed.
    @discardableResult
    public func sync(
        _ entity: String, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        try await syncing.sync(
            from: source, into: entity, options: options, usesBookmark: usesBookmark, progress: progress)
    }

    /// Predicts the result of a sync from a source. Runs the same code without writing.
    ///
    /// - Returns: The result that the sync would have.
    /// - Throws: The errors of
    ///   `sync(_:from:options:usesBookmark:progress:)`.
    public func plan(
        _ entity: String, from source: some RemoteSource, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        try await syncing.plan(
            from: source, into: entity, options: options, usesBookmark: usesBookmark, progress: progress)
    }

    // MARK: Changes

    /// Applies changes that a source reported on its own, in one transaction.
    ///
    /// Objects are inserted, updated and related as in a sync. Only objects that are named as gone
    /// are deleted. If several changes concern one object, the last one counts.
    ///
    /// A change may contain only a part of an object. A key that it lacks leaves the property
    /// unchanged, even if the entity was inferred from a sample, unless the options say
    /// `absentKeys: .clear`.
    ///
    /// The bookmarks of the changed entities lose their entity tags. The next sync therefore reads
    /// the lists themselves, and corrects anything that a change stored wrongly.
    ///
    ///     // In the handler of a webhook
    ///     let change = RemoteChange.objects(.bytes(body), keyPath: "data.object")
    ///     let options = StoreSyncOptions(newerBy: "updatedAt")
    ///     try await store.apply("Order", [change], options: options)
    ///
    /// A concurrent sync may have read its pages before the change happened, and would then undo
    /// it. A ``LiveSync`` prevents this.
    ///
    /// - Parameters:
    ///   - entity: The entity of the objects, unless a change names its own.
    ///   - changes: The changes, in order.
    ///   - options: The allowed operations and other options. The key path is not used. The removal
    ///     limit applies to objects that are named as gone. `newerBy` ignores changes and removals
    ///     that are older than the stored object, unless they are in a file or a stream; without
    ///     it, changes are applied in order.
    /// - Returns: The result, with the coverage ``StoreSyncResult/Coverage/changes``.
    /// - Throws: The errors of `sync(_:_:childrenOf:options:)`. After an error,
    ///   nothing has changed.
    @discardableResult
    public func apply(
        _ entity: String, _ changes: [RemoteChange], options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await syncing.apply(changes, into: entity, options: options)
    }
}
