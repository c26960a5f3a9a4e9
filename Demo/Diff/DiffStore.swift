import SyncBase
import SyncModel
import SyncStore

/// A store that reports what a transaction changes, and then rolls the transaction back.
///
/// While the transaction is open, it reads the new state, and a snapshot of the wrapped store reads
/// the old one.
struct DiffStore: Store {
    let base: any Store
    /// Receives the changes, a reader of the old state and a reader of the new state.
    let report: @Sendable (ObjectChanges, any StoreReader, any StoreReader) async throws -> Void

    /// Ends a transaction without a commit.
    private struct RolledBack<Result: Sendable>: Error {
        let result: Result
    }

    var model: DataModel { base.model }

    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        do {
            return try await base.transaction { transaction -> Result in
                let watched = WatchedTransaction(transaction)
                let result = try await body(watched)
                try await base.read { try await report(watched.changes, $0, transaction) }
                throw RolledBack(result: result)
            }
        } catch let end as RolledBack<Result> {
            return end.result
        }
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any StoreReader) async throws -> Result
    ) async throws -> Result {
        try await base.read(body)
    }
}

/// The objects that a transaction changed, by the index of the topmost entity.
struct ObjectChanges: Sendable {
    var inserted: [Int: ObjectSet] = [:]
    var updated: [Int: ObjectSet] = [:]
    var deleted: [Int: ObjectSet] = [:]
}

/// A transaction that notes the objects that it changes.
private final class WatchedTransaction: StoreTransaction {
    let model: DataModel
    private let base: any StoreTransaction
    private let noted = Locked(ObjectChanges())

    init(_ base: any StoreTransaction) {
        self.base = base
        model = base.model
    }

    var changes: ObjectChanges { noted.withLock { $0 } }
    var batchRowCount: Int { base.batchRowCount }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await base.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await base.count(query)
    }

    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link] {
        try await base.links(relationship, of: sources)
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try await base.find(records)
    }

    func merge(_ request: MergeRequest) async throws -> MergeRequest.Result {
        let result = try await base.merge(request)
        guard let root = request.records.layout?.root else { return result }
        noted.withLock { noted in
            for case let row? in result.rows {
                switch row.change {
                case .inserted: noted.inserted[root, default: ObjectSet()].insert(row.object)
                case .updated: noted.noteUpdate(of: row.object, root)
                case .unchanged: break
                }
            }
        }
        return result
    }

    func changeEntity(of objects: [ObjectID], from former: String, to entity: String) async throws {
        let root = try model.layout(of: former).root
        try await base.changeEntity(of: objects, from: former, to: entity)
        noted.withLock { noted in
            for object in objects where noted.inserted[root]?.contains(object) != true {
                noted.updated[root]?.remove(object)
                noted.deleted[root, default: ObjectSet()].insert(object)
                noted.inserted[root, default: ObjectSet()].insert(object)
            }
        }
    }

    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result {
        let result = try await base.link(batch)
        let root = model.layouts[batch.relationship.source].root
        noted.withLock { noted in
            for object in result.changed { noted.noteUpdate(of: object, root) }
        }
        return result
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        var result = try await base.remove(query, reportsKeys: true)
        noted.withLock { noted in
            for (entity, keys) in result.keys {
                guard let root = model[entity]?.root else { continue }
                for stored in keys where noted.inserted[root]?.remove(stored.object) != true {
                    noted.updated[root]?.remove(stored.object)
                    noted.deleted[root, default: ObjectSet()].insert(stored.object)
                }
            }
        }
        if !reportsKeys { result.keys = [:] }
        return result
    }

    func settleValues() async throws -> [StoreError.Refusal] { try await base.settleValues() }
}

extension ObjectChanges {
    /// Notes that an object has changed. New objects count as inserted only.
    fileprivate mutating func noteUpdate(of object: ObjectID, _ root: Int) {
        guard inserted[root]?.contains(object) != true else { return }
        updated[root, default: ObjectSet()].insert(object)
    }
}
