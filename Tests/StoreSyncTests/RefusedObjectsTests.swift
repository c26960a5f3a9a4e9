import JSONMapper
import OneWayStoreTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects that constraints of tables refuse, which others made.
@Suite(.endsInTime) struct RefusedObjectsTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The columns of the table besides the identity.
        let columns: String
        /// The value of the refused element.
        let value: String
        let reason: StoreError.Refusal.Reason
        var attributes = ["name"]
        /// The name of the constraint if it is given.
        var constraint: String?
        /// Whether SQLite has the constraint too.
        var isOfBoth = true
    }

    static let cases = [
        Case(
            testDescription: "check", columns: "name text CHECK (length(name) < 5), age bigint", value: #""too long""#,
            reason: .check),
        Case(
            testDescription: "named check",
            columns: "name text CONSTRAINT \"of four\" CHECK ((length(\"name\")) < 5), age bigint CHECK (age = 1)",
            value: #""too long""#, reason: .check, constraint: "of four"),
        Case(
            testDescription: "check of a table",
            columns: "name text, age bigint, CONSTRAINT sum CHECK (length(name) < 4 + coalesce(age, 0))",
            value: #""too long""#, reason: .check, attributes: ["name", "age"], constraint: "sum"),
        Case(
            testDescription: "length", columns: "name varchar(5), age bigint", value: #""too long""#, reason: .unfit,
            isOfBoth: false),
        Case(
            testDescription: "not null", columns: "name text NOT NULL, age bigint", value: "null", reason: .null),
        Case(
            testDescription: "foreign key", columns: "name text REFERENCES known (name), age bigint",
            value: #""other""#, reason: .missingReference(from: "User")),
    ]

    static func model() throws -> DataModel {
        try DataModel([
            SyncEntity(
                "User", identity: ["id"],
                attributes: [
                    SyncAttribute("id", .int64), SyncAttribute("name", .string), SyncAttribute("age", .int64),
                ],
                relationships: [])
        ])
    }

    private static func store(_ item: Case, _ database: UniqueDatabase) async throws -> any Store {
        try await database.run("CREATE TABLE known (name text PRIMARY KEY)")
        try await database.run("INSERT INTO known VALUES ('a'), ('b'), ('c')")
        try await database.make("User", "id bigint NOT NULL UNIQUE, \(item.columns)")
        return try await database.open(try model())
    }

    private static func sync(
        _ text: String, _ store: any Store, batch: Int, _ options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let mapper = try RecordMapper(store.model)
        let json = try JSONStore(HookedStore(store, SmallBatches(batch)), mapper: mapper)
        return try await json.sync(.bytes(Array(text.utf8)), into: "User", options: options)
    }

    static func names(_ store: any Store) async throws -> [String] {
        try await store.records(StoreQuery("User", orderedBy: [Ordering("id")])).map {
            "\($0.record["id"]) \($0.record["name"])"
        }
    }

    /// Elements with one that is refused, at every place, as new objects and as stored ones.
    @Test(arguments: UniqueDatabase.sql, cases)
    func aRefusedObjectIsToldOrSetAside(kind: UniqueDatabase.Kind, item: Case) async throws {
        try await kind.use { database in
            guard item.isOfBoth || !database.isSQLite else { return }
            let store = try await Self.store(item, database)
            for isStored in [false, true] {
                for place in 0..<5 {
                    for batch in [1, 2, 1000] {
                        let what = "place \(place), batches of \(batch), stored: \(isStored)"
                        try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
                        let elements = (0..<5).map { (id: $0 + 1, name: #""\#(["a", "b", "c"][$0 % 3])""#) }
                        func json(_ names: [String]) -> String {
                            "[\(zip(elements, names).map { #"{"id":\#($0.id),"name":\#($1),"age":1}"# }.joined(separator: ","))]"
                        }
                        if isStored {
                            _ = try await Self.sync(json(elements.map { _ in #""a""# }), store, batch: batch)
                        }
                        let before = try await Self.names(store)
                        var names = elements.map(\.name)
                        names[place] = item.value
                        do {
                            _ = try await Self.sync(json(names), store, batch: batch)
                            Issue.record("\(what): nothing was refused")
                        } catch StoreError.refused(let refusal) {
                            #expect(refusal.key == .identity(Int64(place + 1)), "\(what)")
                            #expect(refusal.reason == item.reason, "\(what)")
                            #expect(refusal.attributes == item.attributes, "\(what)")
                            if let name = item.constraint { #expect(refusal.constraint == name, "\(what)") }
                            #expect(refusal.index == place, "\(what)")
                            let error = StoreError.refused(refusal)
                            #expect("\(error)".contains("User \(place + 1), element \(place)"), "\(error)")
                            #expect(!"\(error)".contains("too long\"") && !"\(error)".contains("INTO"), "\(error)")
                            #expect(String(reflecting: error).contains(database.isSQLite ? "SQLite: " : "PostgreSQL: "))
                        }
                        #expect(try await Self.names(store) == before, "\(what)")
                        var options = StoreSyncOptions()
                        options.setsRefusedAside = true
                        let result = try await Self.sync(json(names), store, batch: batch, options)
                        #expect(result.rejectedCount == 1 && result.rejected.first?.index == place, "\(what)")
                        #expect("\(try #require(result.rejected.first))".contains("User \(place + 1)"), "\(what)")
                        var expected = elements.map { "\($0.id) \($0.name)" }
                        if isStored { expected[place] = "\(place + 1) \"a\"" } else { expected.remove(at: place) }
                        #expect(try await Self.names(store) == expected, "\(what)")
                    }
                }
            }
        }
    }

    // MARK: Children whose parent is mandatory

    static func family(_ rule: SyncRelationship.DeleteRule) throws -> DataModel {
        try DataModel {
            SyncEntity("Parent", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("children", toMany: "Child", inverse: "parent", deleteRule: rule)
            }
            SyncEntity("Child", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("parent", toOne: "Parent", inverse: "children")
            }
        }
    }

    private static func familyStore(
        _ database: UniqueDatabase, _ rule: SyncRelationship.DeleteRule
    ) async throws -> any Store {
        try await database.make("Parent", "id bigint NOT NULL UNIQUE")
        try await database.make(
            "Child",
            "id bigint NOT NULL UNIQUE, name text, parent bigint NOT NULL REFERENCES \"Parent\" (n)")
        return try await database.open(try family(rule))
    }

    private static func children(_ store: any Store) async throws -> [String] {
        try await store.records(StoreQuery("Child", orderedBy: [Ordering("id")]), with: ["parent"]).map { stored in
            let parents = stored.record[related: "parent"]?.keys ?? []
            return "\(stored.record["id"]) of \(parents)"
        }
    }

    @Test(arguments: UniqueDatabase.sql, [SyncRelationship.DeleteRule.nullify, .cascade])
    func aChildLeavesAParentThatItsColumnDemands(
        kind: UniqueDatabase.Kind, rule: SyncRelationship.DeleteRule
    ) async throws {
        try await kind.use { database in
            let store = try await Self.familyStore(database, rule)
            let before = #"[{"id":1,"children":[{"id":1},{"id":2}]},{"id":2,"children":[{"id":3}]}]"#
            let cases: [(after: String, left: [(Int64, Int64)])] = [
                (#"[{"id":1,"children":[{"id":1}]},{"id":2,"children":[{"id":3}]}]"#, [(1, 1), (3, 2)]),
                (
                    #"[{"id":1,"children":[{"id":1}]},{"id":2,"children":[{"id":3},{"id":2}]}]"#,
                    [(1, 1), (2, 2), (3, 2)]
                ),
                (
                    #"[{"id":2,"children":[{"id":2},{"id":3}]},{"id":1,"children":[{"id":1}]}]"#,
                    [(1, 1), (2, 2), (3, 2)]
                ),
                (
                    #"[{"id":1,"children":[{"id":3}]},{"id":2,"children":[{"id":1},{"id":2}]}]"#,
                    [(1, 2), (2, 2), (3, 1)]
                ),
                (#"[{"id":1,"children":[]},{"id":2,"children":[]}]"#, []),
                (#"[{"id":2,"children":[{"id":2},{"id":3}]}]"#, [(2, 2), (3, 2)]),
            ]
            for item in cases {
                for batch in [1, 2, 1000] {
                    // A parent without a cascade keeps its children, which keep it.
                    if rule == .nullify, item.left.count == 2, !item.after.contains(#""id":1,"#) { continue }
                    try await store.transaction {
                        _ = try await $0.remove(StoreQuery("Child"))
                        _ = try await $0.remove(StoreQuery("Parent"))
                    }
                    let json = try JSONStore(
                        HookedStore(store, LinkedBatches(batchRowCount: batch)), mapper: try RecordMapper(store.model))
                    _ = try await json.sync(.bytes(Array(before.utf8)), into: "Parent")
                    _ = try await json.sync(.bytes(Array(item.after.utf8)), into: "Parent")
                    let lines = item.left.map { "\($0.0) of \([Record.Key.identity($0.1)])" }
                    #expect(try await Self.children(store) == lines, "\(item.after), batches of \(batch)")
                    let again = try await json.sync(.bytes(Array(item.after.utf8)), into: "Parent")
                    #expect(again.countsByEntity.values.allSatisfy { $0.inserted + $0.updated + $0.deleted == 0 })
                }
            }
        }
    }

    /// A child that stays without a parent is refused.
    @Test(arguments: UniqueDatabase.sql)
    func aChildThatStaysWithoutAParentIsTold(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            let store = try await Self.familyStore(database, .nullify)
            let json = try JSONStore(store, mapper: try RecordMapper(store.model))
            let before = #"[{"id":1,"children":[{"id":1},{"id":2}]}]"#
            _ = try await json.sync(.bytes(Array(before.utf8)), into: "Parent")
            let after = #"[{"id":1,"parent":1},{"id":2,"parent":null}]"#
            do {
                _ = try await json.sync(.bytes(Array(after.utf8)), into: "Child")
                Issue.record("nothing was refused")
            } catch StoreError.refused(let refusal) {
                #expect(refusal.entity == "Child" && refusal.key == .identity(2) && refusal.attributes == ["parent"])
                #expect(refusal.reason == .null)
            }
            #expect(try await Self.children(store).count == 2)
        }
    }
}

/// Asks for batches of a number of rows, and inserts children with their parent.
struct LinkedBatches: StoreHook {
    let batchRowCount: Int?
}
