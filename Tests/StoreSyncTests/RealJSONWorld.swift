import OneWayStoreKinds
import JSONMapper
import OneWayStoreTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// A JSON store of a model, with the checks that hold after every sync.
struct RealJSONWorld {
    let store: JSONStore
    private let watched: WatchedStore

    init(_ store: any Store, mapper: RecordMapper) throws {
        watched = WatchedStore(store)
        self.store = try JSONStore(watched, mapper: mapper)
    }

    /// Runs a body with an empty store of a kind.
    static func with(
        _ kind: StoreKind, _ model: DataModel, dialect: JSONDialect = .sync, contract: ValueContract? = nil,
        _ body: @Sendable (RealJSONWorld) async throws -> Void
    ) async throws {
        let mapper = try RecordMapper(model, JSONMapping(dialect: dialect, contract: contract))
        try await kind.use { makeStore in
            try await body(RealJSONWorld(try await makeStore(mapper.model), mapper: mapper))
        }
    }

    /// Runs a body with an empty store of a kind for each size of batches.
    static func withBatches(
        of rowCounts: [Int] = [1, 2, 1000], _ kind: StoreKind, _ mapper: RecordMapper,
        _ body: @Sendable (_ world: RealJSONWorld, _ rowCount: Int) async throws -> Void
    ) async throws {
        for rowCount in rowCounts {
            try await kind.use { makeStore in
                let store = HookedStore(try await makeStore(mapper.model), SmallBatches(rowCount))
                try await body(try RealJSONWorld(store, mapper: mapper), rowCount)
            }
        }
    }

    /// Syncs a payload. The plan must predict the effect, and the same payload again must write
    /// nothing, bookkeeping included.
    ///
    /// - Parameter settles: Whether this is demanded. If the list contradicts itself, the same
    ///   payload may write again, but leaves the same objects.
    @discardableResult
    func sync(
        _ json: String, into entity: String, options: StoreSyncOptions = StoreSyncOptions(), settles: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> StoreSyncResult {
        let outcome = try await outcome(of: json, into: entity, options: options)
        for problem in outcome.problems where settles || !problem.isOfSecondSync {
            Issue.record("\(problem), \(json)", sourceLocation: sourceLocation)
        }
        return outcome.result
    }

    /// What is wrong after a sync.
    enum Problem: Equatable {
        case isNotAsPlanned
        case secondSyncLeavesOtherObjects
        case secondSyncIsNotUnchanged
        case secondSyncWritesEntities
        case secondSyncWritesBytes

        /// Whether a list that contradicts itself may cause it.
        var isOfSecondSync: Bool { self != .isNotAsPlanned && self != .secondSyncLeavesOtherObjects }
    }

    /// Syncs a payload as ``sync(_:into:options:settles:sourceLocation:)`` does.
    ///
    /// - Parameter isChange: Whether the payload has changed objects, and not all of them.
    func outcome(
        of json: String, into entity: String, isChange: Bool = false, options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> (result: StoreSyncResult, problems: [Problem]) {
        let payload = JSONSource.bytes(Array(json.utf8))
        func sync() async throws -> StoreSyncResult {
            isChange
                ? try await store.apply([.objects(payload)], into: entity, options: options)
                : try await store.sync(payload, into: entity, options: options)
        }
        let plan = isChange ? nil : try await store.plan(payload, into: entity, options: options)
        let result = try await sync()
        var problems: [Problem] = []
        if let plan, plan != result { problems.append(.isNotAsPlanned) }
        let contents = try await contents()
        let before = try watched.takeWrites().files
        let again = try await sync()
        let writes = try watched.takeWrites()
        if try await self.contents() != contents { problems.append(.secondSyncLeavesOtherObjects) }
        if !again.isUnchanged { problems.append(.secondSyncIsNotUnchanged) }
        if writes.calls != [] { problems.append(.secondSyncWritesEntities) }
        if writes.files != before { problems.append(.secondSyncWritesBytes) }
        return (result, problems)
    }

    /// The values of an attribute of all objects, in the order of that attribute.
    func values(_ attribute: String, of entity: String, where predicate: RecordPredicate = .constant(true))
        async throws -> [AttributeValue]
    {
        try await store.store.read { reader in
            let query = StoreQuery(entity, where: predicate, orderedBy: [Ordering(attribute)])
            return try await reader.records(query).map { $0.record[attribute] }
        }
    }

    /// The number of objects.
    func count(_ entity: String, where predicate: RecordPredicate = .constant(true)) async throws -> Int {
        try await store.store.read { try await $0.count(StoreQuery(entity, where: predicate)) }
    }

    /// The objects of all entities with their values and what they lead to, in an order that does
    /// not depend on their numbers.
    func contents() async throws -> [String] {
        try await store.store.read { reader in
            var contents: [String] = []
            for layout in reader.model.layouts where layout.name != SyncEntity.pendingLink.name {
                let records = try await reader.records(StoreQuery(layout.name), with: layout.relationships.map(\.name))
                contents += records.map { stored in
                    let key = layout.hasIdentity ? "\(stored.key)" : ""
                    let targets = zip(layout.relationships, stored.record.targets).map { relationship, found in
                        let keys = found?.keys ?? []
                        let isNamed = reader.model.layouts[relationship.destination].hasIdentity
                        let names = keys.map { isNamed ? "\($0)" : "-" }
                        return relationship.isOrdered ? "\(names)" : "\(names.sorted())"
                    }
                    return "\(layout.name) \(key) \(stored.record.values) \(targets)"
                }.sorted()
            }
            return contents
        }
    }
}
