import Foundation
import OneWaySynchronizer
import SyncModel
import SyncStore

/// Records a run that has begun.
struct RunRecorder: Sendable {
    /// What was read, where that is counted.
    struct Transfer: Sendable {
        var pageCount: Int
        var byteCount: Int
    }

    private static let errorLength = 1000

    private let history: SyncHistory
    private let name: String
    private let entity: String
    private let started = Date()
    private let start = ContinuousClock.now

    init(_ history: SyncHistory, name: String, entity: String) {
        self.history = history
        self.name = name
        self.entity = entity
    }

    /// Whether a run is recorded that had nothing to write.
    var recordsUnchanged: Bool { history.recordsUnchanged }

    /// Records that the run succeeded, in the transaction of what it did.
    func succeed(
        _ result: StoreSyncResult, transfer: Transfer? = nil, in transaction: any StoreTransaction
    ) async throws {
        guard !result.isUnchanged || recordsUnchanged else { return }
        var run = run(result.isUnchanged ? .unchanged : .succeeded)
        run.counts = result.counts
        run.rejectedCount = result.rejectedCount
        run.pageCount = transfer?.pageCount
        run.byteCount = transfer?.byteCount
        try await record(run, in: transaction)
    }

    /// Records that the run came to nothing, in a transaction of its own.
    func fail(_ error: any Error, in store: any Store) async throws {
        var run = run(error is CancellationError ? .cancelled : .failed)
        if run.outcome == .failed { run.error = String(String(describing: error).prefix(Self.errorLength)) }
        try await store.transaction { [run] in try await record(run, in: $0) }
    }

    private func run(_ outcome: SyncHistory.Outcome) -> SyncHistory.Run {
        let duration = ContinuousClock.now - start
        return SyncHistory.Run(
            name: name, number: 0, entity: entity, started: started,
            finished: started.addingTimeInterval(duration / .seconds(1)), duration: duration, outcome: outcome)
    }

    /// Adds the run to those of its name, and removes those that are too many.
    private func record(_ run: SyncHistory.Run, in transaction: any StoreTransaction) async throws {
        let layout = try transaction.model.layout(of: SyncHistory.entity.name)
        let same = PropertyPath("name") == name
        let latest = try await transaction.records(
            StoreQuery(layout.name, where: same, orderedBy: [Ordering("number", ascending: false)], limit: 1))
        var number: Int64 = 1
        if case .int(let last)? = latest.first?.record["number"] { number += last }
        var record = Record(of: layout)
        run.write(to: &record)
        record["number"] = .int(number)
        try await transaction.insert(record)
        _ = try await transaction.remove(
            StoreQuery(layout.name, where: same && PropertyPath("number") <= number - Int64(history.limit)))
    }
}

extension JSONStore {
    /// Changes the store, all or nothing, unless a lease is lost by the end of it.
    func change<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await store.transaction { transaction in
            let result = try await body(transaction)
            try await SyncLeaseScope.confirm()
            return result
        }
    }

    /// Does a sync, and records that it came to nothing where it fails.
    ///
    /// - Parameters:
    ///   - entity: What is synced.
    ///   - source: The name of where it comes from; nil if it has none.
    ///   - body: The sync, which records its own success. Gets nil where there is no history.
    func recorded<Result: Sendable>(
        into entity: String, from source: String? = nil, _ body: (RunRecorder?) async throws -> Result
    ) async throws -> Result {
        guard let history else { return try await body(nil) }
        let name = source.map { "\(entity) from \($0)" } ?? entity
        let recorder = RunRecorder(history, name: name, entity: entity)
        do { return try await body(recorder) } catch {
            // In a task of its own, because this one may be cancelled. What cannot be recorded is no reason to hide why.
            await Task { try? await recorder.fail(error, in: store) }.value
            throw error
        }
    }
}
