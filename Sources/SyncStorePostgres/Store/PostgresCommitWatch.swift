#if Postgres
import Foundation
import OneWayPostgresClient
import SyncBase
import SyncModel
import SyncStore

/// Reports the commits of all stores of a schema, on whatever host they are, by `LISTEN`.
///
/// A connection listens as long as there are observers. Source:
/// https://www.postgresql.org/docs/current/sql-notify.html
final class PostgresCommitWatch: Sendable {
    private let broadcaster = Broadcaster.ofCommits()
    private let settings: PostgresSettings
    private let model: DataModel
    private let isListening = Locked(false)

    /// The longest time until a connection without observers is closed.
    private static let roundLength = Duration.seconds(1)
    /// The longest payload of a notification, in bytes.
    private static let payloadLimit = 7000

    init(_ settings: PostgresSettings, model: DataModel) {
        self.settings = settings
        self.model = model
    }

    /// The payload that names root entities; empty for any.
    static func payload(_ names: [String]) -> String {
        guard let data = try? JSONEncoder().encode(names), data.count <= payloadLimit else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Begins to observe.
    func signals() async throws -> CommitSignals {
        let signals = CommitSignals(broadcaster)
        let isFirst = isListening.withLock { isListening in
            defer { isListening = true }
            return !isListening
        }
        guard isFirst else { return signals }
        do {
            let link = try await PostgresCommitLink(settings)
            Task { [weak self] in
                var link: PostgresCommitLink? = link
                while true {
                    guard let self, self.goesOn() else { return }
                    link = await self.listen(link)
                }
            }
        } catch {
            isListening.withLock { $0 = false }
            throw error
        }
        return signals
    }

    /// Whether somebody still observes.
    private func goesOn() -> Bool {
        isListening.withLock { isListening in
            isListening = broadcaster.isObserved
            return isListening
        }
    }

    /// Reports commits for a while.
    ///
    /// - Returns: The connection; nil if there is none.
    private func listen(_ link: PostgresCommitLink?) async -> PostgresCommitLink? {
        do {
            guard let link else {
                let new = try await PostgresCommitLink(settings)
                // Notifications may have been lost meanwhile.
                broadcaster.send(CommitSignal(roots: nil))
                return new
            }
            for payload in try await link.wait(until: .now + Self.roundLength) {
                broadcaster.send(CommitSignal(roots: roots(of: payload)))
            }
            return link
        } catch {
            try? await SyncClock.continuous.sleep(Self.roundLength)
            return nil
        }
    }

    private func roots(of payload: String) -> Set<Int>? {
        guard let names = try? JSONDecoder().decode([String].self, from: Data(payload.utf8)) else { return nil }
        let roots = names.compactMap { model[$0]?.root }
        return roots.count == names.count ? Set(roots) : nil
    }
}

/// A connection that listens to commits, and the thread that waits for them.
private actor PostgresCommitLink {
    private let executor = BlockingExecutor(label: "PostgresStore commits")
    private let connection: PostgresConnection

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ settings: PostgresSettings) async throws {
        connection = try await settings.open(writes: false)
        try await connection.interruptible { _ = try connection.execute("LISTEN \(settings.commitChannel)") }
    }

    /// The payloads that came until a deadline.
    func wait(until deadline: ContinuousClock.Instant) async throws -> [String] {
        try await connection.interruptible { try connection.notifications(until: deadline).map(\.payload) }
    }
}
#endif
