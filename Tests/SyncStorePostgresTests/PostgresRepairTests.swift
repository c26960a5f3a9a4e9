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

/// Tables of the store after an administrator has dropped some of them, or parts of them.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresRepairTests {
    private static func model() throws -> DataModel {
        try DataModel([
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "User")
                SyncRelationship("friends", toOrdered: "User")
            },
            SyncEntity("Guest", parent: "User") { SyncAttribute("until", .date) },
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("author", toOne: "User")
            },
            .bookmark, .pendingLink,
        ])
    }

    static func open(_ database: TestDatabase, version: Int = 0) async throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.modelVersion = version
        return try await PostgresStore(exactly: try model(), at: database.url, options: options)
    }

    /// Inserts two users, the second of which has the first as boss and friend, a note of the
    /// first, a bookmark, and pending links.
    static func fill(_ store: PostgresStore) async throws {
        try await store.transaction { transaction in
            let user = try transaction.model.layout(of: "User")
            var rows: [ObjectID] = []
            for (entity, id) in [("User", 1), ("Guest", 2)] as [(String, Int64)] {
                var record = Record(of: try transaction.model.layout(of: entity))
                record["id"] = .int(id)
                record["name"] = "n"
                rows.append(try await transaction.insert(record))
            }
            var note = Record(of: try transaction.model.layout(of: "Note"))
            note["id"] = 9
            let noteRow = try await transaction.insert(note)
            for (source, name, target) in [(rows[1], "boss", rows[0]), (rows[1], "friends", rows[0])] {
                guard let relationship = user.relationship(name) else { continue }
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(source, to: [target])
                _ = try await transaction.link(batch)
            }
            if let author = try transaction.model.layout(of: "Note").relationship("author") {
                var batch = LinkBatch(author, mode: .replace)
                batch.append(noteRow, to: [rows[0]])
                _ = try await transaction.link(batch)
            }
            var bookmark = Record(of: try transaction.model.layout(of: "SyncBookmark"))
            bookmark["name"] = "b"
            _ = try await transaction.insert(bookmark)
            for name in ["User.boss", "Note.author"] {
                var link = Record(of: try transaction.model.layout(of: "SyncPendingLink"))
                link["relationship"] = .string(name)
                link["object"] = 1
                link["position"] = 0
                link["identifier"] = "1"
                _ = try await transaction.insert(link)
            }
        }
    }

    private static let parts = """
        SELECT 'c', attrelid::regclass::text, attname::text FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped \
        AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') \
        UNION ALL SELECT 'i', indrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index \
        WHERE indexrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) \
        UNION ALL SELECT 'k', conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint \
        WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1, 2, 3
        """

    @Test(arguments: [
        #"DROP INDEX "User_identity""#, #"DROP INDEX "User_boss""#, #"DROP INDEX "User_friends_friends_User""#,
        #"DROP INDEX "User_identity"; CREATE UNIQUE INDEX "User_identity" ON "User" (id, name)"#,
        #"DROP INDEX "User_identity"; CREATE INDEX "User_identity" ON "User" (id, _entity)"#,
        #"DROP INDEX "Note_identity"; CREATE UNIQUE INDEX "Note_identity" ON "Note" (id) WHERE id > 9"#,
        #"DROP INDEX "User_boss"; CREATE INDEX "User_boss" ON "User" (boss)"#,
        #"ALTER TABLE "Note" DROP CONSTRAINT "Note_author_fkey""#,
        #"ALTER TABLE "User_friends" DROP CONSTRAINT "User_friends_pkey""#,
        #"ALTER TABLE "User" DROP CONSTRAINT "User_pkey" CASCADE"#,
    ])
    func whatHeldNoDataIsCreatedAgainAtOpening(drop: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let before = try await database.run(Self.parts)
            try await database.run(drop)
            #expect(try await database.run(Self.parts) != before)
            #expect(try await PostgresStore.verify(at: database.url).isEmpty == false)
            let store = try await Self.open(database)
            #expect(try await database.run(Self.parts) == before)
            #expect(try await PostgresStore.verify(at: database.url) == [])
            #expect(try await store.count(StoreQuery("User", where: PropertyPath("friends.@count") == 1)) == 1)
            // A higher version of the model does not lose them either.
            try await database.run(drop)
            _ = try await Self.open(database, version: 1)
            #expect(try await database.run(Self.parts) == before)
        }
    }

    @Test(arguments: [
        (#"DROP TABLE "Note""#, [SQLSchemaError.Defect.Part.table], "the table Note"),
        (#"ALTER TABLE "User" DROP COLUMN name"#, [.column("name")], "the column User.name"),
        (#"ALTER TABLE "User" RENAME COLUMN name TO title"#, [.column("name")], "the column User.name"),
        (#"DROP TABLE "User_friends""#, [.table], "the table User_friends"),
        (#"DROP TABLE "_sync_bookmarks""#, [.table], "the table _sync_bookmarks"),
    ])
    func whatHeldDataIsNamedAndRepaired(
        drop: String, parts: [SQLSchemaError.Defect.Part], subject: String
    ) async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            let before = try await database.run(Self.parts)
            try await database.run(drop)
            for version in 0...1 {
                let error = await #expect(throws: SQLSchemaError.self) {
                    try await Self.open(database, version: version)
                }
                guard case .damaged(let defects)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(defects.map(\.part) == parts)
                #expect("\(defects[0])" == subject && error?.description.contains("repair(at:options:)") == true)
            }
            let missing = try await PostgresStore.verify(at: database.url)
            #expect(missing.map(\.part).starts(with: parts))
            #expect(try await PostgresStore.repair(at: database.url) == missing)
            #expect(try await PostgresStore.verify(at: database.url) == [])
            #expect(try await PostgresStore.repair(at: database.url) == [])
            let store = try await Self.open(database)
            let after = Set(try await database.run(Self.parts))
            #expect(after.isSuperset(of: before))
            try await Self.useAgain(store)
        }
    }

    /// Everything that can be written before can be written again, and a sync reads everything.
    private static func useAgain(_ store: PostgresStore) async throws {
        #expect(try await store.count(StoreQuery("SyncBookmark")) == 0)
        try await store.transaction { transaction in
            _ = try await transaction.remove(StoreQuery("User"))
            _ = try await transaction.remove(StoreQuery("Note"))
            _ = try await transaction.remove(StoreQuery("SyncPendingLink"))
        }
        try await fill(store)
        #expect(try await store.count(StoreQuery("User", where: PropertyPath("friends.@count") == 1)) == 1)
    }

    @Test func referencesToALostTableAreCleared() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(#"DROP TABLE "User" CASCADE"#)
            let missing = try await PostgresStore.repair(at: database.url)
            #expect(
                Set(missing.map { "\($0)" }) == [
                    "the table User", "the foreign key Note_author_fkey of Note",
                    "the foreign key User_friends_User_fkey of User_friends",
                    "the foreign key User_friends_friends_User_fkey of User_friends",
                ])
            let store = try await Self.open(database)
            #expect(try await database.run(#"SELECT author FROM "Note""#) == [[nil]])
            #expect(try await database.run(#"SELECT * FROM "User_friends""#).isEmpty)
            #expect(try await database.run(#"SELECT relationship FROM _sync_pending_links"#) == [["Note.author"]])
            #expect(try await store.count(StoreQuery("Note")) == 1)
            try await Self.useAgain(store)
        }
    }

    @Test func aRepairKeepsNoReaderWaiting() async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await Self.open(database)
            try await database.run(
                #"ALTER TABLE "User" DROP COLUMN name; ALTER TABLE "Note" DROP CONSTRAINT "Note_pkey""#)
            let reader = try await PostgresSession(database.url)
            try await reader.use { _ = try $0.execute(#"BEGIN; SELECT * FROM "User""#) }
            var options = PostgresStore.Options()
            options.migrationTimeout = .zero
            let hurried = options
            let error = await #expect(throws: PostgresError.self) {
                try await PostgresStore.repair(at: database.url, options: hurried)
            }
            #expect(error?.code == .lockNotAvailable && error?.message.contains("could not lock Note, User") == true)
            // It waits for the reader, with pauses.
            async let repaired = PostgresStore.repair(at: database.url)
            try await database.waitForWaiter()
            try await reader.use { _ = try $0.execute("COMMIT") }
            #expect(try await repaired.count == 2)
        }
    }

    @Test func aColumnOfObjectNumbersIsNotRepaired() async throws {
        try await SharedPostgres.withDatabase { database in
            _ = try await Self.open(database)
            try await database.run(#"ALTER TABLE "User" DROP COLUMN _id CASCADE"#)
            let error = SQLSchemaError.damaged([SQLSchemaError.Defect(table: "User", part: .column("_id"))])
            await #expect(throws: error) { try await PostgresStore.repair(at: database.url) }
        }
    }

    @Test func anIndexThatTheRowsNoLongerAllowIsAnError() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(
                #"DROP INDEX "Note_identity"; INSERT INTO "Note" (id) VALUES (9)"#)
            let error = await #expect(throws: SQLSchemaError.self) { try await Self.open(database) }
            guard case .equalValues(table: "Note", _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func readersDoNotNeedTheIndices() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(#"DROP INDEX "Note_identity""#)
            var options = PostgresStore.Options()
            options.isReadOnly = true
            let store = try await PostgresStore(exactly: try Self.model(), at: database.url, options: options)
            #expect(try await store.count(StoreQuery("Note")) == 1)
            #expect(try await PostgresStore.verify(at: database.url).map(\.part) == [.index("Note_identity")])
        }
    }

    // MARK: Changed tables

    /// A sync would delete the rows of the other table as absent.
    @Test(arguments: [false, true])
    func aTableFromWhichOthersInheritIsRefused(isReadOnly: Bool) async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(
                #"CREATE TABLE archive (old int) INHERITS ("User"); "#
                    + "INSERT INTO archive (_id, _entity, id) VALUES (100, 'User', 100)")
            var options = PostgresStore.Options()
            options.isReadOnly = isReadOnly
            let changed = options
            let error = await #expect(throws: SQLSchemaError.self) {
                try await PostgresStore(exactly: try Self.model(), at: database.url, options: changed)
            }
            guard case .unsuitableTable(table: "User", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("tables inherit from it"))
            try await database.run("DROP TABLE archive")
            #expect(try await Self.open(database).count(StoreQuery("User")) == 2)
        }
    }

    @Test(arguments: [
        ("until", "date", "timestamp with time zone"),
        ("until", "timestamp(0) with time zone", "timestamp with time zone"),
        ("name", "character varying(20)", "text"), ("id", "numeric(6,1)", "bigint"), ("id", "text", "bigint"),
    ])
    func aColumnOfAnotherTypeIsNamed(column: String, type: String, declared: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(#"ALTER TABLE "User" ALTER \#(column) TYPE \#(type)"#)
            try await Self.expectAdvice(
                after: "\(column) has the type \(type) instead of \(declared), because", database)
        }
    }

    /// Expects that a store with any version of the model is refused, and opens after the advice.
    private static func expectAdvice(after beginning: String, _ database: TestDatabase) async throws {
        var advice: String?
        for version in 0...1 {
            let error = await #expect(throws: SQLSchemaError.self) { try await open(database, version: version) }
            guard case .unsuitableTable(table: "User", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.hasPrefix(beginning))
            advice = reason.components(separatedBy: "as in: ").last
        }
        try await database.run(try #require(advice))
        #expect(try await open(database).count(StoreQuery("User")) == 2)
    }

    /// A sync would take two objects whose identities differ only in case for the same.
    @Test(arguments: ["key", "_entity"])
    func anIdentityWithALooseCollationIsNamed(column: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let model = try DataModel {
                SyncEntity("Word", identity: "key") { SyncAttribute("key", .string) }
                SyncEntity("Name", parent: "Word") {}
            }
            _ = try await PostgresStore(exactly: model, at: database.url)
            try await database.run(
                "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); "
                    + #"ALTER TABLE "Word" ALTER \#(column) TYPE text COLLATE any_case"#)
            let error = await #expect(throws: SQLSchemaError.self) {
                try await PostgresStore(exactly: model, at: database.url)
            }
            guard case .unsuitableTable(table: "Word", let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.hasPrefix("\(column) identifies objects, and its collation any_case takes"))
            try await database.run(try #require(reason.components(separatedBy: "as in: ").last))
            _ = try await PostgresStore(exactly: model, at: database.url)
        }
    }

    @Test func aColumnThatIsGeneratedNowIsNamed() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run(
                #"ALTER TABLE "User" DROP COLUMN name; "#
                    + #"ALTER TABLE "User" ADD COLUMN name text GENERATED ALWAYS AS (id::text) STORED"#)
            try await Self.expectAdvice(after: "name is a generated column, which cannot be written, because", database)
        }
    }

    /// Without it, nothing says which tables are the store's, so that it uses them.
    @Test func withoutTheRecordTheExistingTablesAreUsed() async throws {
        try await SharedPostgres.withDatabase { database in
            try await Self.fill(try await Self.open(database))
            try await database.run("DROP TABLE _sync_schema")
            await #expect(throws: SQLSchemaError.noStore) { try await PostgresStore.verify(at: database.url) }
            await #expect(throws: SQLSchemaError.noStore) { try await PostgresStore.repair(at: database.url) }
            let store = try await Self.open(database)
            #expect(try await store.count(StoreQuery("Note")) == 1)
            #expect(try await PostgresStore.verify(at: database.url) == [])
        }
    }

    @Test func anExistingTableThatIsGoneIsNamed() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(#"CREATE TABLE "Note" (_id bigserial PRIMARY KEY, id bigint, author bigint)"#)
            _ = try await Self.open(database)
            try await database.run(#"DROP INDEX "Note_identity""#)
            _ = try await Self.open(database)
            #expect(try await PostgresStore.verify(at: database.url) == [])
            try await database.run(#"DROP TABLE "Note""#)
            let error = SQLSchemaError.damaged([SQLSchemaError.Defect(table: "Note", part: .table)])
            await #expect(throws: error) { try await Self.open(database) }
            _ = try await PostgresStore.repair(at: database.url)
            #expect(try await Self.open(database).count(StoreQuery("Note")) == 0)
        }
    }
}
#endif
