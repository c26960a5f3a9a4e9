#if Postgres
import Foundation
import OneWayPostgresClient
import SyncBase

/// A connection to a queue, and its thread.
///
/// The thread may wait as long as nothing happens. The loops of holders and workers run on it too.
/// A worker therefore reports that it is alive even if a processor blocks all threads of the shared
/// pool.
actor WorkQueueLink {
    /// The purpose of a connection.
    enum Role {
        case holder
        case worker
        case visitor
    }

    /// The maximum number of attempts for a statement that conflicts with other transactions.
    private static let attemptLimit = 20

    private let executor = BlockingExecutor(label: "PostgresWorkQueue")
    private let connection: PostgresConnection
    let statements: WorkQueueStatements
    nonisolated let options: PostgresWorkQueue.Options
    nonisolated let queue: String
    nonisolated let waker: PostgresWaker
    /// The identifier of a holder's or a worker's items.
    nonisolated let token: String

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects, creates missing tables, and listens.
    ///
    /// - Parameter token: The identifier of a holder's or a worker's items. A holder that connects
    ///   again uses the same one.
    init(_ queue: PostgresWorkQueue, role: Role, token: String = UUID().uuidString) async throws {
        self.token = token
        let statements = WorkQueueStatements(queue)
        self.statements = statements
        options = queue.options
        self.queue = queue.name
        // A worker must notice that it cannot reach the server before its items are given to
        // others.
        let silenceLimit = queue.options.visibilityTimeout / 3
        var options = PostgresSessionOptions(silenceLimit: silenceLimit)
        options.pooling = queue.options.isBehindSessionPooler ? .session : .none
        // The session is idle while nothing happens. The tables have few rows among many dead ones,
        // which only an index skips; a plan that the server calls expensive for that reason is not
        // worth JIT compilation. Names are looked up only in the system catalog.
        options.settings = [
            ("idle_session_timeout", "0"), ("enable_seqscan", "off"), ("jit", "off"),
            ("search_path", "pg_catalog, pg_temp"),
        ]
        connection = try await PostgresConnection.open(queue.address, options: options) {
            $0.answerLimit = silenceLimit
            if try $0.execute(statements.hasTables).boolean(0, 0) != true { try $0.execute(statements.tables) }
            switch role {
            case .holder: try $0.execute("LISTEN \(statements.holderChannel)")
            case .worker: try $0.execute("LISTEN \(statements.workerChannel)")
            case .visitor: break
            }
        }
        waker = connection.waker
    }

    /// Ends the current or the next wait.
    nonisolated func wake() {
        waker.wake()
    }

    /// Waits for a notification or a wake.
    ///
    /// - Returns: The payloads of notifications.
    func wait(until deadline: ContinuousClock.Instant?) async throws -> [String] {
        try await connection.interruptible { try connection.notifications(until: deadline) }.map(\.payload)
    }

    /// Runs a statement, and retries it after a deadlock or a serialization failure. It is
    /// cancelled with the task.
    func query(_ text: String, _ parameters: [PostgresParameter] = []) async throws -> PostgresResult {
        var attempt = 1
        while true {
            do {
                return try await connection.interruptible { try connection.query(text, parameters, isPrepared: true) }
            } catch let error as PostgresError where error.isConflict && attempt < Self.attemptLimit {
                attempt += 1
            }
        }
    }

    /// Wakes all listeners of a channel.
    func notify(_ channel: String, _ payload: String = "") async throws {
        _ = try await query(WorkQueueStatements.notify, [.text(channel), .text(payload)])
    }

    // MARK: Items set aside

    func itemsSetAside() async throws -> [PostgresWorkQueue.ItemSetAside] {
        let result = try await query(statements.itemsSetAside, [.text(queue)])
        return (0..<result.rowCount).map { row in
            PostgresWorkQueue.ItemSetAside(
                key: result.text(row, 0) ?? "", item: result.text(row, 1) ?? "",
                stage: WorkStage(result.text(row, 2)).stage, attempts: Int(result.integer(row, 3) ?? 0),
                worker: result.text(row, 4) ?? "",
                since: Date(timeIntervalSince1970: result.text(row, 5).flatMap(Double.init) ?? 0),
                isReleased: result.boolean(row, 6) == true)
        }
    }

    func release(_ items: [PostgresWorkQueue.ItemSetAside]?) async throws {
        let keys = items.map { PostgresParameter.texts($0.map(\.key)) } ?? .null
        let stages = items.map { PostgresParameter.texts($0.map { WorkStage($0.stage).rawValue }) } ?? .null
        _ = try await query(statements.release, [.text(queue), keys, stages])
    }
}
#endif
