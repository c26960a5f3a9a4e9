#if Postgres
import Foundation
import OneWayPostgresClient
import SyncBase
import SyncModel
import SyncStore

/// Reports the commits of all stores of a schema, on any host, with `LISTEN`.
///
/// One connection listens while there are observers. Source:
/// https://www.postgresql.org/docs/current/sql-notify.html
final class PostgresCommitWatch: Sendable {
    private let broadcaster = Broadcaster.ofCommits()
    private let settings: PostgresSettings
    private let model: DataModel
    /// Settled when the connection listens; nil without observers.
    private let listening = Locked<Promise<Void>?>(nil)

    /// The maximum time until a connection without observers is closed.
    private static let roundLength = Duration.seconds(1)
    /// The maximum size of a notification's payload in bytes.
    private static let payloadLimit = 7000

    init(_ settings: PostgresSettings, model: DataModel) {
        self.settings = settings
        self.model = model
    }

    /// The payload with the names of root entities; empty if it means any entity.
    static func payload(_ names: [String]) -> String {
        guard let data = try? JSONEncoder().encode(names), data.count <= payloadLimit else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// Begins to observe.
    ///
    /// Observers that begin at the same time wait for the same connection, and all get its error.
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

    /// Whether there are still observers.
    private func goesOn() -> Bool {
        // Reset under the lock, so that the next observer starts anew.
        listening.withLock { listening in
            if !broadcaster.isObserved { listening = nil }
            return listening != nil
        }
    }

    /// Reports commits for one round.
    ///
    /// - Returns: The connection for the next round; nil if there is none.
    private func report(_ link: PostgresCommitLink?) async -> PostgresCommitLink? {
        do {
            guard let link else {
                let new = try await PostgresCommitLink(settings)
                // Notifications may have been lost in the meantime.
                broadcaster.send(CommitSignals.Signal(roots: nil))
                return new
            }
            for payload in try await link.wait(until: .now + Self.roundLength) {
                broadcaster.send(CommitSignals.Signal(roots: roots(of: payload)))
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

/// A connection that listens for commits, and the thread that waits for them.
private actor PostgresCommitLink {
    private let executor = BlockingExecutor(label: "PostgresStore commits")
    private let connection: PostgresConnection

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ settings: PostgresSettings) async throws {
        // A standby server does not support `LISTEN`.
        connection = try await settings.open(.primary)
        try await connection.interruptible { _ = try connection.execute("LISTEN \(settings.commitChannel)") }
    }

    /// Returns the payloads received until a deadline.
    func wait(until deadline: ContinuousClock.Instant) async throws -> [String] {
        try await connection.interruptible { try connection.notifications(until: deadline).map(\.payload) }
    }
}
#endif
