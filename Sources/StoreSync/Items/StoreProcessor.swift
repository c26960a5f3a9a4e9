import JSONMapper
public import OneWaySynchronizer
import SyncBase
public import SyncModel
public import SyncStore

/// A processor with which a `Synchronizer` keeps an entity of a store equal to a list.
///
///     let processor = try StoreProcessor(store, User.self, revision: \.updatedAt) {
///         .bytes(try await server.get("users?fields=id,updated_at"))
///     } details: { user in
///         .bytes(try await server.get("users/\(user)"))
///     }
///     let report = try await Synchronizer(processor: processor).sync()
///
/// The list is mapped like the objects themselves. Only its keys and revisions are used, unless
/// there are no details to fetch. A stored object is fetched again if its revision differs, or if
/// there is no revision to compare. If the model has gained a property, all objects are fetched
/// again, because their revisions are unchanged. Every pass does so, until one has fetched all
/// listed objects and kept no absent ones.
///
/// Fetched objects are written in batches. What has not been written yet is written when the pass
/// ends, even if it was cancelled or failed. An object that is rejected, or that is not the
/// requested one, is not stored, and the pass fails. The report counts fetched objects, and
/// ``counts`` those that were written.
public final class StoreProcessor: SyncProcessor {
    /// Lists the source.
    public typealias List = @Sendable () async throws -> JSONSource
    /// Fetches one object.
    public typealias Details = @Sendable (Record.Key) async throws -> JSONSource

    /// A fetched object.
    private struct Download {
        let key: Record.Key
        let json: JSONSource
    }

    /// An element of the list.
    private struct Entry {
        /// The item; nil if the element has no usable key.
        var item: Item?
        /// Whether the element may stand for any object.
        var isUnidentified = false
        /// Whether the element has no key of the entity.
        var isKeyless = false
    }

    private struct Fetched {
        var waiting: [Download] = []
        /// The number of objects that the pass has fetched.
        var count = 0
        var counts = StoreSyncResult.Counts()
        var errors: [any Error] = []
    }

    private let store: JSONStore
    private let entity: String
    private let scope: RecordPredicate
    private let revision: String?
    private let batchCount: Int
    private let list: List
    private let details: Details?
    private let fetched = Locked(Fetched())

    /// Creates a processor for the objects of a type.
    ///
    /// - Parameters:
    ///   - store: The store that holds the objects.
    ///   - type: The type of the objects, which has an identity.
    ///   - revision: The property that differs between versions of an object, such as a number or a
    ///     date. Nil, the default, fetches every object in every pass.
    ///   - scope: The objects that the list covers. Other objects are never removed. Nil, the
    ///     default, for all objects of the type.
    ///   - batchCount: The number of fetched objects per write, at least 1; 100 by default.
    ///   - list: Lists the source as an array of objects.
    ///   - details: Fetches the object of a key. Nil, the default, if the list has complete
    ///     objects.
    /// - Throws: `SyncDeclarationError` for a key path that leads to no coded property;
    ///   ``StoreSyncError/differentModels`` if the store was not opened for JSON.
    public convenience init<Object: SyncObject>(
        _ store: some Store, _ type: Object.Type, revision: PartialKeyPath<Object>? = nil,
        scope: ObjectPredicate<Object>? = nil, batchCount: Int = 100, list: @escaping List, details: Details? = nil
    ) throws {
        try self.init(
            store, Object.entityName, revision: try revision.map { try ObjectShape<Object>.shared().name(of: $0) },
            scope: try scope?.recordPredicate() ?? .constant(true), batchCount: batchCount, list: list,
            details: details)
    }

    /// Creates a processor for the objects of an entity that is known only at run time.
    ///
    /// The parameters are those of the initializer with a type.
    public init(
        _ store: some Store, _ entity: String, revision: String? = nil, scope: RecordPredicate = .constant(true),
        batchCount: Int = 100, list: @escaping List, details: Details? = nil
    ) throws {
        self.store = try store.syncing
        self.entity = entity
        self.revision = revision
        self.scope = scope
        self.batchCount = max(batchCount, 1)
        self.list = list
        self.details = details
    }

    /// The counts of objects that the current or last pass wrote. Removals are in the report of the
    /// pass.
    public var counts: StoreSyncResult.Counts {
        fetched.withLock { $0.counts }
    }

