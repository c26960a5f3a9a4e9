import Foundation
import OneWaySynchronizer
import SyncBase
import SyncModel
import SyncStore

/// Records one pass in the history.
struct PassRecorder: Sendable {
    /// The number of pages and bytes read, for sources that count them.
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

    /// Whether passes without changes are recorded.
    var recordsUnchanged: Bool { history.recordsUnchanged }

    /// Records a success in the transaction of the pass.
    func succeed(
        _ result: StoreSyncResult, transfer: Transfer? = nil, in transaction: any StoreTransaction
    ) async throws {
        guard !result.isUnchanged || recordsUnchanged else { return }
        var pass = pass(result.isUnchanged ? .unchanged : .succeeded)
        pass.counts = result.counts
        pass.rejectedCount = result.rejectedCount
        pass.pageCount = transfer?.pageCount
        pass.byteCount = transfer?.byteCount
        try await record(pass, in: transaction)
    }

    /// Records a failure in a separate transaction.
    func fail(_ error: any Error, in store: any Store) async throws {
        var pass = pass(error is CancellationError ? .cancelled : .failed)
        if pass.status == .failed { pass.error = String(ErrorText.describing(error).prefix(Self.errorLength)) }
        try await store.transaction { [pass] in try await record(pass, in: $0) }
    }

    private func pass(_ status: SyncHistory.Status) -> SyncHistory.Pass {
        let duration = ContinuousClock.now - start
        return SyncHistory.Pass(
            name: name, number: 0, entity: entity, started: started,
            finished: started.addingTimeInterval(duration / .seconds(1)), duration: duration, status: status)
    }

    /// Adds a pass, and removes the oldest passes of the same name beyond the limit.
    private func record(_ pass: SyncHistory.Pass, in transaction: any StoreTransaction) async throws {
        let layout = try transaction.model.layout(of: SyncEntity.pass.name)
        let same = PropertyPath("name") == name
        let latest = try await transaction.records(
            StoreQuery(layout.name, where: same, orderedBy: [Ordering("number", ascending: false)], limit: 1))
        var number: Int64 = 1
        if case .int(let last)? = latest.first?.record["number"] { number += last }
        var record = Record(of: layout)
        pass.write(to: &record)
        record["number"] = .int(number)
        try await transaction.insert(record)
        _ = try await transaction.remove(
            StoreQuery(layout.name, where: same && PropertyPath("number") <= number - Int64(history.limit)))
    }
}

extension JSONStore {
    /// Runs a body in a transaction. If the lease is lost before the end, the transaction is rolled
    /// back.
    func change<Result: Sendable>(
        _ body: @Sendable (any StoreTransaction) async throws -> Result
    ) async throws -> Result {
        try await store.transaction { transaction in
            let result = try await body(transaction)
            try await SyncLeaseScope.confirm()
            return result
        }
    }

    /// Runs a sync in a transaction. If the sync undid all its changes, the transaction is rolled
    /// back.
    ///
    /// - Parameters:
    ///   - sync: The sync.
    ///   - note: Writes the bookmark and history of the sync in the same transaction. After a
    ///     rollback, it runs in a new one.
    /// - Returns: The value of the sync.
    func changeUnlessUndone<Value: Sendable>(
        _ sync: @Sendable (any StoreTransaction) async throws -> SyncEffect<Value>,
        noting note: @Sendable (Value, any StoreTransaction) async throws -> Void = { _, _ in }
    ) async throws -> Value {
        do {
            return try await change { transaction -> Value in
                let effect = try await sync(transaction)
                if effect.isUndone { throw Undone(value: effect.value) }
                try await note(effect.value, transaction)
                return effect.value
            }
        } catch let undone as Undone<Value> {
            try await change { transaction -> Void in try await note(undone.value, transaction) }
            return undone.value
        }
    }

    /// The error that rolls back the transaction of a sync that undid itself.
    private struct Undone<Value: Sendable>: Error {
        let value: Value
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
        let name = source.map { "\(entity) from \($0)" } ?? entity
        let recorder = PassRecorder(history, name: name, entity: entity)
        do { return try await body(recorder) } catch {
            // A separate task, because the current one may be cancelled. The error of the sync is
            // more important than a failure to record it.
            await Task { try? await recorder.fail(error, in: store) }.value
            throw error
        }
    }
}
