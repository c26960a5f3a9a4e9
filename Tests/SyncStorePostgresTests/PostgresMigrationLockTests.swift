#if Postgres
import OneWayPostgresClient
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncBase
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// The locks that a migration needs, and whom it keeps waiting.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresMigrationLockTests {
    /// A change of the model.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether it changes a table that others read.
        var locks = true
        /// Whether it drops something.
        var drops = false
        let change: @Sendable (inout [SyncEntity]) -> Void

        static let all = [
            Change(testDescription: "a new attribute") { $0[0].attributes.append(SyncAttribute("age", .int16)) },
            Change(testDescription: "a new attribute with a default") {
                $0[0].attributes.append(SyncAttribute("age", .int16, default: 7))
            },
            Change(testDescription: "a new to-one relationship") {
                $0[1].relationships.append(SyncRelationship("editor", toOne: "User"))
            },
            Change(testDescription: "a new join table", locks: false) {
                $0[0].relationships.append(SyncRelationship("friends", toMany: "User"))
            },
            Change(testDescription: "a new entity", locks: false) {
                $0.append(
                    SyncEntity("Place", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("owner", toOne: "User")
                    })
            },
            Change(testDescription: "a new sub-entity") {
                $0.append(SyncEntity("Guest", parent: "User") { SyncAttribute("until", .date) })
            },
            Change(testDescription: "another type") { $0[0].attributes[2].type = .double },
            Change(testDescription: "a wider type") { $0[0].attributes[2].type = .decimal },
            Change(testDescription: "a renamed attribute") {
                $0[0].attributes[1].name = "title"
                $0[0].attributes[1].formerName = "name"
            },
            Change(testDescription: "a renamed entity") {
                $0[0].name = "Person"
                $0[0].formerName = "User"
                $0[1].relationships[0].destination = "Person"
            },
            Change(testDescription: "a dropped attribute", drops: true) { $0[0].attributes.remove(at: 1) },
            Change(testDescription: "a dropped entity", drops: true) {
                $0.remove(at: 1)
                $0[0].relationships = []
            },
            Change(testDescription: "a new index", locks: false) {
                $0[0].indexes = [SyncEntity.Index(["name"])]
            },
            Change(testDescription: "a new unique index", locks: false) {
                $0[0].indexes = [SyncEntity.Index(["name"], unique: true)]
            },
            Change(testDescription: "another delete rule") { $0[0].relationships[0].deleteRule = .cascade },
            Change(testDescription: "a mandatory attribute", locks: false) {
                $0[0].attributes[2].isOptional = false
                $0[0].attributes[2].defaultValue = 3
            },
        ]
    }

    private static func model(_ change: (inout [SyncEntity]) -> Void = { _ in }) throws -> DataModel {
        var entities = [
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("level", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "author")
            },
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("author", toOne: "User", inverse: "notes")
            },
        ]
        change(&entities)
        return try DataModel(entities)
    }

    private static func open(
        _ database: TestDatabase, _ change: Change? = nil, _ set: (inout PostgresStore.Options) -> Void = { _ in }
    ) async throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.modelVersion = change?.drops == true ? 1 : 0
        set(&options)
        return try await PostgresStore(
            exactly: try model { change?.change(&$0) }, at: database.url, options: options)
    }

    private static func fill(_ store: PostgresStore) async throws {
        try await store.transaction { transaction in
            for (entity, id) in [("User", 1), ("User", 2), ("Note", 3)] as [(String, Int64)] {
                var record = Record(of: try transaction.model.layout(of: entity))
                record["id"] = .int(id)
                if entity == "User" { record["name"] = .string("n\(id)") }
                _ = try await transaction.insert(record)
            }
        }
    }

    private static let reading = #"SELECT count(*) FROM "User"; SELECT count(*) FROM "Note""#
    private static let waiters = """
        SELECT count(*) FROM pg_locks
        WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """

    /// A reader stays in the tables until the migration has tried to lock them three times. Another
    /// one is ended by the server as soon as it waits for a second.
    @Test(arguments: Change.all)
    func nobodyWaitsToReadForASecond(change: Change) async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let long = try await PostgresSession(database.url)
            try await long.use { _ = try $0.execute("BEGIN; \(Self.reading)") }
            let isDone = Locked(false)
            let attemptCount = Locked(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { isDone.withLock { $0 = true } }
                    _ = try await Self.open(database, change)
                }
                group.addTask {
                    let short = try await PostgresSession(database.url)
                    try await short.use { _ = try $0.execute("SET lock_timeout TO '1s'") }
                    var isWaiting = false
                    while !isDone.withLock(\.self) {
                        let count = try await short.use { connection in
                            do { _ = try connection.execute(Self.reading) } catch let error as PostgresError {
                                // The migration has renamed or dropped it.
                                guard error.code == .undefinedTable else { throw error }
                            }
                            return try connection.execute(Self.waiters).integer(0, 0) ?? 0
                        }
                        if count > 0, !isWaiting { attemptCount.withLock { $0 += 1 } }
                        isWaiting = count > 0
                        if attemptCount.withLock(\.self) == 3 { try await long.use { _ = try $0.execute("COMMIT") } }
                        await Task.yield()
                    }
                }
                try await group.waitForAll()
            }
            #expect((attemptCount.withLock(\.self) >= 3) == change.locks)
            #expect(try await PostgresStore.verify(at: database.url) == [])
            let store = try await Self.open(database, change)
            let name = store.model.layouts[0].name
            #expect(try await store.count(StoreQuery(name)) == 2)
        }
    }

    @Test func aNewAttributeLocksNoOtherTable() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let other = try await PostgresSession(database.url)
            try await other.use { _ = try $0.execute(#"BEGIN; LOCK TABLE "Note" IN ACCESS EXCLUSIVE MODE"#) }
            let store = try await Self.open(database, Change.all[1]) {
                $0.lockTimeout = .seconds(1)
                $0.migrationTimeout = .zero
            }
            #expect(try await store.records(StoreQuery("User")).map { $0.record["age"] } == [7, 7])
            try await other.use { _ = try $0.execute("ROLLBACK") }
        }
    }

    @Test func aValueThatIsWrittenMeanwhileIsConverted() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let other = try await PostgresSession(database.url)
            try await other.use { _ = try $0.execute(#"BEGIN; INSERT INTO "User" (id, level) VALUES (3, 5)"#) }
            async let store = Self.open(database, Change.all[6])
            try await database.waitForWaiter()
            try await other.use { _ = try $0.execute("COMMIT") }
            let records = try await store.records(StoreQuery("User", orderedBy: [Ordering("id")]))
            #expect(records.map { $0.record["level"] } == [.null, .null, .double(5)])
        }
    }

    @Test func aMigrationThatGetsNoLockEndsInTime() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let long = try await PostgresSession(database.url)
            try await long.use { _ = try $0.execute("BEGIN; \(Self.reading)") }
            let error = await #expect(throws: PostgresError.self) {
                try await Self.open(database, Change.all[0]) { $0.migrationTimeout = .zero }
            }
            #expect(error?.code == .lockNotAvailable && error?.message.contains("could not lock User") == true)
            try await long.use { _ = try $0.execute("ROLLBACK") }
            #expect(try await Self.open(database).count(StoreQuery("User")) == 2)
        }
    }

    /// The rows of a table that others made have no numbers yet.
    @Test func aTableThatOthersReadGetsNumbersOnlyWithoutWaiting() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                #"CREATE TABLE "User" (_id bigint PRIMARY KEY, id bigint, name text, level bigint)"#)
            let long = try await PostgresSession(database.url)
            try await long.use { _ = try $0.execute(#"BEGIN; SELECT count(*) FROM "User""#) }
            let error = await #expect(throws: PostgresError.self) {
                try await Self.open(database) {
                    $0.lockTimeout = .seconds(1)
                    $0.migrationTimeout = .zero
                }
            }
            #expect(error?.code == .lockNotAvailable && error?.message.contains("could not lock User") == true)
            try await long.use { _ = try $0.execute("ROLLBACK") }
            try await Self.fill(try await Self.open(database))
        }
    }

    /// The process ended between the migration and what follows it.
    @Test func whatAMigrationLeftUndoneIsDoneAtTheNextOpening() async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await Self.open(database, Change.all[2])
            try await database.run(
                #"""
                DROP INDEX "Note_editor"; ALTER TABLE "Note" DROP CONSTRAINT "Note_editor_fkey"; \#
                ALTER TABLE "Note" ADD CONSTRAINT "Note_editor_fkey" FOREIGN KEY (editor) REFERENCES "User"(_id) \#
                ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED NOT VALID
                """#)
            let parts = [SQLSchemaError.Defect.Part.index("Note_editor"), .foreignKey("Note_editor_fkey")]
            #expect(try await PostgresStore.verify(at: database.url).map(\.part) == parts)
            _ = try await Self.open(database, Change.all[2])
            #expect(try await PostgresStore.verify(at: database.url) == [])
            let valid = "SELECT bool_and(convalidated) FROM pg_constraint WHERE contype = 'f'"
            #expect(try await database.run(valid) == [["t"]])
        }
    }
}
#endif
