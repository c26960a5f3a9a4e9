import Foundation
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

// Columns and tables of others that cannot hold relationships.
extension ExistingTableTests {
    @Test(arguments: [
        ("boss TEXT", "boss cannot hold object numbers"), ("boss REAL", "boss cannot hold object numbers"),
        ("boss INTEGER AS (id)", "boss cannot hold object numbers"),
        (
            "boss INTEGER REFERENCES people (name)",
            "boss refers to people.name; a relationship has to refer to people.id"
        ),
    ])
    func aColumnThatCannotHoldARelationshipIsRefused(column: String, reason: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, \(column))", at: path)
        let model = try DataModel.people { SyncRelationship("boss", toOne: "Person") }
        await #expect(throws: SQLSchemaError.unsuitableTable(table: "people", reason: reason)) {
            try await open(model, rowColumn: "rowid")
        }
    }

    @Test(arguments: ["boss INTEGER", "boss NUMERIC", "boss", "boss BLOB"])
    func aColumnThatCanHoldARelationshipIsTaken(column: String) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, \(column))", at: path)
        let model = try DataModel.people { SyncRelationship("boss", toOne: "Person") }
        let store = try await open(model, rowColumn: "rowid")
        try await sync(#"[{"id":3,"boss_id":3}]"#, store)
        #expect(try await SQLiteShell.run("SELECT id, typeof(boss), boss FROM people", at: path) == ["3|integer|3"])
    }

    /// As Rails and Django declare what belongs to an object.
    @Test(arguments: [
        "NOT NULL REFERENCES people", "NOT NULL REFERENCES people ON DELETE RESTRICT",
        "NOT NULL REFERENCES people ON DELETE CASCADE", "NOT NULL REFERENCES people DEFERRABLE INITIALLY DEFERRED",
        "NOT NULL", "REFERENCES people ON DELETE RESTRICT",
    ])
    func objectsThatCannotBeWithoutTheirOwnerAreDeletedBeforeIt(declaration: String) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE posts (id INTEGER PRIMARY KEY, person_id INTEGER \(declaration));
            CREATE TABLE notes (id INTEGER PRIMARY KEY, post_id INTEGER NOT NULL REFERENCES posts)
            """, at: path)
        let note = SyncEntity("Note", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("post", toOne: "Post", inverse: "notes")
        }
        let post = SyncEntity("Post", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("person", toOne: "Person", inverse: "posts")
            SyncRelationship("notes", toMany: "Note", inverse: "post", deleteRule: .cascade)
        }
        let model = try DataModel.people(with: [post, note]) {
            SyncRelationship("posts", toMany: "Post", inverse: "person", deleteRule: .cascade)
        }
        let store = try await open(
            model, tables: ["Person": "people", "Post": "posts", "Note": "notes"],
            columns: ["Post.person": "person_id", "Note.post": "post_id"], rowColumn: "rowid")
        try await sync(
            #"[{"id":1,"posts":[{"id":5,"notes":[{"id":9}]}]},{"id":2,"posts":[{"id":6,"notes":[{"id":8}]},{"id":7}]}]"#,
            store)
        #expect(try await sync(#"[{"id":1}]"#, store).counts.deleted == 1)
        #expect(try await SQLiteShell.run("SELECT * FROM posts", at: path) == ["5|1"])
        #expect(try await SQLiteShell.run("SELECT * FROM notes", at: path) == ["9|5"])
    }

    /// A column that does not accept null keeps a removed link until the object gets another one.
    @Test func aRemovedLinkThatItsColumnKeepsIsNone() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE posts (id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES people)
            """, at: path)
        let post = SyncEntity("Post", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("person", toOne: "Person", inverse: "posts")
        }
        let model = try DataModel.people(with: [post]) {
            SyncRelationship("posts", toMany: "Post", inverse: "person", deleteRule: .cascade)
        }
        let store = try await open(
            model, tables: ["Person": "people", "Post": "posts"], columns: ["Post.person": "person_id"],
            rowColumn: "rowid"
        ).store
        let relationship = try store.model.layout(of: "Post").relationships[0]
        try await store.transaction { transaction in
            func merge(_ entity: String, of person: ObjectID? = nil) async throws -> MergeRequest.Result {
                var batch = RecordBatch(of: try transaction.model.layout(of: entity))
                batch.beginRecord()
                batch.setInt(5, at: 0)
                batch.endRecord()
                let links = person.map { [MergeRequest.InitialLinks(relationship, targets: [$0])] } ?? []
                return try await transaction.merge(MergeRequest(batch), linking: links)
            }
            func link(_ post: ObjectID, to targets: [ObjectID]) async throws {
                var batch = LinkBatch(relationship, mode: .replace)
                batch.append(post, to: targets)
                _ = try await transaction.link(batch)
            }
            let person = try #require(try await merge("Person").objects[0])
            let post = try #require(try await merge("Post", of: person).objects[0])
            #expect(try await merge("Post", of: person).isLinked(row: 0, by: 0))
            try await link(post, to: [])
            #expect(try await transaction.links(relationship, of: [post]).isEmpty)
            #expect(try await merge("Post", of: person).isLinked(row: 0, by: 0) == false)
            try await link(post, to: [person])
            #expect(try await transaction.links(relationship, of: [post]).map(\.target) == [person])
            #expect(try await transaction.settleValues().isEmpty)
            try await link(post, to: [])
            let refused = try await transaction.settleValues()
            #expect(refused.map(\.key) == [.identity(5)] && refused.map(\.attributes) == [["person"]])
            #expect(refused.map(\.reason) == [.null])
        }
    }

    /// The first person gets the second one as boss, who was the fourth one before.
    @Test(
        arguments: [
            ("boss INTEGER CHECK (boss <> 2)", "", .check, "CHECK constraint failed: boss <> 2"),
            (
                "boss INTEGER UNIQUE", "UPDATE people SET boss = 2 WHERE id = 3", .taken(by: nil),
                "UNIQUE constraint failed: people.boss"
            ),
            (
                "boss INTEGER",
                "CREATE TRIGGER t AFTER UPDATE OF boss ON people BEGIN UPDATE people SET name = NULL; END", .null,
                "NOT NULL constraint failed: people.name"
            ),
            (
                "boss INTEGER UNIQUE",
                "CREATE TABLE seats (boss INTEGER REFERENCES people (boss)); INSERT INTO seats VALUES (4)",
                .missingReference(from: "people"), nil
            ),
        ] as [(String, String, StoreError.Refusal.Reason, String?)])
    func aLinkThatTheTableRefusesHasAReason(
        column: String, addition: String, reason: StoreError.Refusal.Reason, constraint: String?
    ) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', \(column));
            INSERT INTO people VALUES (1, 'a', 4), (2, 'b', NULL), (3, 'c', NULL), (4, 'd', NULL);
            \(addition)
            """, at: path)
        let model = try DataModel.people { SyncRelationship("boss", toOne: "Person") }
        let store = try await open(model, rowColumn: "rowid").store
        var batch = LinkBatch(try #require(store.model["Person"]?.relationship("boss")), mode: .replace)
        batch.append(1, to: [2])
        let error = await #expect(throws: StoreError.self) {
            try await store.transaction { [batch] in _ = try await $0.link(batch) }
        }
        guard case .refused(let refusal) = error else { throw try #require(error) }
        #expect(refusal.reason == reason && refusal.constraint == constraint)
        #expect(refusal.key == .identity(1) && refusal.attributes == ["boss"])
    }

    @Test func rowsWhoseNumbersCanChangeAreNoTargets() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INT, name TEXT, boss INTEGER)", at: path)
        for relationship in [SyncRelationship("boss", toOne: "Person"), SyncRelationship("friends", toMany: "Person")] {
            await #expect(
                throws: SQLSchemaError.unsuitableTable(
                    table: "people",
                    reason: "relationships lead to its rows, whose numbers can change without an INTEGER PRIMARY KEY")
            ) {
                try await open(.people { relationship }, rowColumn: "rowid")
            }
        }
        _ = try await open(.people(), rowColumn: "rowid")
    }

    @Test(
        arguments: [
            ("Person INTEGER, friends_Person INTEGER", "(1, 1)", false, nil),
            ("Person INTEGER, friends_Person INTEGER, UNIQUE (friends_Person, Person)", "(1, 1)", true, nil),
            (
                "Person INTEGER, friends_Person INTEGER", "(1, 1), (1, 1)", false,
                "pairs of Person and friends_Person repeat; delete the repetitions and create a unique index"
            ),
            (
                "Person INTEGER, friends_Person INTEGER", "(1, 1)", true,
                "an ordered relationship needs a unique index of Person and friends_Person"
            ),
            (
                "Person INTEGER, friends_Person INTEGER", "(1, NULL)", false,
                "friends_Person holds values that are not integers, or NULL"
            ),
            ("Person TEXT, friends_Person INTEGER", "(1, 1)", false, "Person cannot hold object numbers"),
        ] as [(String, String, Bool, String?)])
    func aTableOfPairsHasEachPairOnce(columns: String, rows: String, isOrdered: Bool, reason: String?) async throws {
        let position = isOrdered ? ", position INTEGER" : ""
        let parts = columns.components(separatedBy: ", UNIQUE")
        let end = parts.count > 1 ? ", UNIQUE" + parts[1] : ""
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'a');
            CREATE TABLE pairs (\(parts[0])\(position)\(end));
            INSERT INTO pairs (Person, friends_Person) VALUES \(rows)
            """, at: path)
        let model = try DataModel.people {
            isOrdered ? SyncRelationship("friends", toOrdered: "Person") : SyncRelationship("friends", toMany: "Person")
        }
        do {
            _ = try await open(
                model, columns: ["Person.friends": "pairs"], rowColumn: "rowid")
            #expect(reason == nil)
        } catch let error as SQLSchemaError {
            #expect(error == .unsuitableTable(table: "pairs", reason: reason ?? ""))
        }
    }
}
