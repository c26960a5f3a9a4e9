import JSONMapper
import OneWayStoreKinds
import StoreSync
import SyncBase
import SyncModel
import SyncStore

/// Runs scenarios on a store, by its public API alone.
struct StoreSubject {
    struct NotOne: Error {
        let entity: String
        let count: Int
    }

    let world: ScenarioWorld
    let json: JSONStore
    private let watched: WatchedStore

    /// - Parameter store: An empty store for the world's model.
    init(_ world: ScenarioWorld, _ store: any Store) throws {
        self.world = world
        let mapper = try RecordMapper(
            world.model, JSONMapping(dialect: world.dialect, transformers: try RecordMapper.Transformers(world)))
        watched = WatchedStore(store)
        json = try JSONStore(watched, mapper: mapper)
    }

    // MARK: JSON

    /// Plans a sync, and makes it twice.
    ///
    /// - Throws: ``PlanDiffers`` if the plan was wrong or wrote; ``NotIdempotent`` if the second
    ///   sync changed something, or wrote although the payload agrees with itself.
    func sync(_ request: SyncRequest) async throws -> StoreSyncResult {
        let (json, entity, parent, options) = (json, request.entity, request.parent, request.options)
        return try await proved(request) { isPlan in
            if request.pages.count == 1 {
                let page = JSONSource.bytes(request.pages[0])
                return try await isPlan
                    ? json.plan(page, into: entity, childrenOf: parent, options: options)
                    : json.sync(page, into: entity, childrenOf: parent, options: options)
            }
            // Pages cannot be planned; they are synced once more instead.
            let pages = AsyncThrowingStream<JSONSource, any Error> { continuation in
                for page in request.pages { continuation.yield(.bytes(page)) }
                continuation.finish()
            }
            return try await json.sync(pages: pages, into: entity, childrenOf: parent, options: options)
        }
    }

    /// The same from a source. The progress must end at what the result says.
    func sync(_ request: SyncRequest, from source: ScriptedSource) async throws -> StoreSyncResult {
        try await proved(request, takesBack: source.takesBack) { isPlan in
            let progress = Locked<[StoreSyncOptions.Progress]>([])
            let note = { @Sendable (step: StoreSyncOptions.Progress) in progress.withLock { $0.append(step) } }
            let result =
                try await isPlan
                ? json.plan(from: source, into: request.entity, options: request.options, progress: note)
                : json.sync(from: source, into: request.entity, options: request.options, progress: note)
            let steps = progress.withLock(\.self)
            try expect(steps.last?.pageCount ?? 0, result.pageCount, "the pages of the last progress")
            try expect(steps.last?.byteCount ?? 0, result.byteCount, "the bytes of the last progress")
            return result
        }
    }

    /// - Parameter takesBack: Whether the payload can take back what it has stated.
    private func proved(
        _ request: SyncRequest, takesBack: Bool = false, _ sync: (_ isPlan: Bool) async throws -> StoreSyncResult
    ) async throws -> StoreSyncResult {
        let plans = request.pages.count < 2
        var planned: StoreSyncResult?
        if plans {
            let before = try await state()
            do {
                planned = try await sync(true)
            } catch {
                // What cannot be planned cannot be done either.
                _ = try await sync(false)
                throw PlanDiffers(entity: request.entity)
            }
            guard try await state() == before else { throw PlanDiffers(entity: request.entity) }
        }
        let result = try await sync(false)
        guard !plans || result == planned else { throw PlanDiffers(entity: request.entity) }
        let left = try await state()
        let before = try watched.takeWrites().files
        let again = try await sync(false)
        let writes = try watched.takeWrites()
        let isSettled = again.isUnchanged && writes.calls.isEmpty && writes.files == before
        // A payload that takes something back, or whose list has an object twice, may write again.
        let contradictions: [DriftReport.Kind] = [.changedBetweenPages, .duplicate]
        let mayWrite = takesBack || contradictions.contains { again.drift.count(of: $0) > 0 }
        guard try await state() == left, isSettled || mayWrite else {
            throw NotIdempotent(entity: request.entity, result: again, writes: writes.calls)
        }
        return result
    }

    /// The same sync again would have written something.
    struct NotIdempotent: Error {
        let entity: String
        let result: StoreSyncResult
        /// The calls that wrote; empty if bytes were written without a change.
        let writes: [String]
    }

    /// A plan announced something else than the sync then did, or wrote.
    struct PlanDiffers: Error {
        let entity: String
    }

    func importJSON(_ entity: String, json bytes: [UInt8]) async throws -> StoreSyncResult {
        try await json.importObjects(.bytes(bytes), into: entity)
    }

    func insertOrUpdate(_ entity: String, json bytes: [UInt8]) async throws -> StoreSyncResult {
        try await json.insertOrUpdate(.bytes(bytes), into: entity)
    }

    func update(_ entity: String, id: AttributeValue, json bytes: [UInt8]) async throws -> StoreSyncResult? {
        try await json.update(.identity(id), in: entity, with: try JSONValue(parsing: bytes))
    }

    func delete(_ entity: String, id: AttributeValue) async throws {
        _ = try await json.delete(.identity(id), in: entity)
    }

