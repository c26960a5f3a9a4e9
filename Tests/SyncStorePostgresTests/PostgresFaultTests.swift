#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import OneWayTestSupport
import Testing

/// What goes wrong leaves the old state or the new one, says why, and is over with the next
/// transaction.
@Suite(
    .enabled(if: PostgresServer.isInstalled, "\(SharedPostgres.absence)"), .serialized, .endsInTime)
struct PostgresFaultTests {
    /// Runs a function with a server of its own.
    private func withServer(
        _ configuration: [String: String] = [:], _ body: (PostgresServer) async throws -> Void
    ) async throws {
        let server = try await PostgresServer(PostgresServer.Settings(configuration: configuration))
        try await body(server)
        await server.close()
    }

    // MARK: The server dies

    @Test func aServerThatDiesDuringAMergeLeavesTheOldState() async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            try await dying(store, at: server, .merge) { try await server.kill() }
            try await server.start()
            #expect(try await store.names() == [#""a""#])
            try await converges(store)
        }
    }

    @Test func aConnectionThatIsCutDuringAMergeLeavesTheOldState() async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            try await dying(store, at: server, .merge) {
                try await PostgresSession.run(
                    server.url(),
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name LIKE '%@%' AND wait_event_type = 'Lock'
                    """)
            }
            #expect(try await store.names() == [#""a""#])
            try await converges(store)
        }
    }

    @Test func aServerThatDiesDuringACommitLeavesTheOldState() async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            try await PostgresSession.run(server.url(), Self.slowCommit)
            try await dying(store, at: server, .commit) { try await server.kill() }
            try await server.start()
            #expect(try await store.names() == [#""a""#])
            try await PostgresSession.run(server.url(), #"ALTER TABLE "User" DROP COLUMN place"#)
            try await converges(store)
        }
    }

    @Test(arguments: 1...5)
    func aServerThatDiesDuringACopyLeavesTheOldState(part: Int) async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            let batch = try PostgresWorld.batch(0..<4000, name: String(repeating: "x", count: 500))
            // When one has been seen in the middle so often.
            let death = Task {
                let session = try await PostgresSession(server.url())
                var count = 0
                while count < part {
                    count += try await session.use { connection in
                        Int(try connection.execute("SELECT count(*) FROM pg_stat_progress_copy").integer(0, 0) ?? 0)
                    }
                }
                try await server.kill()
            }
            let error = await #expect(throws: PostgresError.self) {
                try await store.transaction { transaction in
                    while !Task.isCancelled {
                        _ = try await transaction.merge(MergeRequest(batch))
                    }
                }
            }
            try await death.value
            #expect(error?.isConnectionFailure == true)
            try await server.start()
            #expect(try await store.names() == [#""a""#])
            try await converges(store)
        }
    }

    @Test func aStoreOutlivesItsServer() async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            #expect(try await store.count(StoreQuery("User")) == 1)
            for isKilled in [false, true] {
                try await isKilled ? server.kill() : server.stop()
                let error = await #expect(throws: PostgresError.self) { try await store.put([2]) }
                #expect(error?.isConnectionFailure == true)
                try await server.start()
                #expect(try await store.count(StoreQuery("User")) == 1)
                try await store.put([1], name: "\(isKilled)")
                #expect(try await store.names() == [#""\#(isKilled)""#])
            }
        }
    }

    /// Where a transaction is when something happens to its server.
    private enum Moment {
        case merge
        case commit
    }

    /// Lets a commit that inserts users wait for whoever holds the row of a table.
    ///
    /// With a trigger on the table instead, the store would verify constraints before the commit.
    private static let slowCommit = """
        CREATE TABLE places (id bigint PRIMARY KEY); INSERT INTO places VALUES (42);
        ALTER TABLE "User" ADD COLUMN place bigint DEFAULT 42 REFERENCES places DEFERRABLE INITIALLY DEFERRED
        """

    /// Writes while a lock holds it up, lets something happen, and expects the connection to be
    /// lost.
    private func dying(
        _ store: PostgresStore, at server: PostgresServer, _ moment: Moment, _ happen: () async throws -> Void
    ) async throws {
        let holder = try await PostgresSession(server.url())
        try await holder.use { connection in
            let lock =
                switch moment {
                case .merge: #"LOCK TABLE "User" IN EXCLUSIVE MODE"#
                case .commit: "SELECT id FROM places FOR UPDATE"
                }
            _ = try connection.execute("BEGIN; \(lock)")
        }
        let result = Task { try await store.put(0..<500, name: "b") }
        try await server.waitForWaiter()
        try await happen()
        let error = await #expect(throws: PostgresError.self) { try await result.value }
        #expect(error?.isConnectionFailure == true, "\(String(describing: error))")
    }

    private func converges(_ store: PostgresStore) async throws {
        try await store.put(0..<10, name: "c")
        #expect(try await store.names() == Array(repeating: #""c""#, count: 10))
    }

    // MARK: Others are in the way

    @Test func aConflictIsTriedAgain() async throws {
        try await withServer { server in
            let store = try await PostgresWorld.store(at: server.url())
            let rows = try await store.put(1...3).objects.compactMap { $0 }
            // Fails twice; what a sequence gave is not taken back.
            try await PostgresSession.run(
                server.url(),
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SET search_path TO public, pg_temp AS $$
                    BEGIN
                        IF nextval('tries') < 3 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF;
                        RETURN NULL;
                    END $$;
                CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON "User" FOR EACH ROW EXECUTE FUNCTION fail()
                """)
            let again = "SELECT setval('tries', 1, false)"
            try await store.put([3], name: "b")
            #expect(try await store.names() == [#""a""#, #""a""#, #""b""#])
            try await store.transaction { transaction in
                guard let boss = try transaction.model.layout(of: "User").relationship("boss") else { return }
                var batch = LinkBatch(boss, mode: .replace)
                batch.append(rows[0], to: [rows[1]])
                try await PostgresSession.run(server.url(), again)
                #expect(try await transaction.link(batch).changed == [rows[0]])
                try await PostgresSession.run(server.url(), again)
                #expect(
                    try await transaction.remove(StoreQuery("User", where: PropertyPath("id") == 2)).counts == [
                        "User": 1
                    ])
            }
            #expect(try await store.names() == [#""a""#, #""b""#])
            // Without end: it is given up, and says what it was.
            try await PostgresSession.run(server.url(), "ALTER SEQUENCE tries MINVALUE -100 RESTART -100")
            let error = await #expect(throws: PostgresError.self) { try await store.put([3], name: "d") }
            #expect(error?.code == "40001" && error?.isRetryable == true)
        }
    }

    @Test func aDeadlockIsTriedAgain() async throws {
        try await withServer(["deadlock_timeout": "'2s'"]) { server in
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put(1...2)
            let other = try await PostgresSession(server.url())
            try await other.use { connection in
                // It never looks for deadlocks itself.
                _ = try connection.execute(
                    #"SET deadlock_timeout TO '10min'; BEGIN; UPDATE "User" SET name = 'x' WHERE id = 2"#)
            }
            let result = Task { try await store.put(1...2, name: "b") }
            try await server.waitForWaiter()
            try await other.use { _ = try $0.execute(#"UPDATE "User" SET name = 'x' WHERE id = 1; COMMIT"#) }
            #expect(try await result.value.rows.map(\.?.change) == [.updated, .updated])
            #expect(try await store.names() == [#""b""#, #""b""#])
        }
    }

    @Test func whoeverWaitsTooLongIsTold() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url) { $0.lockTimeout = .milliseconds(50) }
            let timed = try await PostgresWorld.store(at: database.url + "&options=-cstatement_timeout%3D3000")
            let holder = try await PostgresSession(database.url)
            try await holder.use { _ = try $0.execute(#"BEGIN; LOCK TABLE "User" IN EXCLUSIVE MODE"#) }
            let blocked = await #expect(throws: PostgresError.self) { try await store.put([1]) }
            #expect(blocked?.code == "55P03" && blocked?.isRetryable == true)
            let late = await #expect(throws: PostgresError.self) { try await timed.put([1]) }
            #expect(late?.code == "57014")
            try await holder.use { _ = try $0.execute("COMMIT") }
            try await store.put([1])
            try await timed.put([2])
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    @Test func aCancelledSyncEndsOnTheServerToo() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url)
            let holder = try await PostgresSession(database.url)
            try await holder.use { _ = try $0.execute(#"BEGIN; LOCK TABLE "User" IN EXCLUSIVE MODE"#) }
            let task = Task { try await store.put([1]) }
            try await database.waitForWaiter()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let waiting = try await database.run("SELECT count(*) FROM pg_locks WHERE NOT granted")
            #expect(waiting == [["0"]])
            try await holder.use { _ = try $0.execute("COMMIT") }
            try await store.put([2])
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
    }

    // MARK: No way in

    @Test func withoutAServerTheErrorSaysSo() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await PostgresWorld.store(at: "postgres://nobody:secret@/none?host=%2Fnowhere")
        }
        #expect(error?.code == "08001")
        #expect(error.debugDescription.contains("secret") == false)
    }

    @Test func withoutRightsNothingIsDone() async throws {
        try await withServer { server in
            try await PostgresSession.run(server.url(), "CREATE ROLE guest LOGIN")
            let denied = await #expect(throws: PostgresError.self) {
                try await PostgresWorld.store(at: server.url(user: "guest"))
            }
            #expect(denied?.code == "42501")
            let store = try await PostgresWorld.store(at: server.url())
            try await store.put([1])
            try await PostgresSession.run(server.url(), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest")
            let reader = try await PostgresWorld.store(at: server.url(user: "guest")) { $0.isReadOnly = true }
            #expect(try await reader.count(StoreQuery("User")) == 1)
            let refused = await #expect(throws: PostgresError.self) { try await reader.put([2]) }
            #expect(refused?.code == "25006")
            let guest = try await PostgresWorld.store(at: server.url(user: "guest"))
            let reason = "the role guest needs the privilege INSERT and UPDATE on it"
            await #expect(throws: SQLSchemaError.unsuitableTable(table: "User", reason: reason)) {
                try await guest.put([2])
            }
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
    }

    @Test func aDatabaseOfAnotherEncodingIsRefused() async throws {
        try await withServer { server in
            try await PostgresSession.run(
                server.url(), "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
            let error = await #expect(throws: PostgresError.self) {
                try await PostgresWorld.store(at: server.url(database: "latin"))
            }
            #expect(
                error?.description
                    == "PostgreSQL: the encoding of the database is LATIN1, not UTF8 (SQLSTATE 22021)")
        }
    }

    // MARK: No room

    /// A tablespace that is full: a small file system in memory, which only root can make.
    @Test(.enabled("this machine lets nobody here mount a disk") { await SmallDisk.isPossible })
    func aFullDiskLeavesTheOldState() async throws {
        try await withServer { server in
            let disk = try await SmallDisk(for: server)
            try await PostgresSession.run(server.url(), "CREATE TABLESPACE small LOCATION '\(disk.path)'")
            try await PostgresSession.run(server.url(), "CREATE DATABASE small TABLESPACE small")
            let store = try await PostgresWorld.store(at: server.url(database: "small"))
            try await store.put([1])
            let error = await #expect(throws: PostgresError.self) {
                for part in 0..<100 {
                    try await store.put((part * 1000)..<(part * 1000 + 1000), name: String(repeating: "x", count: 1000))
                }
            }
            #expect(error?.code == "53100", "\(String(describing: error))")
            #expect(error?.description.contains("xxx") == false)
            try await store.erase()
            try await converges(store)
            await server.close()
            await disk.remove()
        }
    }
}

