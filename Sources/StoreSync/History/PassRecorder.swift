import Foundation
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore

/// Records one pass in the history, with those that could not be recorded before.
final class PassRecorder: Sendable {
    private static let errorLength = 1000

    private let history: SyncHistory
    private let shared: SharedSyncs
    /// The entity that is being synced.
    private let entity: Locked<String>
    /// The name of the source; nil if it has none.
    private let source: String?
    private let started = Date()
    private let start = ContinuousClock.now
    /// The passes that this one records too.
    private let taken = Locked<[Record]>([])

    init(_ history: SyncHistory, sharing shared: SharedSyncs, entity: String, source: String?) {
        self.history = history
        self.shared = shared
        self.entity = Locked(entity)
        self.source = source
    }

    /// Notes the entity that is synced from now on, for a failure.
    func begin(_ entity: String) {
        self.entity.withLock { $0 = entity }
    }

    /// Whether a pass without changes has something to write: its own record, or earlier ones that
    /// could not be written.
    var writesUnchanged: Bool {
        history.recordsUnchanged || shared.unrecordedPasses.withLock { !$0.isEmpty }
    }

    /// Records a success in the transaction of the pass.
    ///
    /// - Parameter entity: The entity that was synced; nil for the one that the pass began with.
    func succeed(
        _ result: StoreSyncResult, of entity: String? = nil, in transaction: any StoreTransaction
    ) async throws {
        guard !result.isUnchanged || writesUnchanged else { return }
        guard !result.isUnchanged || history.recordsUnchanged else { return try await record(nil, in: transaction) }
        var pass = pass(of: entity ?? self.entity.value, result.isUnchanged ? .unchanged : .succeeded)
        pass.counts = result.counts
        pass.rejectedCount = result.rejectedCount
        // Payloads at hand have no source, and are no pages.
        if source != nil, result.coverage != .unchanged {
            (pass.pageCount, pass.byteCount) = (result.pageCount, result.byteCount)
        }
        try await record(pass, in: transaction)
    }

    /// Records a failure in a separate transaction, or with the next pass.
    ///
    /// After a cancellation, waits for the store no longer than the history allows. The error of
    /// the sync is more important than a failure to record it.
    func fail(_ error: any Error, in store: any Store) async {
        returnTaken()
        var pass = pass(of: entity.value, error is CancellationError ? .cancelled : .failed)
        if pass.status == .failed { pass.error = String(ErrorText.describing(error).prefix(Self.errorLength)) }
        // A separate task, because the current one may be cancelled.
        let recording = Task { [pass] in try await store.transaction { try await self.record(pass, in: $0) } }
        let limit = Locked<Task<Void, Never>?>(nil)
        let result = await withTaskCancellationHandler {
            await recording.result
        } onCancel: {
            guard history.cancellationLimit > .zero else { return recording.cancel() }
            limit.value = Task { [clock = SyncClock.continuous] in
                if (try? await clock.sleep(history.cancellationLimit)) != nil { recording.cancel() }
            }
        }
        limit.value?.cancel()
        guard case .failure = result, let layout = store.model[SyncEntity.pass.name] else { return }
        returnTaken()
        var record = Record(of: layout)
        pass.write(to: &record)
        shared.unrecordedPasses.withLock { passes in
            passes.append(record)
            passes.removeFirst(max(passes.count - history.totalLimit, 0))
        }
    }

    /// Keeps the passes that this one did not record after all.
    private func returnTaken() {
        let passes = taken.withLock { passes in
            defer { passes = [] }
            return passes
        }
        shared.unrecordedPasses.withLock { $0.insert(contentsOf: passes, at: 0) }
    }

    private func pass(of entity: String, _ status: SyncHistory.Status) -> SyncHistory.Pass {
        let duration = ContinuousClock.now - start
        return SyncHistory.Pass(
            name: source.map { "\(entity) from \($0)" } ?? entity, number: 0, entity: entity, started: started,
            finished: started.addingTimeInterval(duration / .seconds(1)), duration: duration, status: status)
    }

