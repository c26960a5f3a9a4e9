#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

// Changes that are undone if the database refuses them.
extension PostgresWorker {
    func beginAttempt() async throws -> SQLKeptLinks {
        try await perform { $0.executeLater(["SAVEPOINT sync_change"]) }
        return keptLinks
    }

    func endAttempt(restoring kept: SQLKeptLinks?) async throws {
        guard let kept else { return try await perform { $0.executeLater(["RELEASE SAVEPOINT sync_change"]) } }
        // Those from before the changes were written when these began.
        waitingLinks = nil
        try await perform { _ = try $0.execute("ROLLBACK TO SAVEPOINT sync_change; RELEASE SAVEPOINT sync_change") }
        (keptLinks, ahead) = (kept, PostgresReadAhead())
    }
}
#endif
