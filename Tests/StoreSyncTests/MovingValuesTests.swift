import JSONMapper
import OneWayStoreTestSupport
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Values of unique indexes that move from one object to another.
@Suite(.endsInTime) struct MovingValuesTests {
    /// A user of the tests: an identifier, an e-mail, a team and a number in it.
    typealias User = (id: Int, email: String?, team: String, number: Int)

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let before: [User]
        let after: [User]

        init(_ name: String, _ before: [(Int, String?)], _ after: [(Int, String?)]) {
            testDescription = name
            self.before = before.map { ($0.0, $0.1, "t", $0.0) }
            self.after = after.map { ($0.0, $0.1, "t", $0.0) }
        }

        init(_ name: String, numbers before: [(Int, String, Int)], _ after: [(Int, String, Int)]) {
            testDescription = name
            self.before = before.map { ($0.0, "\($0.0)", $0.1, $0.2) }
            self.after = after.map { ($0.0, "\($0.0)", $0.1, $0.2) }
        }
    }

    static let cases = [
        Case("one goes, one comes", [(1, "a")], [(2, "a")]),
        Case("two swap", [(1, "a"), (2, "b")], [(1, "b"), (2, "a")]),
        Case("a later one gives up", [(1, "a"), (2, "b")], [(1, "b"), (2, "c")]),
        Case("a new one takes what another gives up", [(1, "a"), (2, "b")], [(3, "a"), (1, "c"), (2, "b")]),
        Case("three rotate", [(1, "a"), (2, "b"), (3, "c")], [(1, "b"), (2, "c"), (3, "a")]),
        Case(
            "all move on", (1...7).map { ($0, "v\($0)") },
            (1...7).map { ($0, "v\($0 + 1)") }),
        Case("one gives up for the new", [(1, "a"), (2, "b")], [(2, "a"), (3, "b")]),
        Case("two numbers in a team", numbers: [(1, "x", 1), (2, "x", 2)], [(1, "x", 2), (2, "x", 1)]),
        Case(
            "a number in another team", numbers: [(1, "x", 1), (2, "y", 1), (3, "x", 2)],
            [(1, "y", 1), (2, "x", 1), (4, "x", 2)]),
        Case("the same again", [(1, "a"), (2, "b")], [(1, "a"), (2, "b")]),
    ]

    /// The tables: those of the store, and those that others made.
    enum Tables: CaseIterable {
        case own, existing, mandatory
    }

    static func model(isUnique: Bool = true) throws -> DataModel {
        var user = SyncEntity(
            "User", identity: ["id"],
            attributes: [
                SyncAttribute("id", .int64), SyncAttribute("email", .string), SyncAttribute("team", .string),
                SyncAttribute("number", .int64), SyncAttribute("name", .string),
            ], relationships: [])
        if isUnique {
            user.indexes = [
                SyncEntity.Index(["email"], unique: true), SyncEntity.Index(["team", "number"], unique: true),
            ]
        }
        return try DataModel([user])
    }

    /// Opens a store, with the unique indexes of the model or with those of tables that exist.
    private static func store(_ database: UniqueDatabase, _ tables: Tables) async throws -> any Store {
        guard tables != .own else { return try await database.open(try model()) }
        let isMandatory = tables == .mandatory ? " NOT NULL" : ""
        try await database.make(
            "User",
            "id bigint NOT NULL, email text\(isMandatory) UNIQUE, team text\(isMandatory), "
                + "number bigint\(isMandatory), name text, UNIQUE (team, number)")
        return try await database.open(try model(isUnique: false))
    }

    static func json(_ users: [User]) -> String {
        let elements = users.map { user in
            let email = user.email.map { "\"\($0)\"" } ?? "null"
            return #"{"id":\#(user.id),"email":\#(email),"team":"\#(user.team)","number":\#(user.number)}"#
        }
        return "[\(elements.joined(separator: ","))]"
    }

    private static func sync(
        _ users: [User], into store: any Store, batch: Int = 1000, _ options: StoreSyncOptions = StoreSyncOptions()
    ) async throws -> StoreSyncResult {
        let mapper = try RecordMapper(store.model)
        let json = try JSONStore(HookedStore(store, SmallBatches(batch)), mapper: mapper)
        return try await json.sync(.bytes(Array(Self.json(users).utf8)), into: "User", options: options)
    }

    static func users(_ store: any Store) async throws -> [String] {
        try await store.records(StoreQuery("User", orderedBy: [Ordering("id")])).map { stored in
            ["id", "email", "team", "number"].map { "\(stored.record[$0])" }.joined(separator: " ")
        }
    }

    private static func lines(_ users: [User]) -> [String] {
        users.sorted { $0.id < $1.id }.map {
            "\($0.id) \($0.email.map { "\"\($0)\"" } ?? "null") \"\($0.team)\" \($0.number)"
        }
    }

    @Test(arguments: UniqueDatabase.all, Tables.allCases)
    func valuesMoveInAnyOrder(kind: UniqueDatabase.Kind, tables: Tables) async throws {
        try await kind.use { database in
            if database.isMemory, tables != .own { return }
            let store = try await Self.store(database, tables)
            for item in Self.cases {
                for batch in [1, 2, 1000] {
                    for isReversed in [false, true] {
                        let what = "\(item.testDescription), batches of \(batch), reversed: \(isReversed)"
                        try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
                        _ = try await Self.sync(item.before, into: store, batch: batch)
                        let after = isReversed ? item.after.reversed() : item.after
                        let result = try await Self.sync(after, into: store, batch: batch)
                        #expect(try await Self.users(store) == Self.lines(item.after), "\(what)")
                        #expect(result.drift.isEmpty, "\(what)")
                        #expect(result.counts.inserted + result.counts.updated + result.counts.unchanged == after.count)
                        let again = try await Self.sync(after, into: store, batch: batch)
                        #expect(again.counts.all == [0, 0, after.count, 0], "\(what)")
                    }
                }
            }
        }
    }

    /// The values of the index depend on those of an attribute.
    @Test(arguments: UniqueDatabase.sql, [["", ""], [" NOT NULL", " NOT NULL"], ["", " NOT NULL"]])
    func valuesMoveUnderAGeneratedColumn(kind: UniqueDatabase.Kind, constraints: [String]) async throws {
        try await kind.use { database in
            try await database.make(
                "User",
                "id bigint NOT NULL, email text\(constraints[0]), team text, number bigint, name text, "
                    + "up text GENERATED ALWAYS AS (upper(email)) STORED\(constraints[1]) UNIQUE")
            let store = try await database.open(try Self.model(isUnique: false))
            for item in Self.cases {
                for batch in [1, 1000] {
                    let what = "\(item.testDescription), batches of \(batch)"
                    try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
                    _ = try await Self.sync(item.before, into: store, batch: batch)
                    _ = try await Self.sync(item.after, into: store, batch: batch)
                    #expect(try await Self.users(store) == Self.lines(item.after), "\(what)")
                    let again = try await Self.sync(item.after, into: store, batch: batch)
                    #expect(again.counts.all == [0, 0, item.after.count, 0], "\(what)")
                }
            }
            try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
            _ = try await Self.sync([(1, "a", "t", 1), (2, "b", "t", 2)], into: store)
            do {
                let options = StoreSyncOptions(operations: [.insert, .update])
                _ = try await Self.sync([(3, "b", "t", 3)], into: store, options)
                Issue.record("nothing was refused")
            } catch StoreError.refused(let refusal) {
                #expect(refusal.key == .identity(3) && refusal.reason == .taken(by: nil))
            }
        }
    }

    /// A table of others refers to the values, and follows their changes.
    @Test(arguments: UniqueDatabase.sql, ["CASCADE", "SET NULL"])
    func referencesFollowTheValuesThatMove(kind: UniqueDatabase.Kind, action: String) async throws {
        try await kind.use { database in
            try await database.make(
                "User",
                "id bigint NOT NULL, email text UNIQUE, team text, number bigint, name text, UNIQUE (team, number)")
            try await database.run(
                """
                CREATE TABLE letter (k bigint, email text REFERENCES "User" (email) ON UPDATE \(action), team text, \
                number bigint, FOREIGN KEY (team, number) REFERENCES "User" (team, number) ON UPDATE \(action))
                """)
            let store = try await database.open(try Self.model(isUnique: false))
            for batch in [1, 1000] {
                _ = try await Self.sync([(1, "a", "t", 1), (2, "b", "t", 2), (3, "c", "t", 3)], into: store)
                try await database.run("INSERT INTO letter VALUES (2, 'b', 't', 2), (3, 'c', 't', 3)")
                let after: [User] = [(2, "a", "t", 3), (3, "b", "t", 2)]
                _ = try await Self.sync(after, into: store, batch: batch)
                #expect(try await Self.users(store) == Self.lines(after))
                // Any change of a value has the declared action.
                #expect(
                    try await database.rows("SELECT email, team, number FROM letter ORDER BY k")
                        == (action == "CASCADE"
                            ? [["a", "t", "3"], ["b", "t", "2"]] : [[nil, nil, nil], [nil, nil, nil]]))
                try await database.run("DELETE FROM letter")
            }
        }
    }

    // MARK: What stays taken

    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let before: [User]
        let after: [User]
        var options = StoreSyncOptions()
        /// The refused user and its place, the holder.
        let expected: (id: Int64, index: Int, holder: Int64)
        /// What is stored if refused objects are set aside.
        let left: [User]
    }

    static let refusals = [
        Refusal(
            testDescription: "absent objects stay", before: [(1, "a", "t", 1)],
            after: [(3, "c", "t", 3), (2, "a", "t", 2)],
            options: StoreSyncOptions(operations: [.insert, .update]), expected: (2, 1, 1),
            left: [(1, "a", "t", 1), (3, "c", "t", 3)]),
        Refusal(
            testDescription: "absent objects are kept by a limit", before: [(1, "a", "t", 1), (2, "b", "t", 2)],
            after: [(3, "b", "t", 3)],
            options: StoreSyncOptions(removalLimit: RemovalLimit(count: 1, action: .keep)), expected: (3, 0, 2),
            left: [(1, "a", "t", 1), (2, "b", "t", 2)]),
        Refusal(
            testDescription: "two elements have one value", before: [(1, "a", "t", 1)],
            after: [(1, "a", "t", 1), (2, "b", "t", 2), (3, "b", "t", 3)], expected: (3, 2, 2),
            left: [(1, "a", "t", 1), (2, "b", "t", 2)]),
        Refusal(
            testDescription: "a pair of values", before: [(1, "a", "t", 1)],
            after: [(1, "a", "t", 1), (2, "b", "t", 1)], expected: (2, 1, 1), left: [(1, "a", "t", 1)]),
    ]

    @Test(arguments: UniqueDatabase.all, Tables.allCases)
    func whatStaysTakenIsToldWithBothObjects(kind: UniqueDatabase.Kind, tables: Tables) async throws {
        try await kind.use { database in
            if database.isMemory, tables != .own { return }
            let store = try await Self.store(database, tables)
            for item in Self.refusals {
                for batch in [1, 2, 1000] {
                    let what = "\(item.testDescription), batches of \(batch)"
                    try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
                    _ = try await Self.sync(item.before, into: store)
                    let before = try await Self.users(store)
                    do {
                        _ = try await Self.sync(item.after, into: store, batch: batch, item.options)
                        Issue.record("\(what): nothing was refused")
                    } catch StoreError.refused(let refusal) {
                        #expect(refusal.entity == "User", "\(what)")
                        #expect(refusal.key == .identity(item.expected.id), "\(what)")
                        #expect(refusal.reason == .taken(by: .identity(item.expected.holder)), "\(what)")
                        #expect(
                            refusal.attributes
                                == (item.testDescription == "a pair of values" ? ["team", "number"] : ["email"]),
                            "\(what)")
                        let text = "\(StoreError.refused(refusal))"
                        #expect(
                            text.contains("User \(item.expected.id)") && text.contains("User \(item.expected.holder)"))
                        #expect(
                            !text.contains("INSERT") && !text.contains("UPDATE") && !text.contains("SELECT"), "\(text)")
                        #expect(refusal.index == item.expected.index, "\(what)")
                    }
                    #expect(try await Self.users(store) == before, "\(what)")
                }
            }
        }
    }

    @Test(arguments: UniqueDatabase.all)
    func refusedObjectsAreSetAside(kind: UniqueDatabase.Kind) async throws {
        try await kind.use { database in
            let store = try await Self.store(database, .own)
            for item in Self.refusals {
                for batch in [1, 2, 1000] {
                    let what = "\(item.testDescription), batches of \(batch)"
                    try await store.transaction { _ = try await $0.remove(StoreQuery("User")) }
                    _ = try await Self.sync(item.before, into: store)
                    var options = item.options
                    options.setsRefusedAside = true
                    let result = try await Self.sync(item.after, into: store, batch: batch, options)
                    #expect(result.rejectedCount == 1, "\(what)")
                    let problem = try #require(result.rejected.first)
                    #expect(problem.attribute == (item.testDescription == "a pair of values" ? "team" : "email"))
                    #expect("\(problem)".contains("User \(item.expected.id)"), "\(problem)")
                    #expect(try await Self.users(store) == Self.lines(item.left), "\(what)")
                }
            }
        }
    }
}
