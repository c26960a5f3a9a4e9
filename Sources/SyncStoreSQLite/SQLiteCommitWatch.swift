import SyncBase
import SyncStore

/// Reports the commits of a store, and those of other connections to its file.
///
/// SQLite does not report commits of other connections. The file is therefore checked at an
/// interval as long as there are observers.
final class SQLiteCommitWatch: Sendable {
    private let broadcaster = Broadcaster.ofCommits()
    private let writer: SQLiteWorker
    private let interval: Duration
    /// The last data version; nil without observers.
    private let version = Locked<Int64?>(nil)

    init(_ writer: SQLiteWorker, interval: Duration) {
        self.writer = writer
        self.interval = interval
    }

    /// Reports a commit of the store itself, which does not change the data version of its own
    /// connection.
    func report(_ roots: Set<Int>) {
        broadcaster.send(CommitSignals.Signal(roots: roots))
    }

    /// Begins to observe.
    func signals() async throws -> CommitSignals {
        let signals = CommitSignals(broadcaster)
        let current = try await writer.dataVersion()
        let isFirst = version.withLock { version in
            defer { version = version ?? current }
            return version == nil
        }
        if isFirst { watch() }
        return signals
    }

    private func watch() {
        Task { [weak self, interval] in
            while (try? await SyncClock.continuous.sleep(interval)) != nil {
                guard let self, await self.goesOn() else { return }
            }
        }
    }

    /// Reports commits of other connections.
    ///
    /// - Returns: Whether there are still observers.
    private func goesOn() async -> Bool {
        // The version is reset under the lock, so that the next observer starts anew.
        let isObserved = version.withLock { version in
            if !broadcaster.isObserved { version = nil }
            return version != nil
        }
        guard isObserved else { return false }
        guard let current = try? await writer.dataVersion() else { return true }
        let hasChanged = version.withLock { version in
            defer { version = current }
            return version != current
        }
        if hasChanged { broadcaster.send(CommitSignals.Signal(roots: nil)) }
        return true
    }
}
