import Foundation
import JSONMapper
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import SyncStoreSQLite
import Testing

// The values that columns of others hold.
extension ExistingTableTests {
    /// Whatever depends on the column, directly or through columns that are generated from it.
    @Test(arguments: ["name", "low", "start", "lower(name)", "upper(low)", "start || '!'", "id > 0, start"])
    func valuesOfUniqueIndexesAreExchanged(terms: String) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, low TEXT AS (lower(name)),
                start TEXT AS (substr(low, 1, 1)));
            CREATE UNIQUE INDEX other ON people (\(terms))
            """, at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#, store)
        #expect(try await sync(#"[{"id":1,"name":"b"},{"id":2,"name":"a"}]"#, store).counts.updated == 2)
        #expect(try await dump("people") == ["1|b", "2|a"])
    }

    /// While two objects exchange a value that each must have, one of them has a third one.
    @Test(
        arguments: [
            ("INTEGER", .int64, "1", "2"), ("REAL", .double, "0.5", "1.5"), ("TEXT", .string, #""a""#, #""b""#),
            ("BLOB", .binary, #""AA==""#, #""AQ==""#),
            (
                "TEXT", .uuid, #""0A1B2C3D-0000-11DE-8000-000000000000""#,
                #""0A1B2C3D-0000-11DE-8000-000000000001""#
            ),
            ("TEXT", .date, #""2014-01-02T10:00:00Z""#, #""2014-01-03T10:00:00Z""#),
        ] as [(String, AttributeType, String, String)])
    func uniqueValuesThatCannotBeNullAreExchanged(
        declaration: String, type: AttributeType, one: String, other: String
    ) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, code \(declaration) NOT NULL UNIQUE)", at: path)
        let store = try await open(.people(attributes: [SyncAttribute("code", type)]), rowColumn: "rowid")
        try await sync(#"[{"id":1,"code":\#(one)},{"id":2,"code":\#(other)}]"#, store)
        let before = try await SQLiteShell.run("SELECT quote(code) FROM people ORDER BY id", at: path)
        let exchanged = #"[{"id":1,"code":\#(other)},{"id":2,"code":\#(one)}]"#
        #expect(try await sync(exchanged, store).counts.updated == 2)
        let after = try await SQLiteShell.run("SELECT quote(code) FROM people ORDER BY id", at: path)
        #expect(before.count == 2 && after == before.reversed())
        #expect(try await sync(exchanged, store).isUnchanged)
    }

    /// The refusal names the option that would help.
    @Test(arguments: [(SQLNaming.DateStorage.iso8601, "1.5"), (.secondsSince1970, "'2014-02-14T10:00:00.000000Z'")])
    func datesOfAnotherFormAreRefusedWithAnAdvice(dates: SQLNaming.DateStorage, value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, born); INSERT INTO people VALUES (1, \(value))", at: path)
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("born", .date)
            }
        }
        func open(_ dates: SQLNaming.DateStorage) async throws {
            var options = SQLiteStore.Options()
            options.naming = SQLNaming(tables: ["Person": "people"], rowColumn: "rowid")
            options.dates = dates
            _ = try await SQLiteStore(exactly: model, at: .file(path), options: options)
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await open(dates) }
        let other: SQLNaming.DateStorage = dates == .iso8601 ? .secondsSince1970 : .iso8601
        // Nobody can tell from a number where its count began.
        #expect(error?.description.contains("2001") == (dates == .iso8601))
        #expect(error?.description.contains("Options.dates = .\(other.rawValue)") == true)
        try await open(other)
    }

    /// Core Data counts from 2001. Its `TIMESTAMP` columns store whole seconds as integers.
    @Test func datesOfCoreDataAreReadAndWritten() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR, ZBORN TIMESTAMP);
            INSERT INTO ZPERSON VALUES (1, 'a', 415792800.5), (2, 'b', 415792800), (3, 'c', NULL)
            """, at: path)
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncAttribute("born", .date)
            }
        }
        func open(_ dates: SQLNaming.DateStorage) async throws -> JSONStore {
            var options = SQLiteStore.Options()
            options.naming = SQLNaming(
                tables: ["Person": "ZPERSON"],
                columns: ["Person.id": "Z_PK", "Person.name": "ZNAME", "Person.born": "ZBORN"], rowColumn: "rowid")
            options.dates = dates
            let mapper = try RecordMapper(model)
            return try JSONStore(
                try await SQLiteStore(exactly: mapper.model, at: .file(path), options: options), mapper: mapper)
        }
        let error = await #expect(throws: SQLSchemaError.self) { _ = try await open(.iso8601) }
        #expect(error?.description.hasSuffix("try SQLiteStore.Options.dates = .secondsSince2001") == true)
        let store = try await open(.secondsSince2001)
        let dates = try await store.store.records(StoreQuery("Person")).map { $0.record["born"] }
        let whole = Int64(1_394_100_000_000_000)
        #expect(
            dates == [.date(Timestamp(microseconds: whole + 500_000)), .date(Timestamp(microseconds: whole)), .null])
        let json = #"[{"id":1,"name":"a","born":"2014-03-06T10:00:00.5Z"},{"id":2,"name":"b","born":1394100000},"#
        #expect(try await sync(json + #"{"id":3,"name":"c","born":null}]"#, store).isUnchanged)
        let last = #"{"id":3,"name":"c","born":"2001-01-01T00:00:01.25Z"}]"#
        #expect(try await sync(json + last, store).counts.updated == 1)
        #expect(
            try await SQLiteShell.run("SELECT ZBORN FROM ZPERSON", at: path) == ["415792800.5", "415792800", "1.25"])
        for moment in [whole, whole + 500_000] {
            let date = AttributeValue.date(Timestamp(microseconds: moment))
            let isSame = RecordPredicate.comparison(PropertyPath("born"), .equal, date)
            #expect(try await store.store.count(StoreQuery("Person", where: isSame)) == 1)
        }
    }

    /// The objects would not be found.
    @Test(arguments: [
        "'2024-05-06 10:00:00.000'", "'2024-05-06T10:00:00Z'", "'2024-05-06'", "'2024-05-06T12:00:00+02:00'",
    ])
    func datesAreConvertedAsTheRefusalSays(value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at DATETIME); INSERT INTO people VALUES (1, '', \(value))",
            at: path)
        let model = try DataModel {
            SyncEntity("Person", identity: "at") {
                SyncAttribute("at", .date)
                SyncAttribute("name", .string)
            }
        }
        let error = await #expect(throws: SQLSchemaError.self) { try await open(model, rowColumn: "rowid") }
        let advice = try #require(error?.description.firstRange(of: "UPDATE ")).lowerBound
        try await SQLiteShell.run(String(try #require(error?.description[advice...])), at: path)
        let store = try await open(model, rowColumn: "rowid")
        let midnight = Timestamp(microseconds: 1_714_953_600_000_000)
        let isToday = RecordPredicate.comparison(PropertyPath("at"), .greaterOrEqual, .date(midnight))
        #expect(try await store.store.count(StoreQuery("Person", where: isToday)) == 1)
    }

    /// As other programs write them.
    @Test(arguments: ["'2024-05-06 10:00:00.000'", "'2024-05-06T10:00:00Z'", "'2024-05-06T12:00:00+02:00'"])
    func datesThatIdentifyNothingAreReadInAnyForm(value: String) async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
            INSERT INTO people VALUES (1, '', \(value))
            """, at: path)
        let store = try await open(.people(attributes: [SyncAttribute("at", .date)]), rowColumn: "rowid")
        let json = #"[{"id":1,"name":"","at":"2024-05-06T10:00:00Z"},{"id":2,"name":"new"}]"#
        #expect(try await sync(json, store).counts.updated == 0)
        let again = try await sync(json, store)
        #expect(again.isUnchanged)
    }

    @Test(arguments: [
        ("TEXT", SQLNaming.DateStorage.iso8601), ("DATETIME", .iso8601), ("", .iso8601), ("REAL", .secondsSince1970),
    ])
    func datesOfEveryYearAreReadBack(type: String, dates: SQLNaming.DateStorage) async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, at \(type))", at: path)
        let model = try DataModel.people(attributes: [SyncAttribute("at", .date)])
        let moments = [Int64.min, -70_000_000_000_000_000, 0, 300_000_000_000_000_000, .max]
            .map(Timestamp.init(microseconds:))
        let writing = try await open(model, rowColumn: "rowid", dates: dates).store
        try await writing.transaction { transaction in
            for (place, moment) in moments.enumerated() {
                var record = Record(of: try #require(transaction.model["Person"]))
                record["id"] = .int(Int64(place))
                record["at"] = .date(moment)
                try await transaction.insert(record)
            }
        }
        let reading = try await open(model, rowColumn: "rowid", dates: dates).store
        #expect(try await reading.records(StoreQuery("Person")).map { $0.record["at"] } == moments.map { .date($0) })
        for moment in moments {
            let isSame = RecordPredicate.comparison(PropertyPath("at"), .equal, .date(moment))
            #expect(try await reading.count(StoreQuery("Person", where: isSame)) == 1)
        }
    }

    @Test func whatIsNoIntegerOrBooleanIsNull() async throws {
        try await SQLiteShell.run(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, age INT, old BOOLEAN);
            INSERT INTO people VALUES (1, 'a', 'abc', 2), (2, 'b', 1.5, 'yes'), (3, 'c', '7', 1)
            """, at: path)
        let attributes = [SyncAttribute("age", .int64), SyncAttribute("old", .bool)]
        let store = try await open(.people(attributes: attributes), rowColumn: "rowid")
        let records = try await store.store.records(StoreQuery("Person")).map(\.record)
        #expect(records.map { $0["age"] } == [.null, .null, 7])
        #expect(records.map { $0["old"] } == [.null, .null, true])
        let json = #"[{"id":1,"age":0,"old":true},{"id":2,"age":1},{"id":3,"age":7,"old":true}]"#
        #expect(try await sync(json, store).counts.updated == 2)
        #expect(try await SQLiteShell.run("SELECT age, old FROM people", at: path) == ["0|1", "1|yes", "7|1"])
        #expect(try await sync(json, store).isUnchanged)
    }

    @Test(arguments: [
        ("TEXT COLLATE NOCASE", AttributeType.string, "'A'"), ("TEXT COLLATE RTRIM", .string, "'a '"),
        ("TEXT", .uuid, "'6f9619ff-8b86-d011-b42d-00c04fc964ff'"),
        ("BLOB", .uuid, "x'00112233445566778899AABBCCDDEEFF'"),
        ("INTEGER", .date, "1700000000"), ("DATETIME", .date, "'2024-05-06 10:00:00.000'"), ("", .int64, "'1'"),
        ("INT", .int64, "1.5"), ("INT", .int64, "'x'"),
        ("", .string, "1"), ("BLOB", .string, "x'41'"), ("TEXT", .decimal, "'1.50'"), ("REAL", .double, "'x'"),
        ("", .binary, "'a'"), ("", .bool, "'true'"),
    ])
    func anIdentityThatComparesInAnotherWayIsRefused(type: String, as attribute: AttributeType, value: String)
        async throws
    {
        try await SQLiteShell.run(
            "CREATE TABLE things (key \(type) PRIMARY KEY); INSERT INTO things VALUES (\(value))", at: path)
        let model = try DataModel {
            SyncEntity("Thing", identity: "key") { SyncAttribute("key", attribute) }
        }
        await #expect(throws: SQLSchemaError.self) {
            try await open(model, tables: ["Thing": "things"], rowColumn: "rowid")
        }
        #expect(try await SQLiteShell.run("SELECT count(*) FROM things", at: path) == ["1"])
    }

    @Test(arguments: [
        ("", AttributeType.int64, "1, NULL", "1"), ("", .string, "'1', 'a'", #""1""#),
        ("TEXT", .decimal, "'1.5', '-2'", "1.5"), ("REAL", .double, "1.5, 2", "1.5"),
        ("TEXT", .uuid, "'6F9619FF-8B86-D011-B42D-00C04FC964FF', NULL", #""6f9619ff-8b86-d011-b42d-00c04fc964ff""#),
    ])
    func anIdentityOfTheStoresFormIsFound(type: String, as attribute: AttributeType, values: String, json: String)
        async throws
    {
        let rows = values.split(separator: ", ").map { "(\($0), 'mine')" }.joined(separator: ", ")
        try await SQLiteShell.run(
            "CREATE TABLE things (key \(type), note TEXT); INSERT INTO things VALUES \(rows)", at: path)
        let model = try DataModel {
            SyncEntity("Thing", identity: "key") { SyncAttribute("key", attribute) }
        }
        let store = try await open(model, tables: ["Thing": "things"], rowColumn: "rowid")
        let result = try await sync(#"[{"key":\#(json)}]"#, entity: "Thing", store)
        #expect(result.counts.inserted == 0 && result.counts.deleted == 1)
        #expect(try await SQLiteShell.run("SELECT note FROM things", at: path) == ["mine"])
    }

    /// A new object gets the default. No stored value is replaced by one.
    @Test(arguments: ["'anon'", "(lower('ANON'))", "(hex(randomblob(4)))"])
    func anAbsentValueOfAMandatoryColumnIsItsDefault(value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT \(value))", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        let json = #"[{"id":1},{"id":2,"name":"b"}]"#
        try await sync(json, store)
        let rows = try await dump("people")
        #expect(rows.count == 2 && rows.last == "2|b" && rows.first != "1|")
        if !value.contains("random") { #expect(rows.first == "1|anon") }
        #expect(try await sync(json, store).isUnchanged)
        #expect(try await sync(#"[{"id":1},{"id":2}]"#, store).isUnchanged)
        #expect(try await dump("people") == rows)
    }

    /// Neither the default nor the former value takes its place in silence.
    @Test(arguments: ["'anon'", "(hex(randomblob(4)))"])
    func aNullForAMandatoryColumnIsRefused(value: String) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT \(value))", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"anon"},{"id":2,"name":"b"}]"#, store)
        for (id, json) in [
            (1, #"[{"id":1,"name":null},{"id":2}]"#), (2, #"[{"id":1},{"id":2,"name":null}]"#),
            (3, #"[{"id":1},{"id":2},{"id":3,"name":null}]"#),
        ] {
            let error = await #expect(throws: StoreError.self) { try await sync(json, store) }
            #expect(
                "\(try #require(error))"
                    == "Person \(id), element \(id - 1): name has no value, and its column does not accept null")
            #expect(try await dump("people") == ["1|anon", "2|b"])
        }
        var options = StoreSyncOptions()
        options.setsRefusedAside = true
        let payload = #"[{"id":1,"name":null},{"id":2,"name":"c"},{"id":3,"name":null},{"id":4}]"#
        let result = try await store.sync(.bytes(Array(payload.utf8)), into: "Person", options: options)
        #expect(result.rejectedCount == 2 && result.rejected.map(\.attribute) == ["name", "name"])
        let names = try await SQLiteShell.run("SELECT id, name FROM people WHERE id < 4 ORDER BY id", at: path)
        #expect(names == ["1|anon", "2|c"])
        #expect(try await SQLiteShell.run("SELECT count(*) FROM people WHERE id = 4", at: path) == ["1"])
    }

    /// In a default, a name is a text, and a value is converted as the column converts it.
    @Test(arguments: [
        ("TEXT", AttributeType.string, "active", "active"), ("TEXT", .string, "object", "object"),
        ("TEXT", .string, #""place""#, "place"), ("TEXT", .string, "[c0]", "c0"), ("TEXT", .string, "größe", "größe"),
        ("TEXT", .string, #""it's a ""b""""#, #"it's a "b""#), ("TEXT", .string, "-5", "-5"),
        ("TEXT", .string, "TRUE", "1"), ("TEXT", .string, "'n/a (none)'", "n/a (none)"),
        ("INTEGER", .int64, "'0'", "0"), ("REAL", .double, "'1.5'", "1.5"), ("INTEGER", .bool, "false", "0"),
        ("BLOB", .binary, "x'41'", "A"), ("TEXT", .string, "(1 + 2)", "3"),
    ])
    func everyDefaultOfAMandatoryColumnIsItself(
        type: String, attribute: AttributeType, value: String, stored: String
    ) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, x \(type) NOT NULL DEFAULT \(value))", at: path)
        let store = try await open(.people(attributes: [SyncAttribute("x", attribute)]), rowColumn: "rowid")
        let json = #"[{"id":1},{"id":2}]"#
        try await sync(json, store)
        try await SQLiteShell.run("INSERT INTO people (id) VALUES (3)", at: path)
        #expect(try await SQLiteShell.run("SELECT x FROM people", at: path) == [stored, stored, stored])
        #expect(try await sync(json, store).counts.updated == 0)
    }

    @Test func aNullForAMandatoryColumnHasNoDefault() async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, x INTEGER NOT NULL DEFAULT NULL)", at: path)
        await #expect(throws: SQLSchemaError.self) { try await open(.people(), rowColumn: "rowid") }
    }

    /// Texts compare by their bytes, whatever the column says.
    @Test func aColumnWithoutCaseIsComparedByBytes() async throws {
        try await SQLiteShell.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)", at: path)
        let store = try await open(.people(), rowColumn: "rowid")
        try await sync(#"[{"id":1,"name":"a"},{"id":2,"name":"B"},{"id":3,"name":"A"},{"id":4,"name":"b"}]"#, store)
        func found(_ predicate: RecordPredicate) async throws -> [AttributeValue] {
            let query = StoreQuery("Person", where: predicate, orderedBy: [Ordering("name")])
            return try await store.store.records(query).map { $0.record["id"] }
        }
        let name = PropertyPath("name")
        #expect(try await found(.constant(true)) == [3, 2, 1, 4])
        #expect(try await found(name == "a") == [1])
        #expect(try await found(name != "A") == [2, 1, 4])
        #expect(try await found(name < "a") == [3, 2])
        #expect(try await found(name.isIn(["A", "b"])) == [3, 4])
        let result = try await sync(#"[{"id":1,"name":"A"},{"id":2},{"id":3},{"id":4}]"#, store)
        #expect(result.counts.updated == 1)
        #expect(try await dump("people") == ["1|A", "2|B", "3|A", "4|b"])
    }

    @Test(arguments: [SQLNaming.DateStorage.iso8601, .secondsSince1970])
    func strictTablesGetColumnsOfTheirTypes(dates: SQLNaming.DateStorage) async throws {
        try await SQLiteShell.run(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT) STRICT; INSERT INTO people VALUES (3, 'a')",
            at: path)
        _ = try await open(.people(), rowColumn: "rowid", dates: dates)
        let types = AttributeType.allCases.filter { $0 != .transformable }
        let wider = try DataModel.people(attributes: types.map { SyncAttribute("a_\($0.rawValue)", $0) }) {
            SyncRelationship("boss", toOne: "Person")
        }
        let store = try await open(wider, rowColumn: "rowid", dates: dates)
        let json = #"[{"id":3,"name":"a","a_bool":true,"a_date":"2014-02-14T10:00:00Z","a_int64":7,"boss_id":3}]"#
        #expect(try await sync(json, store).counts.updated == 1)
        #expect(try await sync(json, store).isUnchanged)
        let record = try #require(try await store.store.records(StoreQuery("Person")).first?.record)
        #expect(record["a_bool"] == true && record["a_int64"] == 7)
        #expect(record["a_date"] == .date(Timestamp(microseconds: 1_392_372_000_000_000)))
    }
}
