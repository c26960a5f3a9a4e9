import JSONMapper
import OneWaySynchronizer
import SyncModel
import SyncStore

/// What a call asks for, and how a transaction brings it about.
struct SyncSession: Sendable {
    let mapper: RecordMapper
    let entity: String
    let parent: SyncParent?
    let options: StoreSyncOptions
    var rules: SyncRules

    init(mapper: RecordMapper, entity: String, parent: SyncParent?, options: StoreSyncOptions) {
        self.mapper = mapper
        self.entity = entity
        self.parent = parent
        self.options = options
        rules = SyncRules(options)
    }

    /// Whether what is absent is deleted at the end.
    var sweeps: Bool {
        !rules.isImport && options.operations.contains(.delete)
    }

    func run(_ pages: [JSONSource], in transaction: any StoreTransaction) async throws -> StoreSyncResult {
        try await run(in: transaction) { read in
            for page in pages { try await read(page) }
        }
    }

    func run(
        pages: any AsyncSequence<JSONSource, any Error> & Sendable, in transaction: any StoreTransaction
    ) async throws -> StoreSyncResult {
        try await run(in: transaction) { read in
            for try await page in pages { try await read(page) }
        }
    }

    private func run(
        in transaction: any StoreTransaction, _ pages: ((JSONSource) async throws -> Void) async throws -> Void
    ) async throws -> StoreSyncResult {
        let layout = try mapper.mapping(of: entity).layout
        let run = SyncRun(transaction, mapper: mapper, rules: rules)
        let family = try await SyncFamily(parent, of: layout, in: run)
        let scope = StoreQuery(entity, where: options.scope, objects: family?.linkedRows ?? .all)
        let limit = try await limit(in: scope, transaction)
        var children: [Int64] = []
        try await pages { page in
            try await read(page, into: run, family == nil ? nil : { row, _ in children.append(row) })
        }
        try await run.settle()
        if let family {
            try await family.relate(children, sweeping: sweeps ? scope : nil, limit: limit, in: run)
        } else if sweeps {
            var absent = scope
            absent.objects = .except(run.tally.seen(layout))
            try await run.sweep(absent, limit: limit)
        }
        return try await result(of: run)
    }

    /// How many objects may be deleted of those in a scope, and how many there are; nil if there is no limit.
    func limit(
        in scope: StoreQuery, _ transaction: any StoreTransaction
    ) async throws -> (limit: RemovalLimit, localCount: Int)? {
        guard sweeps, let limit = options.removalLimit else { return nil }
        return (limit, try await transaction.count(scope))
    }

    /// What a run did, once it has settled.
    func result(of run: SyncRun) async throws -> StoreSyncResult {
        let layout = try mapper.mapping(of: entity).layout
        var result = run.tally.result(for: layout)
        if options.reportsKeys {
            result.keys = StoreSyncResult.Keys(
                inserted: try await run.keys(of: run.tally.inserted(layout), layout),
                updated: try await run.keys(of: run.tally.updated(layout), layout),
                deleted: run.tally.deletedKeys(layout))
        }
        return result
    }

    /// Updates one object.
    func update(
        _ stored: StoredRecord, with json: JSONValue, in transaction: any StoreTransaction
    ) async throws -> StoreSyncResult {
        let layout = stored.record.layout
        var collector = try RecordCollector(
            mapper, entity: layout.name, options: RecordReader.Options(keepsRelationships: true))
        var writer = JSONWriter()
        try writer.value(json)
        try collector.add(writer.bytes, index: 0)
        let run = SyncRun(transaction, mapper: mapper, rules: rules)
        if let batch = collector.takeBatch() {
            try await run.merge(
                run.mappedObjects(of: batch), SyncRun.Origin(policy: rules.policy, known: stored.object))
        }
        try await run.settle()
        return run.tally.result(for: layout)
    }
}
