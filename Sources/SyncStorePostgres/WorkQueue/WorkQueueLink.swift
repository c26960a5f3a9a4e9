#if Postgres
import SyncBase
import Foundation
import SyncStore

/// A connection to a queue, and the thread that it needs; it may wait on it for as long as nothing happens.
actor WorkQueueLink {
    /// What a connection is for.
    enum Role {
        case holder
        case worker
        case visitor
    }

    private let executor = BlockingExecutor(label: "PostgresWorkQueue")
    private let connection: PostgresConnection
    let statements: WorkQueueStatements
    nonisolated let options: PostgresWorkQueue.Options
    nonisolated let queue: String
    private nonisolated let waker: PostgresWaker
    /// What the items of a holder, or of a worker, are known by.
    nonisolated let token = UUID().uuidString

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Connects, makes the tables where they are missing, and listens.
    init(_ queue: PostgresWorkQueue, role: Role) async throws {
        let statements = WorkQueueStatements(queue)
        self.statements = statements
        options = queue.options
        self.queue = queue.name
        // A worker knows before the time of its items is over that it cannot reach the server: it asks three times within it.
        let answerLimit = queue.options.visibilityTimeout / 3
        connection = try await PostgresConnection.open(queue.connectionString, applicationName: "work queue") {
            $0.answerLimit = answerLimit
            if try $0.execute(statements.hasTables).boolean(0, 0) != true { try $0.execute(statements.tables) }
            // Such a connection is idle for as long as nothing happens.
            try $0.execute("SET idle_session_timeout = 0")
            switch role {
            case .holder: try $0.execute("LISTEN \(statements.holderChannel)")
            case .worker: try $0.execute("LISTEN \(statements.workerChannel)")
            case .visitor: break
            }
        }
        waker = connection.waker
    }

    /// Ends a wait, or the next one.
    nonisolated func wake() {
        waker.wake()
    }

    /// Waits until somebody notifies, or wakes, this link.
    ///
    /// - Returns: What came along with notifications.
    func wait(until deadline: ContinuousClock.Instant?) async throws -> [String] {
        try await connection.interruptible { try connection.notifications(until: deadline) }.map(\.payload)
    }

    /// Runs a statement; it is cancelled with the task.
    func query(_ text: String, _ parameters: [PostgresParameter] = []) async throws -> PostgresResult {
        try await connection.interruptible { try connection.query(text, parameters, isPrepared: true) }
    }

    /// Wakes those who listen to a channel.
    func notify(_ channel: String, _ payload: String = "") async throws {
        _ = try await query(WorkQueueStatements.notify, [.text(channel), .text(payload)])
    }

    // MARK: Items set aside

    func itemsSetAside() async throws -> [PostgresWorkQueue.ItemSetAside] {
        let result = try await query(statements.itemsSetAside, [.text(queue)])
        return (0..<result.rowCount).map { row in
            PostgresWorkQueue.ItemSetAside(
                item: result.text(row, 0) ?? "", stage: WorkStage(result.text(row, 1)).stage,
                attempts: Int(result.integer(row, 2) ?? 0), worker: result.text(row, 3) ?? "")
        }
    }

    func releaseItemsSetAside() async throws {
        _ = try await query(statements.releaseItemsSetAside, [.text(queue)])
    }
}

extension PostgresParameter {
    /// A length of time in seconds, as SQL's intervals take it.
    static func seconds(_ duration: Duration) -> Self {
        .text("\(Double(duration.wholeMilliseconds) / 1000)")
    }
}
#endif
