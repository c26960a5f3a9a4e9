#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import Testing

/// The message of the commit takes the last links to a far server.
@Suite(
    .enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresLateLinksTests {
    /// Users with friends, in a join table, and with a boss, in a column.
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("friends", toMany: "User")
                SyncRelationship("boss", toOne: "User")
            }
        }
    }

    private static func store(
        at url: String, isFar: Bool, model: DataModel? = nil, silenceLimit: Duration = .seconds(60)
    ) async throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.silenceLimit = silenceLimit
        options.farRoundTrip = isFar ? .zero : .seconds(600)
        return try await PostgresStore(exactly: model ?? self.model(), at: url, options: options)
    }

    /// Inserts users 1 to 3 and links the first one to the others, without a call after it.
    ///
    /// - Parameter counts: Whether a call before it asks for the number of the transaction, without
    ///   which the links are sent before the commit.
    private static func put(
        _ relationship: String, _ store: PostgresStore, counting counts: Bool = true
    ) async throws {
        let batch = try PostgresWorld.batch(1...3, name: "a", model: store.model)
        let relationship = try store.model.layout(of: "User").relationship(relationship)
        try await store.transaction { transaction in
            let objects = try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
            if counts { #expect(try await transaction.count(StoreQuery("User")) == 3) }
            var links = LinkBatch(try #require(relationship), mode: .replace)
            links.append(objects[0], to: relationship?.isToMany == true ? Array(objects[1...]) : [objects[1]])
            #expect(try await transaction.link(links).changed == [objects[0]])
        }
    }

    private static func links(_ relationship: String, _ store: PostgresStore) async throws -> [ObjectID] {
        let layout = try store.model.layout(of: "User")
        let user = try await store.records(StoreQuery("User", where: PropertyPath("id") == 1)).first?.object
        guard let user, let relationship = layout.relationship(relationship) else { return [] }
        return try await store.read { try await $0.links(relationship, of: [user]).map(\.target) }
    }

    @Test(
        "Links of the last call are stored and reported as any others", arguments: [false, true],
        ["friends", "boss"])
    func lastLinksAreStored(counts: Bool, relationship: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await Self.store(at: database.url, isFar: true)
            try await Self.put(relationship, store, counting: counts)
            #expect(try await Self.links(relationship, store).count == (relationship == "friends" ? 2 : 1))
        }
    }

    /// What others have added, and what the error says.
    private static let additions: [(addition: String, relationship: String, said: String)] = [
        (#"ALTER TABLE "User_friends" ADD CONSTRAINT few CHECK (false)"#, "friends", "few"),
        (#"ALTER TABLE "User" ADD CONSTRAINT free CHECK (boss IS NULL)"#, "boss", "free"),
        (#"CREATE RULE kept AS ON INSERT TO "User_friends" DO INSTEAD NOTHING"#, "friends", "kept"),
        (
            """
            CREATE TABLE kin (id bigint PRIMARY KEY);
            ALTER TABLE "User" ADD CONSTRAINT relative FOREIGN KEY (boss) REFERENCES kin INITIALLY DEFERRED
            """, "boss", "relative"
        ),
    ]

    @Test("What refuses the last links is told alike near and far", arguments: additions.indices)
    func refusedLinksLeaveNothing(index: Int) async throws {
        let (addition, relationship, said) = Self.additions[index]
        try await SharedPostgres.withDatabase { database in
            var errors: [String] = []
            for isFar in [false, true] {
                let store = try await Self.store(at: database.url, isFar: isFar)
                if !isFar { try await PostgresSession.run(database.url, addition) }
                let error = await #expect(throws: (any Error).self) { try await Self.put(relationship, store) }
                errors.append("\(error.map { "\($0)" } ?? "none")")
                #expect(try await store.count(StoreQuery("User")) == 0)
            }
            #expect(errors[0] == errors[1])
            #expect(errors[0].contains(said))
        }
    }

    @Test("Last links that a conflict refuses once are stored with the rest of the transaction")
    func lastLinksAreTriedAgain() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await Self.store(at: database.url, isFar: true)
            // What a sequence gave is not taken back.
            try await PostgresSession.run(
                database.url,
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION is_later() RETURNS boolean LANGUAGE plpgsql AS $$
                    BEGIN
                        IF nextval('public.tries') = 1 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END IF;
                        RETURN true;
                    END $$;
                ALTER TABLE "User_friends" ADD CONSTRAINT later CHECK (is_later())
                """)
            try await Self.put("friends", store)
            #expect(try await Self.links("friends", store).count == 2)
        }
    }

    @Test("Refused links end the transaction, also if the error of a later call is ignored")
    func refusedLinksAreNotForgotten() async throws {
        try await SharedPostgres.withDatabase { database in
            let store = try await Self.store(at: database.url, isFar: true)
            try await PostgresSession.run(database.url, Self.additions[0].addition)
            let batch = try PostgresWorld.batch(1...2, name: "a", model: store.model)
            let friends = try #require(try store.model.layout(of: "User").relationship("friends"))
            await #expect(throws: StoreError.self) {
                try await store.transaction { transaction in
                    let objects = try await transaction.merge(MergeRequest(batch)).objects.compactMap(\.self)
                    var links = LinkBatch(friends, mode: .replace)
                    links.append(objects[0], to: [objects[1]])
                    _ = try await transaction.link(links)
                    #expect((try? await transaction.count(StoreQuery("User"))) == nil)
                }
            }
            #expect(try await store.count(StoreQuery("User")) == 0)
        }
    }

    @Test("A change of entity whose links stay is undone, and the transaction goes on", arguments: [false, true])
    func anUndoneChangeLeavesItsLinks(isFar: Bool) async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
            SyncEntity("Guest", parent: "Person") { SyncRelationship("rooms", toMany: "Room") }
            SyncEntity("Room", identity: "id") { SyncAttribute("id", .int64) }
        }
        try await SharedPostgres.withDatabase { database in
            let store = try await Self.store(at: database.url, isFar: isFar, model: model)
            let rooms = try #require(try model.layout(of: "Guest").relationship("rooms"))
            let guest = try await store.transaction { transaction in
                func insert(_ entity: String) async throws -> ObjectID {
                    var record = Record(of: try model.layout(of: entity))
                    record["id"] = .int(1)
                    return try await transaction.insert(record)
                }
                let guest = try await insert("Guest")
                var links = LinkBatch(rooms, mode: .replace)
                links.append(guest, to: [try await insert("Room")])
                _ = try await transaction.link(links)
                return guest
            }
            try await PostgresSession.run(
                database.url,
                """
                CREATE TABLE held (a bigint, b bigint, FOREIGN KEY (a, b) REFERENCES "Guest_rooms"); \
                INSERT INTO held SELECT * FROM "Guest_rooms"
                """)
            try await store.transaction { transaction in
                do {
                    try await transaction.changeEntity(of: [guest], from: "Guest", to: "Person")
                    Issue.record("the link was removed")
                } catch StoreError.refused(let refusal) { #expect(refusal.reason == .missingReference(from: "held")) }
                var other = Record(of: try model.layout(of: "Person"))
                other["id"] = .int(2)
                _ = try await transaction.insert(other)
            }
            #expect(try await store.count(StoreQuery("Person")) == 2)
            #expect(try await store.count(StoreQuery("Guest")) == 1)
            #expect(try await store.read { try await $0.links(rooms, of: [guest]).count } == 1)
        }
    }

    @Test("A lost answer to the commit says what became of the last links", arguments: [false, true])
    func lostAnswersAreSettled(isPassedOn: Bool) async throws {
        try await TestProxy.with { _, proxy in
            let store = try await Self.store(at: proxy.url(), isFar: true, silenceLimit: .seconds(4))
            proxy.silence(at: "COMMIT\0", isPassedOn: isPassedOn)
            if isPassedOn {
                try await Self.put("friends", store)
            } else {
                await #expect(throws: PostgresError.self) { try await Self.put("friends", store) }
            }
            #expect(try await Self.links("friends", store).count == (isPassedOn ? 2 : 0))
        }
    }
}
#endif