    /// Adds a pass after those that wait, and removes the oldest passes beyond the limits.
    ///
    /// - Parameter pass: The pass; nil to add only those that wait.
    private func record(_ pass: SyncHistory.Pass?, in transaction: any StoreTransaction) async throws {
        let layout = try transaction.model.layout(of: SyncEntity.pass.name)
        var records = shared.unrecordedPasses.withLock { passes in
            defer { passes = [] }
            return passes
        }
        taken.withLock { $0 += records }
        if let pass {
            var record = Record(of: layout)
            pass.write(to: &record)
            records.append(record)
        }
        let latest = try await transaction.records(
            StoreQuery(layout.name, orderedBy: [Ordering("number", ascending: false)], limit: 1))
        var number: Int64 = 0
        if let latest = latest.first {
            if let last = Self.number(of: latest) {
                number = last
            } else {
                number = try await renumber(layout, transaction)
            }
        }
        for var record in records {
            number += 1
            record["number"] = .int(number)
            try await transaction.insert(record)
        }
        let names = Set(records.compactMap { if case .string(let name) = $0["name"] { name } else { nil } })
        try await removeOldest(layout, names: names, transaction)
    }

    /// The number of a stored pass; nil if another tool wrote one that leaves no room for more.
    private static func number(of pass: StoredRecord) -> Int64? {
        guard case .int(let number) = pass.record["number"], number < 1 << 62 else { return nil }
        return max(number, 0)
    }

    /// Gives passes whose numbers another tool changed those after the largest other number.
    ///
    /// - Returns: The last number.
    private func renumber(_ layout: EntityLayout, _ transaction: any StoreTransaction) async throws -> Int64 {
        let passes = try await transaction.records(StoreQuery(layout.name, orderedBy: [Ordering("number")]))
        let changed = passes.filter { Self.number(of: $0) == nil }
        var last = passes.compactMap(Self.number(of:)).max() ?? 0
        guard let column = layout.column(of: "number") else { return last }
        // Without the other values, which another tool can have made unreadable.
        var batch = RecordBatch(of: layout)
        for _ in changed {
            last += 1
            batch.beginRecord()
            batch.setInt(last, at: column)
            batch.endRecord()
        }
        _ = try await transaction.merge(
            MergeRequest(batch, matches: changed.map { .object($0.object) }, policy: .init(inserts: false)))
        return last
    }

    /// Removes the oldest passes of each name and of all, beyond the limits.
    private func removeOldest(
        _ layout: EntityLayout, names: Set<String>, _ transaction: any StoreTransaction
    ) async throws {
        var queries = names.map { StoreQuery(layout.name, where: PropertyPath("name") == $0) }
        queries.append(StoreQuery(layout.name))
        var removedCount = 0
        for (place, count) in try await transaction.counts(of: queries).enumerated() {
            let isOfAll = place == names.count
            let surplus = isOfAll ? count - removedCount - history.totalLimit : count - history.limit
            guard surplus > 0 else { continue }
            var query = queries[place]
            (query.ordering, query.limit) = ([Ordering("number")], surplus)
            let oldest = try await transaction.records(query)
            _ = try await transaction.remove(StoreQuery(layout.name, objects: .only(oldest.map(\.object).sorted())))
            removedCount += surplus
        }
    }
}

extension JSONStore {
    /// Runs a body in a transaction. If the lease is lost before the end, the transaction is rolled
    /// back.
    func change<Result: Sendable>(
        isAtHand: Bool = false, _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await store.transaction(isAtHand: isAtHand) { transaction in
            let result = try await body(transaction)
            try await SyncLeaseScope.confirm()
            return result
        }
    }

    /// Runs a sync, and records its failure.
    ///
    /// - Parameters:
    ///   - entity: The entity that is synced.
    ///   - source: The name of the source; nil if it has none.
    ///   - body: The sync, which records its own success. The recorder is nil if there is no
    ///     history.
    func recorded<Result: Sendable>(
        into entity: String, from source: String? = nil, _ body: (PassRecorder?) async throws -> Result
    ) async throws -> Result {
        guard let history else { return try await body(nil) }
        let recorder = PassRecorder(history, sharing: shared, entity: entity, source: source)
        do { return try await body(recorder) } catch {
            await recorder.fail(error, in: store)
            throw error
        }
    }
}
