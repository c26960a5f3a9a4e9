import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Links and deletions that constraints and triggers of others refuse.
@Suite(.endsInTime) struct RefusedChangesTests {
    private static func sync(_ json: String, _ entity: String, _ store: any Store) async throws {
        let mapper = try RecordMapper(store.model)
        _ = try await JSONStore(store, mapper: mapper).sync(.bytes(Array(json.utf8)), into: entity)
    }

    /// The refusal that a sync throws.
    private static func refusal(_ json: String, _ entity: String, _ store: any Store) async throws -> StoreError
        .Refusal?
    {
        do {
            try await sync(json, entity, store)
            Issue.record("nothing was refused")
            return nil
        } catch StoreError.refused(let refusal) {
            let error = StoreError.refused(refusal)
            for word in ["DELETE", "UPDATE", "INSERT"] { #expect(!"\(error)".contains(word), "\(error)") }
            #expect(String(reflecting: error).contains("SQL"))
            return refusal
        }
    }

    // MARK: Deletions

    @Test(
        arguments: UniqueDatabase.sql,
        [
            "user_id bigint REFERENCES \"User\" (n)", "user_id bigint REFERENCES \"User\" (n) ON DELETE RESTRICT",
            "a bigint, b text, FOREIGN KEY (a, b) REFERENCES \"User\" (id, name)",
        ])
    func anObjectToWhichATableOfOthersRefersIsNamed(kind: UniqueDatabase.Kind, columns: String) async throws {
        try await kind.use { database in
            try await database.make("User", "id bigint NOT NULL UNIQUE, name text, age bigint, UNIQUE (id, name)")
            let store = try await database.open(try RefusedObjectsTests.model())
            try await database.run("CREATE TABLE invoices (number bigint, \(columns))")
            try await Self.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#, "User", store)
            let values = columns.hasPrefix("a") ? "id, name" : "n"
            try await database.run("INSERT INTO invoices SELECT 9, \(values) FROM \"User\" WHERE id = 2")
            let refusal = try await Self.refusal(#"[{"id":1,"name":"a"}]"#, "User", store)
            #expect(refusal?.entity == "User" && refusal?.key == .identity(2))
            #expect(refusal?.reason == .referred(by: "invoices"))
            #expect(try await store.count(StoreQuery("User")) == 3)
            try await database.run("DELETE FROM invoices")
            try await Self.sync(#"[{"id":1,"name":"a"}]"#, "User", store)
            #expect(try await store.count(StoreQuery("User")) == 1)
        }
    }

    /// An object that a cascade reaches.
    @Test(arguments: UniqueDatabase.sql)
    func aReferredObjectOfAnotherEntityIsNamed(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            try await database.make("Parent", "id bigint NOT NULL UNIQUE")
            try await database.make("Child", "id bigint NOT NULL UNIQUE, name text, parent bigint")
            let store = try await database.open(try RefusedObjectsTests.family(.cascade))
            try await database.run("CREATE TABLE toys (child bigint REFERENCES \"Child\" (n))")
            try await Self.sync(#"[{"id":1,"children":[{"id":11},{"id":12}]},{"id":2}]"#, "Parent", store)
            try await database.run("INSERT INTO toys SELECT n FROM \"Child\" WHERE id = 12")
            let refusal = try await Self.refusal(#"[{"id":2}]"#, "Parent", store)
            #expect(refusal?.entity == "Child" && refusal?.key == .identity(12))
            #expect(refusal?.reason == .referred(by: "toys"))
        }
    }

    @Test(arguments: UniqueDatabase.sql)
    func aDeferredForeignKeyIsNamedAtTheCommit(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            try await database.make("User", "id bigint NOT NULL UNIQUE, name text, age bigint")
            let store = try await database.open(try RefusedObjectsTests.model())
            try await database.run(
                "CREATE TABLE invoices (user_id bigint REFERENCES \"User\" (n) DEFERRABLE INITIALLY DEFERRED)")
            try await Self.sync(#"[{"id":1},{"id":2}]"#, "User", store)
            try await database.run("INSERT INTO invoices SELECT n FROM \"User\"")
            let refusal = try await Self.refusal(#"[{"id":1}]"#, "User", store)
            #expect(refusal?.entity == "User" && refusal?.reason == .missingReference(from: "invoices"))
            #expect(try await store.count(StoreQuery("User")) == 2)
        }
    }

    @Test(arguments: UniqueDatabase.sql)
    func aTriggerThatForbidsADeletionIsTold(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            try await database.make("User", "id bigint NOT NULL UNIQUE, name text, age bigint")
            let store = try await database.open(try RefusedObjectsTests.model())
            try await Self.sync(#"[{"id":1},{"id":2}]"#, "User", store)
            try await database.run(
                database.isSQLite
                    ? "CREATE TRIGGER kept BEFORE DELETE ON \"User\" BEGIN SELECT RAISE(ABORT, 'secret'); END"
                    : """
                    CREATE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''secret''; END'; \
                    CREATE TRIGGER kept BEFORE DELETE ON "User" FOR EACH ROW EXECUTE FUNCTION kept()
                    """)
            let refusal = try #require(try await Self.refusal(#"[{"id":1}]"#, "User", store))
            #expect(refusal.entity == "User" && refusal.reason == .check)
            #expect(!"\(refusal)".contains("secret") && refusal.debugDescription.contains("secret"))
        }
    }

    // MARK: Values

    @Test(
        arguments: UniqueDatabase.sql,
        ["b text REFERENCES \"User\" (name)", "a bigint, b text, FOREIGN KEY (a, b) REFERENCES \"User\" (id, name)"])
    func aValueToWhichATableOfOthersRefersIsNamed(kind: UniqueDatabase.Kind, columns: String) async throws {
        try await kind.use { database in
            try await database.make(
                "User", "id bigint NOT NULL UNIQUE, name text UNIQUE, age bigint, UNIQUE (id, name)")
            let store = try await database.open(try RefusedObjectsTests.model())
            try await database.run("CREATE TABLE invoices (number bigint, \(columns))")
            try await Self.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, "User", store)
            let values = columns.hasPrefix("a") ? "id, name" : "name"
            try await database.run("INSERT INTO invoices SELECT 9, \(values) FROM \"User\" WHERE id = 2")
            let refusal = try await Self.refusal(#"[{"id":1,"name":"y"},{"id":2,"name":"z"}]"#, "User", store)
            #expect(refusal?.key == .identity(2) && refusal?.reason == .referred(by: "invoices"))
            let text = refusal.map { "\($0)" } ?? ""
            #expect(
                text.hasPrefix("User 2, element 1: name cannot be changed, because invoices refers to it"), "\(text)")
            try await Self.sync(#"[{"id":1,"name":"y"},{"id":2,"name":"b"}]"#, "User", store)
        }
    }

    // MARK: Links

    @Test(arguments: UniqueDatabase.sql, ["CHECK (parent IS NULL OR id < 13)", "UNIQUE (parent, name)"])
    func aRefusedLinkNamesItsObject(kind: UniqueDatabase.Kind, constraint: String) async throws {
        try await kind.use { database in
            try await database.make("Parent", "id bigint NOT NULL UNIQUE")
            try await database.make(
                "Child", "id bigint NOT NULL UNIQUE, name text, parent bigint, \(constraint)")
            let store = try await database.open(try RefusedObjectsTests.family(.nullify))
            let children = (10..<20).map { #"{"id":\#($0),"name":"\#($0 == 13 ? 12 : $0)"}"# }
            try await Self.sync("[\(children.joined(separator: ","))]", "Child", store)
            let parents = #"[{"id":1,"children":[{"id":10},{"id":11}]},{"id":2,"children":[{"id":12},{"id":13}]}]"#
            let refusal = try await Self.refusal(parents, "Parent", store)
            #expect(refusal?.entity == "Child" && refusal?.key == .identity(13) && refusal?.attributes == ["parent"])
            try await Self.sync(#"[{"id":1},{"id":2}]"#, "Parent", store)
            let linked = #"[{"id":11,"parent":2},{"id":12,"parent":1},{"id":13,"parent":1},{"id":19,"parent":2}]"#
            let other = try await Self.refusal(linked, "Child", store)
            // Links of different parents have no order.
            let keys = (constraint.hasPrefix("UNIQUE") ? [12, 13] : [13, 19]).map { Record.Key.identity($0) }
            #expect(
                other?.entity == "Child" && other?.key.map(keys.contains) == true && other?.attributes == ["parent"],
                "\(String(describing: other))")
            #expect(try await store.count(StoreQuery("Child", where: PropertyPath("parent.id") == 1)) == 0)
        }
    }

    @Test(arguments: UniqueDatabase.sql)
    func aRefusedPairNamesItsObject(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            let model = try UniqueDatabase.usersInGroups()
            let store = try await database.open(model)
            try await Self.sync(#"[{"id":1},{"id":2},{"id":3}]"#, "Group", store)
            try await Self.sync(#"[{"id":1},{"id":2},{"id":3}]"#, "User", store)
            let third = "(SELECT n FROM \"Group\" WHERE id = 3)"
            try await database.run(
                database.isSQLite
                    ? "CREATE TRIGGER two BEFORE INSERT ON \"User_groups\" WHEN new.\"Group\" = \(third) "
                        + "BEGIN SELECT RAISE(ABORT, 'no'); END"
                    : """
                    CREATE FUNCTION two() RETURNS trigger LANGUAGE plpgsql SET search_path TO public AS \
                    'BEGIN IF NEW."Group" = \(third) THEN RAISE ''no''; END IF; RETURN NEW; END'; \
                    CREATE TRIGGER two BEFORE INSERT ON "User_groups" FOR EACH ROW EXECUTE FUNCTION two()
                    """)
            let json = #"[{"id":1,"groups":[1,2]},{"id":2,"groups":[2,3]},{"id":3,"groups":[1]}]"#
            let refusal = try await Self.refusal(json, "User", store)
            #expect(refusal?.entity == "User" && refusal?.key == .identity(2) && refusal?.attributes == ["groups"])
        }
    }
}
