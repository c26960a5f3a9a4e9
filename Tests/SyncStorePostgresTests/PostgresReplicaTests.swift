#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Stores beside standby servers that follow the primary, and beside subscribers of its tables.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .endsInTime)
struct PostgresReplicaTests {
    /// Runs a function with a primary and a standby that follows it.
    private func withStandby(
        _ configuration: [String: String] = [:],
        _ body: (_ primary: PostgresServer, _ standby: PostgresServer) async throws -> Void
    ) async throws {
        let primary = try await PostgresServer()
        let settings = PostgresServer.Settings(configuration: configuration, following: primary)
        let standby = try await PostgresServer(settings)
        try await body(primary, standby)
        await standby.close()
        await primary.close()
    }

    /// Waits until a standby has what the primary has.
    private func waitFor(_ standby: PostgresServer, toFollow primary: PostgresServer) async throws {
        let position = try await PostgresSession.run(primary.url(), "SELECT pg_current_wal_lsn()")
        let lsn = try #require(position.first?.first ?? nil)
        let isThere = "SELECT pg_last_wal_replay_lsn() >= '\(lsn)'"
        while try await PostgresSession.run(standby.url(), isThere).first?.first != "t" { await Task.yield() }
    }

    private func reader(_ server: PostgresServer) async throws -> PostgresStore {
        try await PostgresWorld.store(at: server.url()) { $0.isReadOnly = true }
    }

    /// The standby cannot keep the rows that a read still needs and go on.
    @Test func aReadThatTheStandbyCancelsIsAnErrorThatARetryMends() async throws {
        try await withStandby(["max_standby_streaming_delay": "0", "hot_standby_feedback": "off"]) { primary, standby in
            let store = try await PostgresWorld.store(at: primary.url())
            try await store.put(1...3_000)
            try await waitFor(standby, toFollow: primary)
            let reader = try await reader(standby)
            let query = StoreQuery("User", orderedBy: [Ordering("id")])
            let names = EventLog<String>()
            let error = await #expect(throws: PostgresError.self) {
                try await reader.read { reader in
                    try await reader.fetch(query, batchRowCount: 100) { records in
                        for stored in records { names.append("\(stored.record["name"])") }
                        guard records.first?.record["id"] == 1 else { return }
                        try await store.put(1...3_000, name: "b")
                        try await PostgresSession.run(primary.url(), "VACUUM FREEZE")
                        try await waitFor(standby, toFollow: primary)
                    }
                }
            }
            #expect(error?.code == .serializationFailure)
            #expect(error?.isRetryable == true)
            // Never some rows of before and some of after.
            #expect(Set(names.events).count == 1)
            #expect(Set(try await reader.names()).count == 1)
        }
    }

    @Test func aStandbyOfAStandbyIsRead() async throws {
        try await withStandby { primary, standby in
            let store = try await PostgresWorld.store(at: primary.url())
            try await store.put(1...10)
            try await waitFor(standby, toFollow: primary)
            let last = try await PostgresServer(PostgresServer.Settings(following: standby))
            let reader = try await reader(last)
            #expect(try await reader.names().count == 10)
            try await store.put(1...20)
            try await waitFor(last, toFollow: primary)
            #expect(try await reader.names().count == 20)
            let refused = await #expect(throws: PostgresError.self) {
                try await PostgresWorld.store(at: last.url()).put([1])
            }
            #expect(refused?.code == .readOnlyTransaction)
            await last.close()
        }
    }

    /// A publication refuses updates and deletions in a table without a key.
    @Test func allTablesCanBePublished() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresRepairTests.open(database)
            try await database.run("CREATE PUBLICATION everything FOR ALL TABLES")
            try await PostgresRepairTests.fill(store)
            let tables = try await database.run(
                "SELECT relname FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace "
                    + "AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = c.oid AND indisprimary)")
            #expect(tables == [])
            for entity in ["User", "Note", "SyncBookmark", "SyncPendingLink"] {
                _ = try await store.transaction { try await $0.remove(StoreQuery(entity)) }
                #expect(try await store.count(StoreQuery(entity)) == 0)
            }
            _ = try await PostgresRepairTests.open(database, version: 1)
        }
    }

    /// A tool that rebuilds a table puts a copy in its place.
    @Test func aTableThatIsSwappedForACopyIsWrittenAndThenRepaired() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url)
            try await store.put(1...3)
            try await database.run(
                """
                BEGIN; CREATE TABLE copy (LIKE "User" INCLUDING ALL); \
                INSERT INTO copy OVERRIDING SYSTEM VALUE SELECT * FROM "User"; \
                ALTER TABLE "User" RENAME TO old; ALTER TABLE copy RENAME TO "User"; COMMIT
                """)
            // Indices and constraints have other names, and the relationships have no foreign key.
            try await store.put(1...4, name: "b")
            #expect(try await store.names() == Array(repeating: #""b""#, count: 4))
            #expect(try await PostgresStore.verify(at: database.url).count == 3)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await PostgresWorld.store(at: database.url)
            }
            #expect(error?.description.contains("User_identity") == true, "\(String(describing: error))")
            try await database.run("DROP TABLE old")
            let again = try await PostgresWorld.store(at: database.url)
            #expect(try await PostgresStore.verify(at: database.url) == [])
            try await again.put(1...5, name: "c")
            #expect(try await again.names() == Array(repeating: #""c""#, count: 5))
        }
    }
}
#endif