/// A file system of 16 MB that a server can write to.
private struct SmallDisk {
    let path: String

    /// Whether such a disk can be made: only root can, and not in most containers.
    static var isPossible: Bool {
        get async {
            guard getuid() == 0 else { return false }
            do {
                let folder = try TemporaryDirectory()
                try await SmallDisk(path: folder.url.appending(path: "disk").path, owner: 0).remove()
                return true
            } catch {
                return false
            }
        }
    }

    init(for server: PostgresServer) async throws {
        let owner = try FileManager.default.attributesOfItem(atPath: server.folder)[.ownerAccountID] as? Int ?? 0
        try await self.init(path: "\(server.folder)-disk", owner: owner)
    }

    private init(path: String, owner: Int) async throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard
            await Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=16m,uid=\(owner),mode=700", "tmpfs", path])
        else {
            try FileManager.default.removeItem(atPath: path)
            throw CocoaError(.fileWriteNoPermission)
        }
    }

    func remove() async {
        _ = await Self.run("/bin/umount", [path])
        try? FileManager.default.removeItem(atPath: path)
    }

    private static func run(_ program: String, _ arguments: [String]) async -> Bool {
        let process = try? ChildProcess(URL(filePath: program), arguments, errors: ChildOutput())
        return (try? await process?.end())?.code == 0
    }
}
#endif
