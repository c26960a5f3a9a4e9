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
    private var sweeps: Bool {
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
        let scope = StoreQuery(entity, where: options.scope, rows: family?.linkedRows ?? .all)
        var limit: (limit: RemovalLimit, localCount: Int)?
        if sweeps, let removalLimit = options.removalLimit {
            limit = (removalLimit, try await transaction.count(scope))
        }
        var children: [Int64] = []
        try await pages { page in
            try await read(page, into: run) { row in if family != nil { children.append(row) } }
        }
        try await run.settle()
        var keys = StoreSyncResult.Keys()
        if let family {
            keys.deleted = try await family.relate(
                children, sweeping: sweeps ? scope : nil, limit: limit, reportsKeys: options.reportsKeys, in: run)
        } else if sweeps {
            var absent = scope
            absent.rows = .except(run.tally.seen(layout))
            keys.deleted = try await run.sweep(absent, limit: limit, reportsKeys: options.reportsKeys)
        }
        var result = run.tally.result(for: layout)
        if options.reportsKeys {
            keys.inserted = try await run.keys(of: run.tally.inserted(layout), layout)
            keys.updated = try await run.keys(of: run.tally.updated(layout), layout)
            result.keys = keys
        }
        return result
    }

    // MARK: Reading

    /// Merges a payload batch by batch.
    ///
    /// - Parameter collect: Gets the objects of the payload's elements, in order within a batch.
    private func read(_ page: JSONSource, into run: SyncRun, _ collect: (Int64) -> Void) async throws {
        let origin = SyncRun.Origin(policy: rules.policy)
        let options = RecordReader.Options(
            keepsRelationships: rules.relates, acceptsIdentifiers: rules.isImport ? nil : false)
        let payload = try PayloadReader(
            page, at: self.options.keyPath, mapper: mapper, entity: entity, options: options)
        guard rules.willInsert == nil || !rules.policy.inserts else {
            return try await readHooked(payload, options, into: run, collect)
        }
        var next = try await payload.nextBatch()
        while let batch = next {
            try Task.checkCancellation()
            async let following = payload.nextBatch()
            try await merge(batch, origin, into: run, collect)
            next = try await following
        }
    }

    /// The same with a hook in between, which wants to see the JSON of objects that are new.
    private func readHooked(
        _ payload: PayloadReader, _ options: RecordReader.Options, into run: SyncRun, _ collect: (Int64) -> Void
    ) async throws {
        while let (first, read) = try await payload.nextElements() {
            try Task.checkCancellation()
            var elements = read
            var batch = try mapped(elements, options)
            if let found = batch {
                let hooked = try await run.hook(found, elements)
                for (index, bytes) in hooked { elements[index] = bytes }
                if !hooked.isEmpty { batch = try mapped(elements, options) }
            }
            guard let batch else { continue }
            let indices = elements.indices.map { first + $0 }
            let origin = SyncRun.Origin(policy: rules.policy, elementIndices: indices)
            try await merge(batch, origin, into: run, collect)
        }
    }

    private func mapped(_ elements: [[UInt8]], _ options: RecordReader.Options) throws -> MappedBatch? {
        var collector = try RecordCollector(mapper, entity: entity, options: options)
        for (index, element) in elements.enumerated() {
            try collector.add(element, index: index)
        }
        return collector.takeBatch()
    }

    private func merge(
        _ batch: MappedBatch, _ origin: SyncRun.Origin, into run: SyncRun, _ collect: (Int64) -> Void
    ) async throws {
        guard parent != nil else { return try await run.merge(batch, origin) }
        var rows: [(ordinal: Int, row: Int64)] = []
        try await run.merge(batch, origin) { ordinal, row, _ in rows.append((ordinal, row)) }
        for (_, row) in rows.sorted(by: { $0.ordinal < $1.ordinal }) { collect(row) }
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
            try await run.merge(batch, SyncRun.Origin(policy: rules.policy, known: stored.row))
        }
        try await run.settle()
        return run.tally.result(for: layout)
    }
}
