#if Postgres
import Foundation
import OneWayPostgresTestSupport
import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStorePostgres
import SyncStoreSQL
import Testing

/// Tables that others made, which a store writes into.
@Suite(.enabled(if: SharedPostgres.isAvailable, "\(SharedPostgres.absence)"), .endsInTime)
struct PostgresExistingTableTests {
    private static let row = ExistingPeople.row
    private static let people = ExistingPeople.people

    // MARK: What cannot be used

    static let refusals: [(creation: String, reason: String)] = [
        ("CREATE VIEW people AS SELECT 1::bigint row_number, 1::bigint id, 'a' AS name, 2::bigint boss", "a view"),
        ("CREATE MATERIALIZED VIEW people AS SELECT 1::bigint row_number", "a materialized view"),
        ("CREATE SEQUENCE people", "a sequence"),
        ("CREATE TABLE people (\(Self.people)); CREATE TABLE kings (x int) INHERITS (people)", "inherit"),
        ("CREATE TABLE people (row_number uuid PRIMARY KEY, id bigint, name text, boss bigint)", "row_number"),
        ("CREATE TABLE people (row_number bigint NOT NULL, id bigint, name text, boss bigint)", "unique index"),
        ("CREATE TABLE people (row_number bigint UNIQUE, id bigint, name text, boss bigint)", "NOT NULL"),
        (
            """
            CREATE TABLE people (row_number bigint NOT NULL, id bigint, name text, boss bigint); \
            CREATE UNIQUE INDEX ON people (row_number) WHERE id > 5
            """, "unique index"
        ),
        (
            """
            CREATE TABLE people (row_number bigint NOT NULL, id bigint, name text, boss bigint, \
            UNIQUE (row_number, id))
            """, "unique index"
        ),
        ("CREATE TABLE people (\(Self.row), id bigint, name int, boss bigint)", "integer"),
        ("CREATE TABLE people (\(Self.row), id bigint, name char(5), boss bigint)", "character(5)"),
        ("CREATE TABLE people (\(Self.row), id bigint, name text[], boss bigint)", "text[]"),
        ("CREATE TABLE people (\(Self.row), id bigint, name json, boss bigint)", "json"),
        ("CREATE TABLE people (\(Self.row), id bigint, name name, boss bigint)", "has the type name"),
        (
            """
            CREATE TABLE people (row_number bigint NOT NULL, id bigint NOT NULL, name text, boss bigint, \
            PRIMARY KEY (id, row_number)) PARTITION BY HASH (id)
            """, "a unique index of a partitioned table has to contain its partition key"
        ),
        ("CREATE DOMAIN code AS char(2); CREATE TABLE people (\(Self.row), id bigint, name code, boss bigint)", "code"),
        ("CREATE TABLE people (\(Self.row), id numeric, name text, boss bigint)", "numeric"),
        ("CREATE TABLE people (\(Self.row), id uuid, name text, boss bigint)", "uuid"),
        (
            "CREATE TABLE people (\(Self.row), id bigint, name text GENERATED ALWAYS AS ('x') STORED, boss bigint)",
            "generated"
        ),
        (
            """
            CREATE TABLE people (row_number bigint PRIMARY KEY, id bigint GENERATED ALWAYS AS IDENTITY, name text, \
            boss bigint)
            """, "GENERATED ALWAYS"
        ),
        ("CREATE TABLE people (\(Self.people), age int NOT NULL)", "age"),
        (
            "CREATE DOMAIN age AS int NOT NULL; CREATE TABLE people (\(Self.people), age age)", "age"
        ),
        ("CREATE TABLE people (\(Self.row), id bigint, name text, boss text)", "boss"),
        ("CREATE TABLE people (\(Self.row), id bigint UNIQUE, name text, boss bigint REFERENCES people(id))", "boss"),
        ("CREATE TABLE people (\(Self.people)); INSERT INTO people (id) VALUES (1), (1)", "same identity"),
        (
            "CREATE TABLE people (\(Self.people), mother bigint NOT NULL DEFAULT 0 REFERENCES people ON DELETE CASCADE)",
            "mother"
        ),
        (
            """
            CREATE TABLE people (\(Self.people), mother bigint, father bigint, UNIQUE (row_number, id), \
            FOREIGN KEY (mother, father) REFERENCES people (row_number, id) ON DELETE CASCADE)
            """, "CASCADE"
        ),
        ("CREATE TABLE people (\(Self.people)); CREATE INDEX \"Person_identity\" ON people (id)", "Person_identity"),
        (
            "CREATE TABLE people_teams (\"Person\" bigint NOT NULL, \"Team\" text NOT NULL)", "Team"
        ),
        (
            """
            CREATE TABLE people_teams ("Person" bigint NOT NULL, "Team" bigint NOT NULL); \
            INSERT INTO people_teams VALUES (1, 2), (1, 2)
            """, "repeat"
        ),
        (
            """
            CREATE TABLE people_teams ("Person" bigint, "Team" bigint); INSERT INTO people_teams VALUES (1, NULL)
            """, "NULL"
        ),
        ("CREATE TABLE people_teams (\"Person\" bigint, \"Team\" bigint, since date NOT NULL)", "since"),
    ]

