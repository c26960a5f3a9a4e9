import SyncModel
import SyncStore
import OneWayTestSupport

/// A store whose calls fail at random, before or after they have done what they should.
final class FaultyStore: Store, @unchecked Sendable {
    // Sendable because all tasks of a simulation run on one thread.
    struct Fault: Error {}

    /// Ways in which a store could be wrong, to see whether the simulation notices.
    enum Defect {
        /// Keeps what a transaction has done that then failed.
        case keepsFailures
        /// Loses one in ten batches of users.
        case losesBatches
    }

    let base: any Store
    /// The share of calls that fail.
    var faultRate = 0.0
    /// Whether a transaction was committed and then said to have failed.
    var isAmbiguous = false
    private let leavesThread: Bool
    private let defect: Defect?
    private var random: SeededRandom

    init(_ base: any Store, leavesThread: Bool, seed: UInt64, defect: Defect?) {
        self.base = base
        self.leavesThread = leavesThread
        self.defect = defect
        random = SeededRandom(seed: seed &+ 0x5707)
    }

    var model: DataModel { base.model }

    func chance(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }

    func mayFail() throws {
        if chance(faultRate) { throw Fault() }
    }

    @discardableResult
    func transaction<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try mayFail()
        let outcome = try await leaving { try await committed(body) }
        if chance(faultRate) {
            isAmbiguous = true
            throw Fault()
        }
        return try outcome.get()
    }

    private func committed<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Swift.Result<Result, any Error> {
        try await base.transaction { transaction in
            do {
                let faulty = FaultyTransaction(base: transaction, store: self)
                let result = try await self.returning { try await body(faulty) }
                try self.mayFail()
                return .success(result)
            } catch {
                guard self.defect == .keepsFailures else { throw error }
                return .failure(error)
            }
        }
    }

    func read<Result: Sendable>(_ body: @Sendable (any StoreReader) async throws -> Result) async throws -> Result {
        try mayFail()
        return try await leaving {
            try await base.read { reader in
                try await self.returning { try await body(FaultyReader(base: reader, store: self)) }
            }
        }
    }

    fileprivate func losesBatch(of entity: String?) -> Bool {
        defect == .losesBatches && entity == "User" && chance(0.1)
    }

    fileprivate func leaving<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        guard leavesThread else { return try await call() }
        return try await Scheduler.shared.leaving(call)
    }

    fileprivate func returning<Value>(_ call: () async throws -> Value) async rethrows -> Value {
        guard leavesThread else { return try await call() }
        return try await Scheduler.shared.returning(call)
    }
}

private struct FaultyReader: StoreReader {
    let base: any StoreReader
    let store: FaultyStore

    var model: DataModel { base.model }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try store.mayFail()
        try await store.leaving {
            try await base.fetch(query, batchRowCount: batchRowCount) { records in
                try await store.returning { try await body(records) }
            }
        }
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try store.mayFail()
        return try await store.leaving { try await base.count(query) }
    }

    func links(_ relationship: RelationshipLayout, of sources: [ObjectID]) async throws -> [StoreLink] {
        try store.mayFail()
        return try await store.leaving { try await base.links(relationship, of: sources) }
    }
}

private struct FaultyTransaction: InitialLinkingTransaction {
    let base: any StoreTransaction
    let store: FaultyStore

    var model: DataModel { base.model }
    private var reader: FaultyReader { FaultyReader(base: base, store: store) }

    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws {
        try await reader.fetch(query, batchRowCount: batchRowCount, body)
    }

    func count(_ query: StoreQuery) async throws -> Int {
        try await reader.count(query)
    }

    func links(_ relationship: RelationshipLayout, of sources: [ObjectID]) async throws -> [StoreLink] {
        try await reader.links(relationship, of: sources)
    }

    func find(_ records: RecordBatch) async throws -> [ObjectID?] {
        try store.mayFail()
        return try await store.leaving { try await base.find(records) }
    }

    func merge(_ request: MergeRequest) async throws -> MergeResult {
        try await merge(request, links: nil)
    }

    func mergeLinking(_ request: MergeRequest, _ links: InitialLinks) async throws -> MergeResult {
        try await merge(request, links: links)
    }

    private func merge(_ request: MergeRequest, links: InitialLinks?) async throws -> MergeResult {
        try store.mayFail()
        var request = request
        if store.losesBatch(of: request.records.layout?.name) {
            request.policy = MergePolicy(inserts: false, updates: false)
        }
        return try await store.leaving { [request] in try await base.merge(request, linking: links) }
    }

    func link(_ batch: LinkBatch) async throws -> LinkResult {
        try store.mayFail()
        return try await store.leaving { try await base.link(batch) }
    }

    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult {
        try store.mayFail()
        return try await store.leaving { try await base.remove(query, reportsKeys: reportsKeys) }
    }
}
