#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Rules, policies, privileges and exclusion constraints of others.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresTableSetupTests {
    @Test(arguments: ["DO ALSO INSERT INTO log VALUES (NEW.id)", "DO INSTEAD NOTHING"])
    func aRuleIsNamed(action: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1], into: store)
            try await database.run(
                "CREATE TABLE log (id bigint); CREATE RULE noted AS ON UPDATE TO people \(action)")
            let error = await #expect(throws: SQLSchemaError.self) {
                try await ExistingPeople.put([1], name: "b", into: store)
            }
            #expect(error?.description.contains("the rule noted") == true, "\(String(describing: error))")
        }
    }

    @Test func whatPoliciesAndPrivilegesForbidIsNamed() async throws {
        guard PostgresServer.isInstalled else { return }
        let server = try await PostgresServer()
        let owner = try await ExistingPeople.open(try ExistingPeople.model(), at: server.url())
        for isEmpty in [true, false] {
            try await PostgresSession.run(
                server.url(),
                isEmpty
                    ? """
                    CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer; \
                    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO writer; \
                    CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; \
                    ALTER TABLE people ENABLE ROW LEVEL SECURITY; \
                    CREATE POLICY all_but_two ON people USING (true) WITH CHECK (id <> 2)
                    """ : "INSERT INTO people (id) VALUES (9)")
            let store = try await ExistingPeople.open(try ExistingPeople.model(), at: server.url(user: "writer"))
            do {
                try await ExistingPeople.put([1, 2, 3], into: store)
                Issue.record("nothing was refused")
            } catch StoreError.refused(let refusal) {
                #expect(refusal.key == .identity(2) && refusal.index == 1 && refusal.reason == .check)
                #expect(refusal.constraint == "row-level security")
            }
        }
        let store = try await ExistingPeople.open(try ExistingPeople.model(), at: server.url(user: "reader"))
        let reason = "the role reader needs the privilege INSERT and UPDATE on it"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await ExistingPeople.put([9], name: "b", into: store)
        }
        #expect(try await owner.count(StoreQuery("Person")) == 1)
        await server.close()
    }

    @Test func aLinkThatAPolicyForbidsIsRefused() async throws {
        guard PostgresServer.isInstalled else { return }
        let server = try await PostgresServer()
        let model = try ExistingPeople.model()
        let owner = try await ExistingPeople.open(model, at: server.url())
        let rows = try await ExistingPeople.put([1, 2], into: owner).objects.compactMap(\.self)
        let team = try await owner.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Team"))
            record["id"] = 7
            return try await transaction.insert(record)
        }
        try await PostgresSession.run(
            server.url(),
            """
            CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer; \
            CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; \
            ALTER TABLE people_teams ENABLE ROW LEVEL SECURITY; \
            CREATE POLICY all_but_one ON people_teams USING (true) WITH CHECK ("Person" <> \(rows[1]))
            """)
        var batch = LinkBatch(try #require(try model.layout(of: "Person").relationship("teams")), mode: .replace)
        for row in rows { batch.append(row, to: [team]) }
        let links = batch
        let writer = try await ExistingPeople.open(model, at: server.url(user: "writer"))
        do {
            try await writer.transaction { _ = try await $0.link(links) }
            Issue.record("nothing was refused")
        } catch StoreError.refused(let refusal) {
            #expect(refusal.key == .identity(2) && refusal.attributes == ["teams"] && refusal.reason == .check)
            #expect(refusal.constraint == "row-level security")
        }
        let reader = try await ExistingPeople.open(model, at: server.url(user: "reader"))
        let reason = "the role reader needs the privilege INSERT and UPDATE on it"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people_teams", reason: reason)) {
            try await reader.transaction { _ = try await $0.link(links) }
        }
        await server.close()
    }

    /// As under a unique index, the name waits until the object that had it is gone.
    @Test(arguments: ["", " NOT NULL"])
    func valuesMoveUnderAnExclusionConstraint(constraint: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE TABLE people (\(ExistingPeople.people), EXCLUDE (name WITH =)); "
                    + (constraint.isEmpty ? "" : "ALTER TABLE people ALTER name SET NOT NULL"))
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1], into: store)
            var batch = RecordBatch(of: try store.model.layout(of: "Person"))
            batch.beginRecord()
            batch.setInt(2, at: 0)
            batch.setValue(.string("a"), at: 1)
            batch.endRecord()
            let records = batch
            try await store.transaction { transaction in
                _ = try await transaction.merge(MergeRequest(records))
                _ = try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
                #expect(try await transaction.settleValues().isEmpty)
            }
            #expect(try await database.run("SELECT id, name FROM people") == [["2", "a"]])
            let error = await #expect(throws: StoreError.self) { try await ExistingPeople.put([3], into: store) }
            #expect(error?.description.contains("Person 2 already has these values of name") == true)
        }
    }
}
#endif