    @Test(arguments: refusals)
    func aTableThatCannotHoldTheObjectsIsRefused(creation: String, reason: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(creation)
            do {
                _ = try await ExistingPeople.open(try ExistingPeople.model(), database)
                Issue.record("the table was used")
            } catch let error as SQLSchemaError {
                #expect(error.description.contains(reason), "\(error)")
            }
            #expect(try await database.run("SELECT to_regclass('_sync_schema')") == [[nil]])
        }
    }

    static let lossyColumns: [(type: AttributeType, column: String)] = [
        (.double, "real"), (.double, "numeric"), (.double, "integer"),
        (.decimal, "double precision"), (.date, "time"), (.date, "text"),
        (.bool, "integer"), (.uuid, "text"), (.json, "json"), (.binary, "text"), (.string, "bytea"),
        (.int32, "oid"), (.float, "numeric"), (.uri, "\"char\""),
    ]

    @Test(arguments: [("text", "varchar(3)", "age"), ("varchar(3)", "text", "name")])
    func aValueThatAColumnDoesNotHoldNamesItsAttribute(name: String, age: String, refused: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE TABLE people (\(ExistingPeople.row), id bigint, name \(name), boss bigint, age \(age))")
            let model = try ExistingPeople.model(SyncAttribute("age", .string))
            let store = try await ExistingPeople.open(model, database)
            var batch = RecordBatch(of: try model.layout(of: "Person"))
            for (id, text) in [(1, "abc"), (2, "abcd")] {
                batch.beginRecord()
                batch.setInt(Int64(id), at: 0)
                batch.setValue(.string(text), at: 1)
                batch.setValue(.string(text), at: 2)
                batch.endRecord()
            }
            let records = batch
            let error = await #expect(throws: StoreError.self) {
                try await store.transaction { try await $0.merge(MergeRequest(records)) }
            }
            guard case .refused(let refusal)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(refusal.attributes == [refused] && refusal.reason == .unfit)
        }
    }

    @Test(arguments: lossyColumns)
    func aColumnThatWouldChangeValuesIsRefused(type: AttributeType, column: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run("CREATE TABLE people (\(Self.people), value \(column))")
            let error = await #expect(throws: SQLSchemaError.self) {
                try await ExistingPeople.open(try ExistingPeople.model(SyncAttribute("value", type)), database)
            }
            #expect(error?.description.contains("value has the type") == true)
        }
    }

    static let faithfulColumns: [(type: AttributeType, column: String)] = [
        (.double, "double precision"), (.float, "double precision"), (.float, "real"), (.decimal, "numeric"),
        (.date, "timestamp"), (.date, "timestamptz"), (.bool, "boolean"), (.uuid, "uuid"), (.json, "jsonb"),
        (.binary, "bytea"), (.string, "varchar"), (.uri, "varchar(90)"), (.int16, "bigint"), (.int64, "smallint"),
        (.string, "short"), (.string, "text COLLATE \"und-x-icu\""),
    ]

    @Test(arguments: faithfulColumns)
    func aColumnThatKeepsValuesIsUsed(type: AttributeType, column: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE DOMAIN short AS varchar(9); CREATE TABLE people (\(Self.people), value \(column))")
            let value: AttributeValue =
                switch type {
                case .double, .float: .double(0.1)
                case .decimal: .decimal(1.25)
                case .date: .date(Timestamp(microseconds: 1_700_000_000_123_456))
                case .bool: .bool(true)
                case .uuid: .uuid(UUID())
                case .json: .json(try CanonicalJSON(encoding: [1]))
                case .binary, .transformable: .binary(Data([1, 2]))
                case .string: .string("x")
                case .uri: .uri("x:y")
                case .int16, .int32, .int64: .int(7)
                }
            let store = try await ExistingPeople.open(try ExistingPeople.model(SyncAttribute("value", type)), database)
            var batch = RecordBatch(of: try store.model.layout(of: "Person"))
            batch.beginRecord()
            batch.setInt(1, at: 0)
            batch.setValue(value, at: 2)
            batch.endRecord()
            let records = batch
            for change in [MergeRequest.Result.Change.inserted, .unchanged] {
                let result = try await store.transaction { try await $0.merge(MergeRequest(records)) }
                #expect(result.rows.map { $0?.change } == [change])
            }
        }
    }

    static let defaults: [(type: AttributeType, column: String)] = [
        (.string, "varchar(9) NOT NULL DEFAULT 'a'"), (.string, "text NOT NULL DEFAULT now()"),
        (.string, "label NOT NULL DEFAULT 'b'"), (.double, "double precision NOT NULL DEFAULT 0"),
        (.decimal, "numeric(10,2) NOT NULL DEFAULT 1.5"), (.int64, "smallint NOT NULL DEFAULT 3"),
        (.int64, "bigserial"), (.bool, "boolean NOT NULL DEFAULT false"),
        (.uuid, "uuid NOT NULL DEFAULT gen_random_uuid()"),
        (.json, "jsonb NOT NULL DEFAULT '{}'"), (.binary, "bytea NOT NULL DEFAULT '\\x00'"),
        (.date, "timestamptz NOT NULL DEFAULT now()"), (.date, "timestamp NOT NULL DEFAULT now()"),
        (.date, "date NOT NULL DEFAULT CURRENT_DATE"),
    ]

    /// An expression of any type that the server accepts as the default of the column.
    @Test(arguments: defaults)
    func aNewObjectWithoutAValueGetsTheDefault(type: AttributeType, column: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE TYPE label AS ENUM ('a', 'b'); CREATE TABLE people (\(Self.people), value \(column))")
            let store = try await ExistingPeople.open(try ExistingPeople.model(SyncAttribute("value", type)), database)
            let inserted = try await ExistingPeople.put([1, 2], into: store)
            #expect(inserted.rows.map { $0?.change } == [.inserted, .inserted])
            let unchanged = try await ExistingPeople.put([1, 2], into: store)
            #expect(unchanged.rows.map { $0?.change } == [.unchanged, .unchanged])
            #expect(try await database.run("SELECT count(value) FROM people") == [["2"]])
        }
    }

    /// The store needs no index beside one that does the same.
    @Test(arguments: ["UNIQUE (id)", "UNIQUE NULLS NOT DISTINCT (id)", "UNIQUE (id) DEFERRABLE"])
    func aUniqueIndexOfOthersIsUsedForTheIdentity(constraint: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                "CREATE TABLE people (\(Self.row), id bigint, name text, boss bigint, CONSTRAINT mine \(constraint))"
            )
            let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'people' AND indexdef LIKE '%(id)%'"
            for _ in 0..<2 {
                let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
                try await ExistingPeople.put([1, 2], into: store)
                #expect(try await store.count(StoreQuery("Person")) == 2)
                let isEqual = constraint == "UNIQUE (id)"
                #expect(
                    Set(try await database.run(indexes).map { $0[0] })
                        == (isEqual ? ["mine"] : ["mine", "Person_identity"]))
                #expect(try await PostgresStore.verify(at: database.url) == [])
            }
            try await database.run("ALTER TABLE people DROP CONSTRAINT mine")
            _ = try await ExistingPeople.open(try ExistingPeople.model(), database)
            #expect(try await database.run(indexes) == [["Person_identity"]])
        }
    }

    @Test func anAttributeThatNumbersTheRowsIsExplained() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run("CREATE TABLE people (id bigint PRIMARY KEY, name text)")
            var options = PostgresStore.Options()
            options.naming = SQLNaming(tables: ["User": "people"], rowColumn: "id")
            let naming = options
            let error = await #expect(throws: SQLSchemaError.self) {
                try await PostgresStore(exactly: try PostgresWorld.model(), at: database.url, options: naming)
            }
            #expect(error?.description.contains("SQLNaming.rowColumn") == true)
        }
    }

    @Test(arguments: ["citext", "text COLLATE any_case"])
    func textThatComparesInAnotherWayIdentifiesNothing(type: String) async throws {
        try await SharedPostgres.withDatabase { database in
            let isCitext = type == "citext"
            if isCitext, try await database.run("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'").isEmpty {
                return
            }
            try await database.run(
                isCitext
                    ? "CREATE EXTENSION citext"
                    : "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
            try await database.run("CREATE TABLE people (\(Self.row), key \(type), name \(type))")
            let model = try DataModel {
                SyncEntity("Person", identity: "key") { SyncAttribute("key", .string) }
            }
            let error = await #expect(throws: SQLSchemaError.self) { try await ExistingPeople.open(model, database) }
            #expect(error?.description.contains("key") == true)
        }
    }

    @Test func aColumnThatComparesInAnotherWayGetsEveryChange() async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
                CREATE TABLE people (\(Self.row), id bigint, name text COLLATE any_case, boss bigint)
                """)
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1], name: "a", into: store)
            #expect(try await ExistingPeople.put([1], name: "A", into: store).rows.map { $0?.change } == [.updated])
            #expect(try await database.run("SELECT name FROM people") == [["A"]])
        }
    }

    @Test func anOrderedRelationshipNeedsAUniqueIndex() async throws {
        try await SharedPostgres.withDatabase { database in
            let columns = "\"Person\" bigint, \"Team\" bigint, position bigint"
            try await database.run(
                "CREATE TABLE people_teams (\(columns), UNIQUE (\"Person\", \"Team\") DEFERRABLE)")
            let error = await #expect(throws: SQLSchemaError.self) {
                try await ExistingPeople.open(try ExistingPeople.model(ordered: true), database)
            }
            #expect(error?.description.contains("unique index") == true)
            try await database.run("CREATE UNIQUE INDEX ON people_teams (\"Team\", \"Person\")")
            _ = try await ExistingPeople.open(try ExistingPeople.model(ordered: true), database)
        }
    }

    // MARK: What can

    @Test func rowsAreNumberedBehindThoseThatAreThere() async throws {
        try await SharedPostgres.withDatabase { database in
            // Somebody copied the rows with their numbers.
            try await database.run(
                """
                CREATE TABLE people (row_number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bigint, \
                name text, boss bigint); \
                INSERT INTO people OVERRIDING SYSTEM VALUE VALUES (1, 1, 'a', NULL), (2, 2, 'b', NULL)
                """)
            let store = try await ExistingPeople.open(try ExistingPeople.model(), database)
            try await ExistingPeople.put([1, 3], into: store)
            #expect(
                try await database.run("SELECT row_number, id FROM people ORDER BY 1") == [
                    ["1", "1"], ["2", "2"], ["3", "3"],
                ])
        }
    }

    /// Texts of others sort and compare by their bytes too.
    @Test(arguments: ["\"en-US-x-icu\"", "any_case"])
    func textsOfOthersCompareAsInOtherStores(collation: String) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run(
                """
                CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
                CREATE TABLE people (\(Self.row), id bigint, name text COLLATE \(collation), boss bigint)
                """)
            let model = try ExistingPeople.model()
            let store = try await ExistingPeople.open(model, database)
            let memory = MemoryStore(exactly: model)
            let names = [
                "b", "B", "a", "A", "\u{e4}", "z", "_", "", "ab", "aB", "a\u{0}", "\u{10FFFF}", "a b", "\u{df}", "ss",
            ]
            var batch = RecordBatch(of: try model.layout(of: "Person"))
            for (id, name) in names.enumerated() {
                batch.beginRecord()
                batch.setInt(Int64(id), at: 0)
                batch.setValue(.string(name), at: 1)
                batch.endRecord()
            }
            let records = batch
            for each in [store, memory] as [any Store] {
                _ = try await each.transaction { try await $0.merge(MergeRequest(records)) }
            }
            let path = PropertyPath("name")
            var queries = [StoreQuery("Person", orderedBy: [Ordering("name")])]
            for name in names {
                for condition in [
                    path == name, path < name, path >= name, !(path == name), path.contains(name),
                    path.beginsWith(name),
                    path.endsWith(name), path.like(name + "%"), .isIn(path, [.string(name), "q"]),
                ] {
                    queries.append(
                        StoreQuery("Person", where: condition, orderedBy: [Ordering("name"), Ordering("id")]))
                }
            }
            for query in queries {
                let found = try await store.records(query).map { $0.record["name"] }
                #expect(try await memory.records(query).map { $0.record["name"] } == found, "\(query)")
            }
            for columns in [
                [.aggregate(.minimum, path), .aggregate(.maximum, path)], [.value(path), .count],
            ] as [[StoreSelection.Column]] {
                let selection = StoreSelection(StoreQuery("Person"), columns: columns)
                let found = try await store.read { try await $0.rows(selection) }
                #expect(try await Set(memory.read { try await $0.rows(selection) }) == Set(found))
            }
        }
    }

    /// Null would be written over them. A decimal number has no infinity.
    @Test(
        arguments: [
            (
                AttributeType.decimal, "numeric",
                ["Infinity": .decimal(.nan), "-Infinity": .decimal(.nan), "NaN": .decimal(.nan)]
            ),
            (
                .date, "timestamptz",
                ["infinity": .date(Timestamp(microseconds: .max)), "-infinity": .date(Timestamp(microseconds: .min))]
            ),
            (
                .date, "timestamp",
                ["infinity": .date(Timestamp(microseconds: .max)), "-infinity": .date(Timestamp(microseconds: .min))]
            ),
        ] as [(AttributeType, String, [String: AttributeValue])])
    func infinityOfOthersIsNotNull(
        type: AttributeType, column: String, values: [String: AttributeValue]
    ) async throws {
        try await SharedPostgres.withDatabase { database in
            try await database.run("CREATE TABLE people (\(Self.people), value \(column))")
            let store = try await ExistingPeople.open(try ExistingPeople.model(SyncAttribute("value", type)), database)
            let path = PropertyPath("value")
            for (value, expected) in values {
                try await database.run("DELETE FROM people; INSERT INTO people (id, value) VALUES (1, '\(value)')")
                #expect(
                    try await store.records(StoreQuery("Person")).map { $0.record["value"] } == [expected], "\(value)")
                // Rows of a selection are a batch, in which a decimal that is not a number is null.
                let cell = type == .decimal ? AttributeValue.null : expected
                for column in [.value(path), .aggregate(.minimum, path)] as [StoreSelection.Column] {
                    let selection = StoreSelection(StoreQuery("Person"), columns: [column])
                    #expect(try await store.read { try await $0.rows(selection) } == [[cell]], "\(value)")
                }
                guard type == .date else { continue }
                for isAtHand in [true, false] {
                    var record = Record(of: try store.model.layout(of: "Person"))
                    (record["id"], record["value"]) = (2, expected)
                    let copy = record
                    try await store.transaction(isAtHand: isAtHand) { _ = try await $0.insert(copy) }
                    #expect(try await database.run("SELECT value FROM people WHERE id = 2") == [[value]])
                    try await database.run("DELETE FROM people WHERE id = 2")
                }
            }
        }
    }
}
#endif
