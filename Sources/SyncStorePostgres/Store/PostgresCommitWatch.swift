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
    /// Settled when the connection listens; nil while nobody observes.
    private let listening = Locked<Promise<Void>?>(nil)

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
    ///
    /// Observers that begin together wait for one connection, and all of them get its error.
    func signals() async throws -> CommitSignals {
        let signals = CommitSignals(broadcaster)
        let (ready, isFirst) = listening.withLock { listening in
            if let ready = listening { return (ready, false) }
            let ready = Promise<Void>()
            listening = ready
            return (ready, true)
        }
        if isFirst { listen(ready) }
        try await ready.value()
        return signals
    }

    private func listen(_ ready: Promise<Void>) {
        Task { [weak self, settings] in
            var link: PostgresCommitLink?
            do { link = try await PostgresCommitLink(settings) } catch {
                // The next observer tries again.
                self?.listening.withLock { $0 = nil }
                ready.settle(.failure(error))
                return
            }
            ready.settle()
            while true {
                guard let self, self.goesOn() else { return }
                link = await self.report(link)
            }
        }
    }

    /// Whether somebody still observes.
    private func goesOn() -> Bool {
        // Forgotten under the lock, so that the next observer begins anew.
        listening.withLock { listening in
            if !broadcaster.isObserved { listening = nil }
            return listening != nil
        }
    }

    /// Reports commits for a while.
    ///
    /// - Returns: The connection; nil if there is none.
    private func report(_ link: PostgresCommitLink?) async -> PostgresCommitLink? {
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
        // A standby cannot listen.
        connection = try await settings.open(.primary)
        try await connection.interruptible { _ = try connection.execute("LISTEN \(settings.commitChannel)") }
    }

    /// The payloads that came until a deadline.
    func wait(until deadline: ContinuousClock.Instant) async throws -> [String] {
        try await connection.interruptible { try connection.notifications(until: deadline).map(\.payload) }
    }
}
#endif
