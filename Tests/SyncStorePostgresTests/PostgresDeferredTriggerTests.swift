#if Postgres
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Triggers of others that run only at the commit.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresDeferredTriggerTests {
    /// Inserts a person and a link, and deletes a person.
    private static func change(
        _ store: PostgresStore, _ links: LinkBatch, deleting id: Int64
    ) async throws {
        try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Person"))
            record["id"] = 2
            _ = try await transaction.insert(record)
            _ = try await transaction.link(links)
            _ = try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == id))
        }
    }

    /// Opens a store with the people 1 and 3 and a team, and adds a deferred trigger.
    ///
    /// - Parameters:
    ///   - event: The event and the table of the trigger.
    ///   - action: A statement that it runs.
    /// - Returns: The store, and a link of the first person.
    private static func open(
        _ database: TestDatabase, on event: String, _ action: String
    ) async throws -> (store: PostgresStore, links: LinkBatch) {
        let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
        let rows = try await ExistingPeople.put([1, 3], into: store).objects.compactMap(\.self)
        let team = try await store.transaction { transaction in
            var record = Record(of: try transaction.model.layout(of: "Team"))
            record["id"] = 7
            return try await transaction.insert(record)
        }
        try await database.run(
            """
            CREATE TABLE log (id bigint); \
            CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql SET search_path TO public, pg_temp AS \
            'BEGIN \(action); RETURN NULL; END'; \
            CREATE CONSTRAINT TRIGGER late AFTER \(event) DEFERRABLE INITIALLY DEFERRED \
            FOR EACH ROW EXECUTE FUNCTION late()
            """)
        var links = LinkBatch(
            try #require(try store.model.layout(of: "Person").relationship("teams")), mode: .replace)
        links.append(rows[0], to: [team])
        return (store, links)
    }

    static let changes: [(event: String, action: String, table: String)] = [
        ("DELETE ON people", "INSERT INTO people (id) VALUES (OLD.id)", "people"),
        ("INSERT ON people", "UPDATE people SET id = id + 100", "people"),
        ("INSERT ON people_teams", "DELETE FROM people_teams", "people_teams"),
    ]

    /// What was verified when it was written would be committed otherwise.
    @Test(arguments: changes)
    func aDeferredTriggerThatChangesTablesOfTheModelIsNamed(
        event: String, action: String, table: String
    ) async throws {
        try await SharedPostgres.withDatabase { database in
            let (store, links) = try await Self.open(database, on: event, action)
            let reason =
                "the trigger late of \(table) changes its rows at the commit, when they are no longer verified; make "
                + "the trigger immediate"
            await #expect(throws: SQLSchemaError.unsuitableTable(table: table, reason: reason)) {
                try await Self.change(store, links, deleting: 3)
            }
            let people = try await database.run("SELECT id FROM people ORDER BY id")
            #expect(people == [["1"], ["3"]])
            let pairs = try await database.run("SELECT 1 FROM people_teams")
            #expect(pairs.isEmpty)
        }
    }

    @Test func aDeferredTriggerThatChangesOtherTablesIsNoObstacle() async throws {
        try await SharedPostgres.withDatabase { database in
            let (store, links) = try await Self.open(
                database, on: "INSERT OR DELETE ON people", "INSERT INTO log VALUES (coalesce(NEW.id, OLD.id))")
            try await Self.change(store, links, deleting: 3)
            let people = try await database.run("SELECT id FROM people ORDER BY id")
            #expect(people == [["1"], ["2"]])
            let logged = try await database.run("SELECT id FROM log ORDER BY id")
            #expect(logged == [["2"], ["3"]])
        }
    }
}
#endif
