#if Postgres
import OneWayPostgresClient
import SyncStoreSQL

// Changes that are undone if the database refuses them.
extension PostgresWorker {
    func beginAttempt() async throws {
        try await perform { $0.executeLater(["SAVEPOINT sync_change"]) }
        keptBefore = keptLinks
    }

    func endAttempt(isUndone: Bool) async throws {
        guard isUndone else { return try await perform { $0.executeLater(["RELEASE SAVEPOINT sync_change"]) } }
        try await perform { _ = try $0.execute("ROLLBACK TO SAVEPOINT sync_change; RELEASE SAVEPOINT sync_change") }
        (keptLinks, ahead) = (keptBefore, PostgresReadAhead())
    }
}
#endif
