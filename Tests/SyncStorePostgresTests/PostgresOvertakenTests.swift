#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// Other programs that change rows between the search of a merge and its writes.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresOvertakenTests {
    /// Merges people while another program's change waits for its commit.
    private static func put(
        _ ids: [Int64], during change: String, _ database: TestDatabase, into store: PostgresStore
    ) async throws -> MergeRequest.Result {
        let other = try await PostgresSession(database.url)
        try await other.use { _ = try $0.execute("BEGIN; \(change)") }
        let merge = Task { try await ExistingPeople.put(ids, name: "b", into: store) }
        try await database.waitForRow(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        try await other.use { _ = try $0.execute("COMMIT") }
        return try await merge.value
    }

    /// The written row would otherwise be another object, or none.
    @Test(arguments: [("UPDATE people SET id = 9 WHERE id = 1", ["9", "a"]), ("DELETE FROM people WHERE id = 1", nil)])
    func anObjectThatAnotherProgramTakesAwayIsInsertedAgain(change: String, other: [String?]?) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 2], into: store)
            let merged = try await Self.put([1, 2], during: change, database, into: store)
            #expect(merged.rows.map { $0?.change } == [.inserted, .updated])
            let rows = try await database.run("SELECT id, name FROM people ORDER BY id")
            #expect(rows == [["1", "b"], ["2", "b"]] + (other.map { [$0] } ?? []))
        }
    }

    @Test(arguments: [[3], [3, 4]] as [[Int64]])
    func anObjectThatAnotherProgramInsertsIsUpdated(ids: [Int64]) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            let insertion = "INSERT INTO people (id, name) VALUES (3, 'a')"
            let merged = try await Self.put(ids, during: insertion, database, into: store)
            #expect(merged.rows.map { $0?.change } == ids.map { $0 == 3 ? .updated : .inserted })
            let rows = try await database.run("SELECT id, name FROM people ORDER BY id")
            #expect(rows == ids.map { ["\($0)", "b"] })
        }
    }
}
#endif
