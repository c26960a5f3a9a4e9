#if Postgres
import Foundation
import OneWayPostgresClient

/// Identifies an item that a worker has claimed.
struct WorkClaim: Hashable, Sendable {
    var holder: String
    var number: Int64
    /// The number of the attempt, from 1, because a worker may lose an item and claim it again.
    var attempt: Int64
    /// The generation of the pass that offered the item.
    var generation: Int64

    /// Whether both are attempts at the same item.
    func isSameItem(as other: WorkClaim) -> Bool {
        holder == other.holder && number == other.number
    }

    fileprivate init(_ result: PostgresResult, row: Int) {
        holder = result.text(row, 0) ?? ""
        number = result.integer(row, 1) ?? 0
        attempt = result.integer(row, 2) ?? 0
        generation = result.integer(row, 3) ?? 0
    }
}

/// An item for a worker to download.
struct ClaimedWork: Sendable {
    var claim: WorkClaim
    var stage: WorkStage
    /// The item as JSON.
    var item: String
    /// Whether a worker may have died of it. Nothing else then runs at the same time.
    var isSuspect: Bool
}

/// The outcome of a worker's download.
enum WorkEnd: Sendable {
    case done
    case failed(PostgresWorkQueue.Failure.WorkerError)
    /// The item was withdrawn, or the worker has lost it.
    case cancelled
    /// Another worker is to begin again.
    case givenBack
    /// The worker cannot decode the item. Another worker is to begin again.
    case unreadable(String)

    var isCancellation: Bool {
        if case .cancelled = self { true } else { false }
    }

    fileprivate var state: String {
        switch self {
        case .done: "done"
        case .failed, .cancelled: "failed"
        case .givenBack, .unreadable: "waiting"
        }
    }

    /// The error as JSON; empty if there is none.
    fileprivate var error: String {
        guard case .failed(let failure) = self, let data = try? JSONEncoder().encode(failure) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

extension WorkQueueLink {
    /// Claims the next items.
    ///
    /// - Parameter isIdle: Whether the worker has no item, so that it may claim a suspect.
    func claim(atMost count: Int, by name: String, isIdle: Bool) async throws -> [ClaimedWork] {
        guard count > 0 else { return [] }
        let result = try await query(
            statements.claim,
            [
                .text(queue), .text(token), .text(name), .integer(Int64(count)), .seconds(options.visibilityTimeout),
                .text(isIdle ? "t" : "f"), .integer(Int64(options.itemVersion)),
            ])
        let claimed = (0..<result.rowCount).map { row in
            ClaimedWork(
                claim: WorkClaim(result, row: row), stage: WorkStage(result.text(row, 4)),
                item: result.text(row, 5) ?? "", isSuspect: result.boolean(row, 6) == true)
        }
        return claimed.sorted { $0.claim.number < $1.claim.number }
    }

    /// Reports the outcomes of items. Items that the worker has lost are ignored.
    func finish(_ ends: [WorkClaim: WorkEnd]) async throws {
        guard !ends.isEmpty else { return }
        let claims = Array(ends)
        _ = try await query(
            statements.finish,
            [
                .text(token), .texts(claims.map(\.key.holder)), .integers(claims.map(\.key.number)),
                .integers(claims.map(\.key.attempt)),
                .texts(claims.map(\.value.state)), .texts(claims.map(\.value.error)),
                .text(statements.holderChannel), .text(statements.workerChannel),
            ])
    }

    /// Reports that the worker is alive.
    ///
    /// - Returns: The items that it still has, without those that were withdrawn.
    func prolong() async throws -> Set<WorkClaim> {
        let result = try await query(statements.prolong, [.text(token), .seconds(options.visibilityTimeout)])
        let rows = (0..<result.rowCount).filter { result.boolean($0, 4) != true }
        return Set(rows.map { WorkClaim(result, row: $0) })
    }
}
#endif
