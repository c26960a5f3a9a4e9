#if Postgres
import Foundation
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Foreign keys, triggers and policies that others added to a store's tables.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresGuardedTableTests {
    // MARK: Foreign keys of others

    /// A foreign key of the relationship itself, and one of another column.
    @Test(arguments: ["boss", "mother"], [false, true])
    func aForeignKeyOfOthersDeletesNoObjects(column: String, isOwn: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            if isOwn {
                _ = try await ExistingPeople.open(try ExistingPeople.model(), database)
                try await database.run("ALTER TABLE people ADD COLUMN mother bigint")
            } else {
                try await database.run("CREATE TABLE people (\(ExistingPeople.people), mother bigint)")
            }
            try await database.run(
                "ALTER TABLE people ADD CONSTRAINT others FOREIGN KEY (\(column)) REFERENCES people ON DELETE CASCADE")
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 2], into: store)
            try await database.run(
                "UPDATE people SET \(column) = (SELECT row_number FROM people WHERE id = 1) WHERE id = 2")
            let removed = try await store.transaction {
                try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
            }
            #expect(removed.counts == ["Person": 1])
            #expect(try await database.run("SELECT id, \(column) FROM people") == [["2", nil]])
        }
    }

    /// What is known of foreign keys when a store opens does not hold for ever.
    @Test(arguments: ["boss", "mother"])
    func aForeignKeyThatOthersAddMeanwhileDeletesNoObjects(column: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 2, 3], into: store)
            try await database.run("ALTER TABLE people ADD COLUMN mother bigint")
            let addition = "ALTER TABLE people ADD CONSTRAINT others FOREIGN KEY"
            for (id, next) in [(1, 2), (2, 3)] as [(Int64, Int64)] {
                try await database.run(
                    """
                    \(addition) (\(column)) REFERENCES people ON DELETE CASCADE; \
                    UPDATE people SET \(column) = (SELECT row_number FROM people WHERE id = \(id)) WHERE id = \(next)
                    """)
                let removed = try await store.transaction {
                    try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == id))
                }
                #expect(removed.counts == ["Person": 1])
                try await database.run("ALTER TABLE people DROP CONSTRAINT others")
            }
            #expect(try await database.run("SELECT id, \(column) FROM people") == [["3", nil]])
        }
    }

    /// The store's own foreign key, which others made anew, with another action.
    @Test func aForeignKeyThatOthersReplaceDeletesNoObjects() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await PostgresWorld.store(at: database.url)
            try await store.put([1, 2])
            let key = try await database.run(
                #"SELECT conname FROM pg_constraint WHERE conrelid = '"User"'::regclass AND contype = 'f'"#)
            let name = try #require(key.first?.first ?? nil)
            try await database.run(
                """
                ALTER TABLE "User" DROP CONSTRAINT "\(name)"; \
                ALTER TABLE "User" ADD CONSTRAINT "\(name)" FOREIGN KEY (boss) REFERENCES "User" ON DELETE CASCADE; \
                UPDATE "User" SET boss = (SELECT _id FROM "User" WHERE id = 1) WHERE id = 2
                """)
            let removed = try await store.transaction {
                try await $0.remove(StoreQuery("User", where: PropertyPath("id") == 1))
            }
            #expect(removed.counts == ["User": 1])
            #expect(try await database.run(#"SELECT id, boss FROM "User""#) == [["2", nil]])
        }
    }

    /// Nothing is deleted where objects cannot be taken off a foreign key.
    @Test func aForeignKeyThatOthersAddMeanwhileCanBeAnError() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            let rows = try await ExistingPeople.put([1, 2], into: store).objects.compactMap(\.self)
            try await database.run(
                "ALTER TABLE people ADD mother bigint NOT NULL DEFAULT \(rows[0]) REFERENCES people ON DELETE CASCADE")
            let error = await #expect(throws: SQLSchemaError.self) {
                try await store.transaction {
                    try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
                }
            }
            #expect(error?.description.contains("mother") == true)
            #expect(try await store.count(StoreQuery("Person")) == 2)
        }
    }

    /// A trigger keeps the object from being taken off a foreign key that would delete it.
    @Test(arguments: ["NULL", "OLD"])
    func aTriggerThatKeepsAReferenceDeletesNoObjects(result: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE TABLE people (\(ExistingPeople.people), mother bigint REFERENCES people ON DELETE CASCADE)")
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 2], into: store)
            try await database.run(
                """
                UPDATE people SET mother = (SELECT row_number FROM people WHERE id = 1) WHERE id = 2; \
                CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN \(result); END'; \
                CREATE TRIGGER guard BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION kept()
                """)
            await #expect(throws: SQLSchemaError.self) {
                try await store.transaction {
                    try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
                }
            }
            #expect(try await store.count(StoreQuery("Person")) == 2)
        }
    }

    // MARK: Triggers and policies

    static let guards = [
        "CREATE TRIGGER guard BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION ignored()",
        "CREATE TRIGGER guard BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION ignored()",
        "CREATE TRIGGER guard BEFORE DELETE ON people FOR EACH ROW EXECUTE FUNCTION ignored()",
        "CREATE TRIGGER guard BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION renumbered()",
        "CREATE RULE guard AS ON DELETE TO people DO INSTEAD NOTHING",
    ]

    @Test(arguments: guards)
    func whatATriggerKeepsFromBeingWrittenIsAnErrorThatNamesIt(trigger: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1], into: store)
            try await database.run(
                """
                CREATE FUNCTION ignored() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
                CREATE FUNCTION renumbered() RETURNS trigger LANGUAGE plpgsql AS \
                'BEGIN NEW.row_number := NEW.row_number + 100; RETURN NEW; END'; \(trigger)
                """)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await ExistingPeople.put([1, 2], name: "b", into: store)
                _ = try await store.transaction { try await $0.remove(StoreQuery("Person")) }
            }
            let kind = trigger.contains("RULE") ? "rule" : "trigger"
            #expect(error?.description.contains("the \(kind) guard") == true, "\(String(describing: error))")
        }
    }

    /// Rows that a trigger deletes along are objects that nobody would be told of.
    @Test(arguments: ["BEFORE DELETE ON people FOR EACH ROW", "AFTER DELETE ON people FOR EACH ROW"], [true, false])
    func aTriggerThatDeletesFurtherObjectsIsAnError(trigger: String, deletesOwn: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 2, 3], into: store)
            let table = deletesOwn ? "people" : "notes"
            try await database.run(
                """
                CREATE TABLE notes (id bigint); INSERT INTO notes VALUES (2); \
                CREATE FUNCTION along() RETURNS trigger LANGUAGE plpgsql SET search_path TO public, pg_temp AS \
                'BEGIN DELETE FROM \(table) WHERE id = OLD.id + 1; RETURN OLD; END'; \
                CREATE TRIGGER along \(trigger) EXECUTE FUNCTION along()
                """)
            let removal = Task {
                try await store.transaction {
                    try await $0.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
                }
            }
            guard deletesOwn else {
                // What others do to their own tables is none of the store's business.
                #expect(try await removal.value.counts == ["Person": 1])
                #expect(try await database.run("SELECT 1 FROM notes").isEmpty)
                return
            }
            let error = await #expect(throws: SQLSchemaError.self) { try await removal.value }
            #expect(error?.description.hasSuffix("model's tables: 2") == true, "\(String(describing: error))")
            #expect(try await store.count(StoreQuery("Person")) == 3)
        }
    }

    /// A deferred trigger would delete objects only at the commit.
    @Test func aDeferredTriggerThatDeletesFurtherObjectsIsAnError() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await database.run(
                """
                CREATE FUNCTION along() RETURNS trigger LANGUAGE plpgsql SET search_path TO public, pg_temp AS \
                'BEGIN DELETE FROM people WHERE id = NEW.id - 1; RETURN NULL; END'; \
                CREATE CONSTRAINT TRIGGER along AFTER INSERT ON people DEFERRABLE INITIALLY DEFERRED \
                FOR EACH ROW EXECUTE FUNCTION along()
                """)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await ExistingPeople.put([1, 2], into: store)
            }
            #expect(error?.description.hasSuffix("model's tables: 1") == true, "\(String(describing: error))")
            #expect(try await store.count(StoreQuery("Person")) == 0)
        }
    }

    /// If the table has a trigger, deferred constraints are verified before the commit.
    @Test func aDeferredConstraintOfATableWithATriggerNamesTheEntity() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1], into: store)
            try await database.run(
                """
                CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; \
                CREATE TRIGGER same BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION same(); \
                CREATE TABLE invoices (person bigint REFERENCES people DEFERRABLE INITIALLY DEFERRED); \
                INSERT INTO invoices SELECT row_number FROM people
                """)
            let error = await #expect(throws: StoreError.self) {
                try await store.transaction { try await $0.remove(StoreQuery("Person")) }
            }
            guard case .refused(let refusal)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.entity == "Person" && refusal.reason == .missingReference(from: "invoices"))
            #expect(try await store.count(StoreQuery("Person")) == 1)
        }
    }

    /// The server names neither the table nor the trigger.
    /// A row without an object has no identity that a trigger could change.
    @Test func objectsBesideAbsentOnesAreUpdatedDespiteATrigger() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([2, 3], into: store)
            try await database.run(
                """
                CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; \
                CREATE TRIGGER same BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION same()
                """)
            let updates = MergeRequest.Policy(inserts: false)
            let result = try await ExistingPeople.put([1, 2, 3], name: "b", policy: updates, into: store)
            #expect(result.rows.map { $0?.change } == [nil, .updated, .updated])
        }
    }

    @Test(arguments: ["", "USING ERRCODE = ''ZZ001''"])
    func aDeferredTriggerThatRaisesAnErrorIsNamed(options: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await database.run(
                """
                CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS \
                'BEGIN RAISE EXCEPTION ''secret'' \(options); END'; \
                CREATE CONSTRAINT TRIGGER late AFTER INSERT ON people DEFERRABLE INITIALLY DEFERRED \
                FOR EACH ROW EXECUTE FUNCTION no()
                """)
            let error = await #expect(throws: StoreError.self) { try await ExistingPeople.put([1], into: store) }
            guard case .refused(let refusal)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.entity == "Person" && refusal.reason == .check)
            #expect(refusal.constraint == "the trigger late of people")
            #expect(!refusal.description.contains("secret") && refusal.databaseError.contains("secret"))
            #expect(try await store.count(StoreQuery("Person")) == 0)
        }
    }

    /// What it names is looked up in the search path of the store's session.
    @Test func theFunctionOfATriggerThatFindsNoTableIsNamed() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await database.run(
                """
                CREATE TABLE log (id bigint); CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS \
                'BEGIN INSERT INTO log VALUES (NEW.id); RETURN NEW; END'; \
                CREATE TRIGGER audit AFTER INSERT ON people FOR EACH ROW EXECUTE FUNCTION audit()
                """)
            let error = await #expect(throws: PostgresError.self) { try await ExistingPeople.put([1], into: store) }
            #expect(error?.code == .undefinedTable)
            let part = "in the function public.audit() of the database, which has to name the schema"
            #expect(error?.description.contains(part) == true, "\(String(describing: error))")
            #expect(try await store.count(StoreQuery("Person")) == 0)
        }
    }

    @Test func whatAPolicyKeepsFromBeingWrittenIsAnError() async throws {
        guard PostgresServer.isInstalled else { return }
        let server = try await PostgresServer()
        let owner = try await ExistingPeople.open(try ExistingPeople.model(), at: server.url())
        try await ExistingPeople.put([1, 2], into: owner)
        try await PostgresSession.run(
            server.url(),
            """
            CREATE ROLE writer LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO writer; \
            GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO writer; ALTER TABLE people ENABLE ROW LEVEL SECURITY; \
            CREATE POLICY seen ON people FOR SELECT USING (true); \
            CREATE POLICY changed ON people FOR UPDATE USING (id <> 2)
            """)
        let store = try await ExistingPeople.open(try ExistingPeople.model(), at: server.url(user: "writer"))
        let reason = "row-level security kept 1 of 2 rows from being written"
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await ExistingPeople.put([1, 2], name: "b", into: store)
        }
        #expect(try await PostgresSession.run(server.url(), "SELECT DISTINCT name FROM people") == [["a"]])
        await server.close()
    }

    @Test func foreignKeysOfOthersStay() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE TABLE people (\(ExistingPeople.people)); \
                ALTER TABLE people ADD CONSTRAINT people_boss_fkey FOREIGN KEY (boss) REFERENCES people ON DELETE RESTRICT
                """)
            let keys =
                "SELECT conname, confdeltype, condeferrable FROM pg_constraint WHERE conrelid = 'people'::regclass AND contype = 'f'"
            _ = try await ExistingPeople.open(try ExistingPeople.model(), database)
            #expect(try await database.run(keys) == [["people_boss_fkey", "r", "f"]])
            let store = try await ExistingPeople.open(try ExistingPeople.model(SyncAttribute("age", .int16)), database)
            #expect(try await database.run(keys) == [["people_boss_fkey", "r", "f"]])
            try await ExistingPeople.put([1, 2], into: store)
            try await database.run("UPDATE people SET boss = (SELECT row_number FROM people WHERE id = 1)")
            _ = try await store.transaction { try await $0.remove(StoreQuery("Person")) }
            #expect(try await store.count(StoreQuery("Person")) == 0)
        }
    }

    /// A trigger that ignores updates is found by links as well.
    @Test func aLinkThatATriggerKeepsOutIsAnError() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            let rows = try await ExistingPeople.put([1, 2], into: store).objects.compactMap(\.self)
            try await database.run(
                """
                CREATE FUNCTION ignored() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
                CREATE TRIGGER guard BEFORE UPDATE ON people FOR EACH ROW EXECUTE FUNCTION ignored(); \
                CREATE TRIGGER guard BEFORE INSERT ON people_teams FOR EACH ROW EXECUTE FUNCTION ignored()
                """)
            let person = try store.model.layout(of: "Person")
            let boss = try #require(person.relationship("boss"))
            let reason = "the trigger guard kept links from being written"
            await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
                try await store.transaction { transaction in
                    var links = LinkBatch(boss, mode: .replace)
                    links.append(rows[0], to: [rows[1]])
                    _ = try await transaction.link(links)
                }
            }
            let teams = try #require(person.relationship("teams"))
            await #expect(throws: SQLSchemaError.self) {
                try await store.transaction { transaction in
                    var record = Record(of: try transaction.model.layout(of: "Team"))
                    record["id"] = 1
                    let team = try await transaction.insert(record)
                    var links = LinkBatch(teams, mode: .replace)
                    links.append(rows[0], to: [team])
                    _ = try await transaction.link(links)
                }
            }
        }
    }

    /// New rows are written together with their links.
    @Test(arguments: ["NULL", "NEW.row_number"], [1, 100])
    func aLinkOfANewRowThatATriggerChangesIsAnError(value: String, count: Int64) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            let layout = try store.model.layout(of: "Person")
            let target = try await ExistingPeople.put([0], into: store).objects[0]
            let boss = try #require(layout.relationship("boss"))
            var batch = RecordBatch(of: layout)
            for id in 1...count {
                batch.beginRecord()
                batch.setInt(id, at: 0)
                batch.setValue(.string("a"), at: 1)
                batch.endRecord()
            }
            let request = MergeRequest(batch)
            // The last row has no link.
            let targets: [ObjectID?] = (1...count).map { $0 == count && count > 1 ? nil : target }
            let links = MergeRequest.InitialLinks(boss, targets: targets)
            try await database.run(
                """
                CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS \
                'BEGIN NEW.boss := \(value); RETURN NEW; END'; \
                CREATE TRIGGER guard BEFORE INSERT ON people FOR EACH ROW WHEN (NEW.id = 1) EXECUTE FUNCTION changed()
                """)
            let reason = "the trigger guard kept links from being written"
            await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
                try await store.transaction { try await $0.merge(request, linking: [links]) }
            }
            #expect(try await store.count(StoreQuery("Person")) == 1)
            try await database.run("DROP TRIGGER guard ON people")
            let merged = try await store.transaction { try await $0.merge(request, linking: [links]) }
            #expect(merged.rows.allSatisfy { $0?.change == .inserted })
            #expect(merged.isLinked == [targets.map { _ in true }])
        }
    }

    static let keepers: [(result: String, condition: String, target: Int64)] = [
        ("NULL", "WHEN (OLD.id = 1)", 1), ("OLD", "WHEN (OLD.id = 1)", 1), ("OLD", "WHEN (OLD.id = 2)", 1),
        ("OLD", "", 3),
    ]

    /// A trigger that keeps the old value is found as well as one that ignores the update; that of
    /// the former holder as well as that of the new one.
    @Test(arguments: keepers)
    func aOneToOneLinkThatATriggerKeepsIsAnError(result: String, condition: String, target: Int64) async throws {
        try await SharedPostgres.withDatabase { database in
            let model = try DataModel {
                SyncEntity("Person", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("car", toOne: "Car", inverse: "owner")
                }
                SyncEntity("Car", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("owner", toOne: "Person", inverse: "car")
                }
            }
            let store = try await PostgresStore(exactly: model, at: database.url)
            try await database.run(
                """
                INSERT INTO "Car" (_id, id) VALUES (1, 1), (3, 3); \
                INSERT INTO "Person" (_id, id, car) VALUES (1, 1, 1), (2, 2, NULL); \
                CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN \(result); END'; \
                CREATE TRIGGER guard BEFORE UPDATE ON "Person" FOR EACH ROW \(condition) EXECUTE FUNCTION kept()
                """)
            for (entity, name, source, destination) in [("Person", "car", 2, target), ("Car", "owner", target, 2)] {
                let relationship = try #require(try model.layout(of: entity).relationship(name))
                await #expect(throws: SQLSchemaError.self, "\(entity)") {
                    try await store.transaction { transaction in
                        var links = LinkBatch(relationship, mode: .replace)
                        links.append(source, to: [destination])
                        _ = try await transaction.link(links)
                    }
                }
            }
            #expect(try await database.run(#"SELECT id, car FROM "Person" ORDER BY id"#) == [["1", "1"], ["2", nil]])
        }
    }
}
#endif