    func export(_ entity: String, where predicate: RecordPredicate, options: RecordMapper.Exporter.Options) async throws
        -> [UInt8]
    {
        let found = try await one(entity, where: predicate)
        return try await json.export(entity, key: .object(found.object), options: options) ?? []
    }

    // MARK: Objects

    func insert(
        _ entity: String, values: [String: AttributeValue], relationships: [String: [RecordPredicate]]
    ) async throws {
        let layout = try world.model.layout(of: entity)
        let record = try Self.filled(Record(of: layout), with: values)
        try await json.store.transaction { transaction in
            let row = try await transaction.insert(record)
            for (name, predicates) in relationships {
                guard let relationship = layout.relationship(name) else { throw NoSuchProperty(name: name) }
                var batch = LinkBatch(relationship, mode: .replace)
                var targets: [ObjectID] = []
                for predicate in predicates {
                    let destination = transaction.model.layouts[relationship.destination].name
                    targets += try await transaction.records(StoreQuery(destination, where: predicate)).map(\.object)
                }
                batch.append(row, to: targets)
                _ = try await transaction.link(batch)
            }
        }
    }

    func update(_ entity: String, where predicate: RecordPredicate, values: [String: AttributeValue]) async throws {
        let found = try await one(entity, where: predicate)
        let record = try Self.filled(found.record, with: values)
        try await json.store.transaction { _ = try await $0.update(found.object, to: record) }
    }

    func fill(_ entity: String, where predicate: RecordPredicate?, json bytes: [UInt8]) async throws -> Bool {
        guard let predicate else {
            var record = Record(of: try world.model.layout(of: entity))
            let isChanged = try json.mapper.fill(&record, from: bytes)
            let filled = record
            try await json.store.transaction { _ = try await $0.insert(filled) }
            return isChanged
        }
        let found = try await one(entity, where: predicate)
        var record = found.record
        _ = try json.mapper.fill(&record, from: bytes)
        let filled = record
        return try await json.store.transaction { try await $0.update(found.object, to: filled) }
    }

    func delete(_ entity: String, where predicate: RecordPredicate) async throws {
        try await json.store.transaction { try await $0.remove(StoreQuery(entity, where: predicate)) }
    }

    func count(_ entity: String, where predicate: RecordPredicate) async throws -> Int {
        try await json.store.count(StoreQuery(entity, where: predicate))
    }

    func values(_ entity: String, where predicate: RecordPredicate, at keys: [String]) async throws
        -> [[AttributeValue]]
    {
        let layout = try world.model.layout(of: entity)
        let bound = try keys.map { try PropertyPath($0).bound(to: layout, in: world.model) }
        return try await json.store.read { reader in
            var rows: [[AttributeValue]] = []
            for stored in try await reader.records(StoreQuery(entity, where: predicate)) {
                var values: [AttributeValue] = []
                for key in bound { values.append(try await reader.value(of: stored, at: key)) }
                rows.append(values)
            }
            return rows
        }
    }

    /// All objects with all that they are related to.
    func state() async throws -> [[StoredRecord]] {
        try await json.store.read { reader in
            var state: [[StoredRecord]] = []
            for layout in reader.model.layouts where layout.parent == nil {
                state.append(try await reader.records(StoreQuery(layout.name), with: layout.relationships.map(\.name)))
            }
            return state
        }
    }

    func members(
        _ entity: String, where predicate: RecordPredicate, relationship name: String, attribute: String
    ) async throws -> [AttributeValue] {
        let found = try await one(entity, where: predicate)
        guard let relationship = found.record.layout.relationship(name) else { throw NoSuchProperty(name: name) }
        return try await json.store.read { reader in
            let rows = try await reader.links(relationship, of: [found.object]).map(\.target)
            let destination = reader.model.layouts[relationship.destination].name
            let records = try await reader.records(StoreQuery(destination, objects: .only(rows)))
            return rows.compactMap { row in records.first { $0.object == row }?.record[attribute] }
        }
    }

    struct NoSuchProperty: Error {
        let name: String
    }

    private func one(_ entity: String, where predicate: RecordPredicate) async throws -> StoredRecord {
        let found = try await json.store.records(StoreQuery(entity, where: predicate))
        guard found.count == 1 else { throw NotOne(entity: entity, count: found.count) }
        return found[0]
    }

    private static func filled(_ record: Record, with values: [String: AttributeValue]) throws -> Record {
        var record = record
        for (name, value) in values {
            guard let column = record.layout.column(of: name) else { throw NoSuchProperty(name: name) }
            record[column: column] = value
        }
        return record
    }
}

extension StoreReader {
    /// The value that a key leads to from an object.
    fileprivate func value(of stored: StoredRecord, at key: PropertyPath.Bound) async throws -> AttributeValue {
        var stored = stored
        for step in key.steps {
            guard let target = try await links(step, of: [stored.object]).first?.target,
                let next = try await records(StoreQuery(model.layouts[step.destination].name, objects: .only([target])))
                    .first
            else { return .null }
            stored = next
        }
        switch key.leaf {
        case .attribute(let column, _):
            return stored.record[column: column]
        case .target(let index):
            let relationship = stored.record.layout.relationships[index]
            return try await links(relationship, of: [stored.object]).isEmpty ? .null : .bool(true)
        case .count(let index):
            let relationship = stored.record.layout.relationships[index]
            return .int(Int64(try await links(relationship, of: [stored.object]).count))
        }
    }
}