    /// Resets the counts.
    public func owsSyncBegin() async throws {
        fetched.withLock { $0 = Fetched() }
    }

    private var note: RefillNote { RefillNote(entity, where: scope, in: store.mapper.model) }

    /// Lists the source. The list is partial if an entry has no key.
    ///
    /// - Throws: The error of `list`; `JSONError`, `MappingError`;
    ///   `StoreSyncError.unidentifiedObjects` if there are entries and none has a key.
    public func owsFetchSourceList() async throws -> SourceList<Item> {
        let source = try await list()
        var result = SourceList<Item>([])
        var (unidentifiedCount, hasKeyless) = (0, false)
        let payload = try PayloadReader(
            source, at: "", mapper: store.mapper, entity: entity, options: RecordMapper.Reader.Options())
        while let (_, elements) = try await payload.nextElements() {
            for element in elements {
                let entry = try entry(element)
                if let item = entry.item { result.items.append(item) } else { result.isPartial = true }
                if entry.isUnidentified { unidentifiedCount += 1 }
                hasKeyless = hasKeyless || entry.isKeyless
            }
        }
        let progress = await payload.progress
        guard unidentifiedCount == 0 || unidentifiedCount < progress.elementCount else {
            let keys = hasKeyless ? [] : try store.mapper.mapping(of: entity).identityKeyPaths
            throw StoreSyncError.unidentifiedObjects(
                entity: entity, key: keys.joined(separator: ", "), count: progress.elementCount, lists: progress.lists)
        }
        return result
    }

    private func entry(_ element: PayloadReader.Element) throws -> Entry {
        var options = RecordMapper.Reader.Options()
        options.addedKey = element.addedKey
        var collector = try RecordCollector(store.mapper, entity: entity, options: options)
        try collector.add(element.bytes, index: 0)
        let batch = try collector.takeBatch()
        guard let group = batch?.groups.first else {
            let problem = batch?.rejected.first
            return Entry(isUnidentified: problem?.concernsIdentity(in: store.mapper.model) ?? true)
        }
        let record = Record(row: 0, of: group.records, layout: group.mapping.layout)
        let item = record.key.map {
            Item(owsPrimaryKey: $0, revision: revision.map { record[$0] } ?? .null, json: element.bytes)
        }
        let isKeyless = !group.keylessRows.isEmpty
        return Entry(item: item, isUnidentified: item == nil || isKeyless, isKeyless: isKeyless)
    }

    /// Returns the keys of the objects in the scope. Objects without an identity are ignored.
    ///
    /// - Throws: Errors of the store.
    public func owsGetLocalKeys() async throws -> Set<Record.Key> {
        let query = StoreQuery(entity, where: scope)
        return try await store.store.read { reader in
            var keys: Set<Record.Key> = []
            try await reader.fetch(query, batchRowCount: 1000) { batch in
                keys.formUnion(batch.compactMap(\.record.key))
            }
            return keys
        }
    }

    /// Deletes objects, and applies the delete rules.
    ///
    /// - Throws: `StoreError.deletionDenied`, and errors of the store.
    public func owsRemoveLocalItems(for keys: Set<Record.Key>) async throws {
        try await store.change { [entity] transaction in
            let rows = try await transaction.records(entity, keys: Array(keys)).map(\.object)
            try await transaction.remove(StoreQuery(entity, objects: .only(rows)))
            try await transaction.forgetPendingLinksOfMissingObjects()
        }
    }

    /// Returns the keys of objects whose revision is unknown or differs from the stored one.
    ///
    /// - Throws: Errors of the store.
    public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Record.Key>? {
        guard let revision else { return Set(items.map(\.owsPrimaryKey)) }
        guard try await note.isKept(in: store.store) else { return Set(items.map(\.owsPrimaryKey)) }
        return try await store.store.read { [entity] reader in
            var stored: [Record.Key: AttributeValue] = [:]
            for record in try await reader.records(entity, keys: items.map(\.owsPrimaryKey)) {
                stored[record.key] = record.record[revision]
            }
            let changed = items.filter { item in
                item.revision.isNull || stored[item.owsPrimaryKey] != item.revision
            }
            return Set(changed.map(\.owsPrimaryKey))
        }
    }

