import SyncBase
import SyncStore

/// Reports the commits of a store, and those of other stores and programs in its file.
///
/// SQLite tells nobody of the commits of other connections. The file is asked for them at an
/// interval, as long as there are observers.
final class SQLiteCommitWatch: Sendable {
    private let broadcaster = Broadcaster.ofCommits()
    private let writer: SQLiteWorker
    private let interval: Duration
    /// The version of the data that was seen last; nil while nobody asks.
    private let version = Locked<Int64?>(nil)

    init(_ writer: SQLiteWorker, interval: Duration) {
        self.writer = writer
        self.interval = interval
    }

    /// Reports a commit of the store itself, which its own connection does not see as one of
    /// others.
    func report(_ roots: Set<Int>) {
        broadcaster.send(CommitSignal(roots: roots))
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

    /// Reports commits of others.
    ///
    /// - Returns: Whether somebody still observes.
    private func goesOn() async -> Bool {
        // The version is forgotten under the lock, so that the next observer begins anew.
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
        if hasChanged { broadcaster.send(CommitSignal(roots: nil)) }
        return true
    }
}
