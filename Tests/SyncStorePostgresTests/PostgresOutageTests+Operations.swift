#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWaySynchronizer
import OneWayTestSupport
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// What an administrator decides: connections, roles, privileges, deployments and TLS.
extension PostgresOutageTests {
    // MARK: Connections

    @Test func readsHaveABudgetOfConnections() async throws {
        try await TestProxy.with { server, proxy in
            let store = try await PostgresWorld.store(at: proxy.url()) { $0.maximumReaderCount = 2 }
            let isOpen = Gate()
            let arrived = EventLog<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        try await store.read { reader in
                            arrived.append(number)
                            // Reads inside of reads do not wait for themselves.
                            let count = try await store.count(StoreQuery("User"))
                            try await isOpen.pass()
                            _ = try await reader.count(StoreQuery("User"))
                            #expect(count == 0)
                        }
                    }
                }
                try await isOpen.waitForArrivals(2)
                #expect(arrived.events.count == 2)
                isOpen.open()
                try await group.waitForAll()
            }
            #expect(arrived.events.count == 10)
            // The writer's, two readers', and those of reads inside of them.
            #expect(proxy.acceptedCount <= 5)
        }
    }

    // MARK: Attackers

    @Test func rolesThatCanCreateInTheSchemaAreAWarning() async throws {
        try await TestProxy.with { server, _ in
            #expect(try await store(server.url()).warnings == [])
            try await PostgresSession.run(
                server.url(),
                """
                CREATE ROLE "a b"; CREATE ROLE reader; GRANT USAGE ON SCHEMA public TO reader; \
                GRANT CREATE ON SCHEMA public TO "a b", PUBLIC
                """)
            #expect(
                try await store(server.url()).warnings == [
                    #"other roles can create objects in the schema "public": PUBLIC, a b; revoke it, as in: "#
                        + #"REVOKE CREATE ON SCHEMA "public" FROM PUBLIC, "a b""#
                ])
        }
    }

    // MARK: Privileges

    @Test func theDocumentedPrivilegesAreEnough() async throws {
        try await TestProxy.with { server, _ in
            let owner = try await store(server.url())
            try await owner.put([1])
            try await PostgresLease("name", at: server.url()).withLease {}
            try await PostgresSession.run(
                server.url(),
                """
                CREATE ROLE sync LOGIN;
                REVOKE ALL ON DATABASE postgres FROM PUBLIC;
                REVOKE ALL ON SCHEMA public FROM PUBLIC;
                GRANT CONNECT ON DATABASE postgres TO sync;
                GRANT USAGE ON SCHEMA public TO sync;
                GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO sync;
                GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO sync
                """)
            let url = server.url(user: "sync")
            let store = try await store(url)
            let refused = await #expect(throws: PostgresError.self) { try await store.put([2]) }
            #expect(refused?.code == .insufficientPrivilege)
            try await PostgresSession.run(server.url(), "GRANT TEMPORARY ON DATABASE postgres TO sync")
            let objects = try await store.put([1, 2], name: "b").objects
            try await store.transaction { transaction in
                guard let staff = try transaction.model.layout(of: "User").relationship("staff") else { return }
                var links = LinkBatch(staff, mode: .replace)
                if let first = objects[0], let second = objects[1] { links.append(first, to: [second]) }
                _ = try await transaction.link(links)
                _ = try await transaction.remove(StoreQuery("User", where: PropertyPath("id") == 1))
            }
            #expect(try await store.names() == [#""b""#])
            // An empty table is filled in another way.
            try await PostgresSession.run(server.url(), #"TRUNCATE "User""#)
            #expect(try await self.store(url).put(0..<300).rows.allSatisfy { $0?.change == .inserted })
            try await PostgresLease("name", at: url).withLease {}
        }
    }

    // MARK: Rolling deployments

    @Test func anOlderProgramKeepsWhatANewerOneAdded() async throws {
        try await TestProxy.with { server, _ in
            let newer = try DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncAttribute("email", .string)
                    SyncRelationship("boss", toOne: "User", inverse: "staff")
                    SyncRelationship("staff", toMany: "User", inverse: "boss")
                    SyncRelationship("notes", toMany: "Note", inverse: "user")
                }
                SyncEntity("Note", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("user", toOne: "User", inverse: "notes")
                }
            }
            try await store(server.url()).put([1])
            let new = try await PostgresStore(exactly: newer, at: server.url())
            try await PostgresSession.run(server.url(), #"UPDATE "User" SET email = 'a@b'"#)
            // A host that still has the older version starts again, and writes.
            let old = try await store(server.url())
            try await old.put([1, 2], name: "b")
            let emails = try await new.records(StoreQuery("User", orderedBy: [Ordering("id")])).map {
                $0.record["email"]
            }
            #expect(emails == ["a@b", .null])
            // What a higher version no longer has is dropped.
            _ = try await PostgresWorld.store(at: server.url()) { $0.modelVersion = 1 }
            let tables = try await PostgresSession.run(
                server.url(), "SELECT 1 FROM pg_tables WHERE tablename = 'Note'")
            #expect(tables == [])
            let refused = await #expect(throws: SQLSchemaError.self) {
                try await PostgresStore(exactly: newer, at: server.url())
            }
            #expect(refused == .newer(found: 1, known: 0))
        }
    }

    // MARK: TLS

    @Test(.enabled("openssl is not installed") { TestCertificate.isPossible })
    func aServerWithAnotherCertificateIsRefused() async throws {
        let certificate = try await TestCertificate.make()
        let other = try await TestCertificate.make()
        let port = try TestProxy.freePort()
        let server = try await PostgresServer(
            PostgresServer.Settings(configuration: [
                "listen_addresses": "'127.0.0.1'", "port": "\(port)", "ssl": "on",
                "ssl_cert_file": "'\(certificate.certificate)'", "ssl_key_file": "'\(certificate.key)'",
            ]))
        let url = "postgres://postgres@localhost:\(port)/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert="
        let store = try await store(url + certificate.certificate)
        try await store.put([1])
        let sessions = try await PostgresSession.run(
            url + certificate.certificate, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        #expect(sessions == [["t"]])
        // Both ends notice when the other one is gone.
        let settings = try await PostgresSession.run(
            url + certificate.certificate,
            """
            SELECT current_setting('tcp_keepalives_idle'), current_setting('tcp_user_timeout'),
                current_setting('client_connection_check_interval')
            """)
        #expect(settings == [["7", "10000", "2500ms"]])
        let wrong = await #expect(throws: PostgresError.self) {
            try await PostgresSession.run(url + other.certificate, "SELECT 1")
        }
        #expect(wrong?.code == .cannotConnect)
        let misnamed = url.replacing("localhost", with: "example.com") + certificate.certificate
        let refused = await #expect(throws: PostgresError.self) { try await PostgresSession.run(misnamed, "SELECT 1") }
        #expect(refused?.code == .cannotConnect)
        await server.close()
        certificate.remove()
        other.remove()
    }
}
#endif