    /// Fetches an object, and writes its batch when the batch is full.
    ///
    /// - Throws: The error of `details`. An object that cannot be written, or is not the requested
    ///   one, fails ``owsSyncEnd(_:)``.
    public func owsDownloadItem(for item: Item) async throws {
        let source = try await details?(item.owsPrimaryKey) ?? .bytes(item.json)
        let batch = fetched.withLock { fetched -> [Download] in
            fetched.waiting.append(Download(key: item.owsPrimaryKey, json: source))
            fetched.count += 1
            guard fetched.waiting.count >= batchCount else { return [] }
            defer { fetched.waiting = [] }
            return fetched.waiting
        }
        await write(batch)
    }

    /// Writes the objects that have been fetched and not written.
    ///
    /// - Throws: `SyncError` with the key and the error of the first object that could not be
    ///   written, such as `MappingError.unfit` if it was rejected, and
    ///   `StoreSyncError.unrequestedDetails` if the details have another object or none;
    ///   `CancellationError` if the calling task is cancelled.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        let batch = fetched.withLock { fetched in
            defer { fetched.waiting = [] }
            return fetched.waiting
        }
        await write(batch)
        if let error = fetched.withLock({ $0.errors.first }) { throw error }
        guard fetched.withLock(\.waiting.isEmpty) else { throw CancellationError() }
        // A stored object that was not fetched may lack a property.
        guard revision != nil, case .success(let report) = result, report.errors.isEmpty, report.kept == nil,
            fetched.withLock(\.count) == report.listed, try await !note.isKept(in: store.store)
        else { return }
        try await store.change { [note] in try await note.keep(in: $0) }
    }

    /// Writes objects in one transaction. If it fails, writes each object in its own transaction,
    /// so that a single bad object does not block the others. If the task is cancelled, the objects
    /// wait for the end of the pass, whose task is not.
    private func write(_ batch: [Download]) async {
        guard let first = batch.first else { return }
        do {
            let counts = try await store.change { try await write(batch, in: $0) }
            fetched.withLock { $0.counts += counts }
        } catch {
            guard !Task.isCancelled else { return fetched.withLock { $0.waiting = batch + $0.waiting } }
            guard batch.count > 1 else {
                let error = SyncError(stage: .content, key: first.key, underlying: error)
                return fetched.withLock { $0.errors.append(error) }
            }
            for download in batch { await write([download]) }
        }
    }

    /// Writes objects in a transaction.
    ///
    /// - Throws: `MappingError.unfit` if an object was rejected;
    ///   `StoreSyncError.unrequestedDetails` if the written objects are not the requested ones.
    private func write(
        _ batch: [Download], in transaction: any StoreTransaction
    ) async throws -> StoreSyncResult.Counts {
        let options = StoreSyncOptions(operations: StoreSyncOptions.Operations.all.subtracting(.delete))
        var request = SyncRequest(mapper: store.mapper, entity: entity, options: options)
        request.notesMerged = true
        let end = try await request.run(PayloadList(batch.map(\.json)), as: .payloads, in: transaction)
        let layout = try store.mapper.mapping(of: entity).layout
        let written = Set(try await transaction.keys(of: end.merged.objects, layout).values)
        let requested = Set(batch.map(\.key))
        guard written != requested else { return end.summary.counts }
        if let problem = end.summary.rejected.first, written.isSubset(of: requested) {
            throw MappingError.unfit(problem)
        }
        throw StoreSyncError.unrequestedDetails(entity: entity, count: written.count)
    }
}

extension StoreReader {
    /// The objects with the given keys, in any order. Keys without an object are left out.
    fileprivate func records(_ entity: String, keys: [Record.Key]) async throws -> [StoredRecord] {
        let layout = try model.layout(of: entity)
        let names = layout.identityColumns.map { PropertyPath(layout.attributes[$0].name) }
        var found: [StoredRecord] = []
        for start in stride(from: 0, to: keys.count, by: 500) {
            let identities = keys[start..<min(start + 500, keys.count)].compactMap { key -> [AttributeValue]? in
                if case .identity(let values) = key, values.count == names.count { values } else { nil }
            }
            let predicate: RecordPredicate =
                names.count == 1
                ? names[0].isIn(identities.map { $0[0] })
                : .or(identities.map { values in .and(zip(names, values).map { $0 == $1 }) })
            found += try await records(StoreQuery(entity, where: predicate))
        }
        return found
    }
}
