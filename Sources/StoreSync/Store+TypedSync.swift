public import JSONMapper
public import SyncModel
public import SyncStore

/// The calls of `Store+Sync.swift`, with a type in place of an entity's name.
extension Store {
    /// Makes the objects of a type equal to those of a payload.
    ///
    ///     try await store.sync(User.self, .text(#"[{"id": 1, "name": "Ada"}]"#))
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - json: An array of objects, or one object.
    ///   - parent: The object whose children the payload lists. The children are related to it, and
    ///     only its children can be absent. Nil, the default, for none.
    ///   - options: The options of the sync.
    /// - Returns: The counts, rejected objects and drift.
    /// - Throws: As `sync(_:_:childrenOf:options:)`.
    @discardableResult
    public func sync(
        _ type: (some SyncObject).Type, _ json: JSONSource, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await sync(type.entityName, json, childrenOf: parent, options: options)
    }

    /// Makes the objects of a type equal to those of several payloads together.
    ///
    /// - Throws: As `sync(_:pages:childrenOf:options:)`.
    @discardableResult
    public func sync<Pages: AsyncSequence & Sendable>(
        _ type: (some SyncObject).Type, pages: Pages, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult where Pages.Element == JSONSource {
        try await sync(type.entityName, pages: pages, childrenOf: parent, options: options)
    }

    /// Makes the objects of a type equal to those of several payloads at hand together.
    ///
    ///     try await store.sync(User.self, pages: [.text(#"[{"id": 1}]"#), .text(#"[{"id": 2}]"#)])
    ///
    /// - Throws: As `sync(_:_:childrenOf:options:)`.
    @discardableResult
    public func sync(
        _ type: (some SyncObject).Type, pages: [JSONSource], childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await sync(type.entityName, pages: pages, childrenOf: parent, options: options)
    }

    /// Predicts the result of a sync. Runs the same code without writing.
    ///
    /// - Throws: As `plan(_:_:childrenOf:options:)`.
    public func plan(
        _ type: (some SyncObject).Type, _ json: JSONSource, childrenOf parent: StoreSyncOptions.Parent? = nil,
        options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        try await plan(type.entityName, json, childrenOf: parent, options: options)
    }

    /// Inserts or merges objects by their identity, without deleting any; see
    /// `importObjects(_:_:keyPath:)`.
    @discardableResult
    public func importObjects(
        _ type: (some SyncObject).Type, _ json: JSONSource, keyPath: String = ""
    ) async throws -> StoreSyncResult {
        try await importObjects(type.entityName, json, keyPath: keyPath)
    }

    /// Inserts or updates objects by their identity, without deleting absent ones.
    ///
    /// - Throws: As `insertOrUpdate(_:_:)`.
    @discardableResult
    public func insertOrUpdate(_ type: (some SyncObject).Type, _ json: JSONSource) async throws -> StoreSyncResult {
        try await insertOrUpdate(type.entityName, json)
    }

    /// Updates one object with JSON, regardless of the key in the JSON; see
    /// `update(_:key:with:)`.
    @discardableResult
    public func update(
        _ type: (some SyncObject).Type, key: Record.Key, with json: JSONValue
    ) async throws -> StoreSyncResult? {
        try await update(type.entityName, key: key, with: json)
    }

    /// Deletes one object, and applies the delete rules.
    ///
    /// - Returns: Whether the object existed.
    /// - Throws: As `delete(_:key:)`.
    @discardableResult
    public func delete(_ type: (some SyncObject).Type, key: Record.Key) async throws -> Bool {
        try await delete(type.entityName, key: key)
    }

    /// Makes the objects of a type equal to those of a source, from its full list or from its
    /// changes.
    ///
    ///     let result = try await store.sync(User.self, from: .url(url, pages: .link))
    ///     print(result)
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - source: The source of the objects.
    ///   - options: The options of the sync.
    ///   - usesBookmark: Whether to ask the source only for its changes, if it can report them.
    ///     False reads everything.
    ///   - progress: Called after each batch of objects. It must not block.
    /// - Returns: The result, with the coverage and the size of the transfer.
    /// - Throws: As `sync(_:from:options:usesBookmark:progress:)`, which
    ///   describes when objects are deleted.
    @discardableResult
    public func sync(
        _ type: (some SyncObject).Type, from source: some RemoteSource,
        options: StoreSyncOptions = StoreSyncOptions(), usesBookmark: Bool = true,
        progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        try await sync(
            type.entityName, from: source, options: options, usesBookmark: usesBookmark, progress: progress)
    }

    /// Predicts the result of a sync from a source. Runs the same code without writing.
    ///
    /// - Throws: As `plan(_:from:options:usesBookmark:progress:)`.
    public func plan(
        _ type: (some SyncObject).Type, from source: some RemoteSource,
        options: StoreSyncOptions = StoreSyncOptions(), usesBookmark: Bool = true,
        progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        try await plan(
            type.entityName, from: source, options: options, usesBookmark: usesBookmark, progress: progress)
    }

    /// Applies changes that a source reported on its own, in one transaction.
    ///
    ///     // In the handler of a webhook
    ///     let change = RemoteChange.objects(.bytes(body), keyPath: "data.object")
    ///     try await store.apply(Order.self, [change], newerBy: \.updatedAt)
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - changes: The changes, in order.
    ///   - options: The allowed operations and other options.
    ///   - version: The property that orders the versions of an object, as
    ///     ``StoreSyncOptions/newerBy``; nil, the default, leaves it to the options.
    /// - Throws: As `apply(_:_:options:)`, which describes the rules.
    @discardableResult
    public func apply<Object: SyncObject>(
        _ type: Object.Type, _ changes: [RemoteChange], options: StoreSyncOptions = StoreSyncOptions(),
        newerBy version: PartialKeyPath<Object>? = nil
    ) async throws -> StoreSyncResult {
        try await apply(Object.entityName, changes, options: options.newer(by: version))
    }
}
