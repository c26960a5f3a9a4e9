import Foundation
import SyncModel
import SyncStore

/// Checks of identity, absent and null values, and unchanged objects.
enum MergeChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("an identity is one object, however often it is merged", identity),
        ("a request has each object once", repeated),
        ("objects without an identity are as many as were inserted", nameless),
        ("two attributes together are an identity", inTransaction(composite)),
        ("absent cells stay, null ones are cleared, defaults are for new objects", inTransaction(cells)),
        ("a policy is kept", inTransaction(policy)),
        ("a row for a given object is for that one", matches),
        ("a parent entity finds the objects of its sub-entities", inheritance),
        ("counts that a merge announces are those of the moment", counted),
        ("what is of another model is refused", foreign),
        ("every type comes back as it was put in", types),
    ]

    private static func identity(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let first = try await transaction.put("Person", ["id": 1, "name": "a"], ["id": 2])
            try expect(first.changes, [.inserted, .inserted], "new identities")
            let second = try await transaction.put("Person", ["id": 2], ["id": 1, "name": "b"], ["id": 3])
            try expect(second.changes, [.unchanged, .updated, .inserted], "the same again")
            try expect(Array(second.ids.prefix(2)), [first.ids[1], first.ids[0]], "the objects of the same again")
        }
        try expect(try await store.count(StoreQuery("Person")), 3, "objects in the end")
    }

    private static func counted(_ store: any Store) async throws {
        @Sendable func announce(_ ids: [AttributeValue], _ transaction: any StoreTransaction) async throws {
            var request = MergeRequest(
                try ConformanceModel.batch("Person", ids.map { ["id": $0] }, of: transaction.model))
            request.countedNext = ["Person", "Note"]
            _ = try await transaction.merge(request)
        }
        @Sendable func count(_ transaction: any StoreTransaction) async throws -> [Int] {
            try await transaction.counts(of: [StoreQuery("Person"), StoreQuery("Note")])
        }
        let queries = [
            StoreQuery("Person", where: PropertyPath("id") > 1),
            StoreQuery("Person", objects: .only([4711, 0, -1, .max])), StoreQuery("Person", limit: 1),
            StoreQuery("Employee"),
        ]
        try await store.transaction { transaction in
            try await announce([1, 2], transaction)
            try expect(try await transaction.counts(of: queries), [1, 0, 1, 0], "other counts")
            try expect(try await count(transaction), [2, 0], "after the merge")
            let notes = try await transaction.put("Note", ["id": 1], ["id": 2]).ids
            try expect(try await count(transaction), [2, 2], "after another merge")
            try await announce([3], transaction)
            let person = try await transaction.records(StoreQuery("Person", where: PropertyPath("id") == 3))[0].object
            try await transaction.tie("Person", person, "notes", notes)
            try expect(try await count(transaction), [3, 2], "after a link")
            try await announce([1], transaction)
            _ = try await transaction.remove(StoreQuery("Person", objects: .only([person])))
            try expect(try await count(transaction), [2, 0], "after a removal")
            try await announce([1], transaction)
        }
        try await store.transaction { _ = try await $0.put("Note", ["id": 7]) }
        try expect(try await store.transaction { try await count($0) }, [2, 1], "in another transaction")
    }

    private static func repeated(_ store: any Store) async throws {
        try await store.transaction { try await $0.put("Person", ["id": 1], ["id": 2]) }
        let records: [(String, [[String: AttributeValue]])] = [
            ("Person", [["id": 3], ["id": 4], ["id": 3, "name": "x"]]), ("Person", [["id": 2], ["id": 1], ["id": 2]]),
            ("Badge", [["suit": "h", "value": 1], ["suit": "h", "value": 1]]),
        ]
        for (entity, records) in records {
            try await expect(.repeatedObject(entity: entity), "an identity that two records have") {
                try await store.transaction { transaction in
                    let batch = try ConformanceModel.batch(entity, records, of: transaction.model)
                    _ = try await transaction.merge(MergeRequest(batch))
                }
            }
        }
        for second in [MergeRequest.Match.identity, .object(1)] {
            try await expect(.repeatedObject(entity: "Person"), "an object that two records have") {
                try await store.transaction { transaction in
                    let records = try ConformanceModel.batch("Person", [["id": 1], ["id": 2]], of: transaction.model)
                    let objects = try await transaction.find(records).compactMap(\.self)
                    var match = second
                    if case .object = second { match = .object(objects[0]) }
                    try await transaction.put(
                        "Person", ["name": "x"], ["id": 1], matches: [.object(objects[0]), match])
                }
            }
        }
        try await store.transaction { transaction in
            let sought = try ConformanceModel.batch("Person", [["id": 2], ["id": 1], ["id": 2]], of: transaction.model)
            let found = try await transaction.find(sought)
            try expect(found[0] != nil && found[0] == found[2], true, "an identity that is sought twice")
        }
        try expect(try await store.count(StoreQuery("Person")), 2, "objects in the end")
    }

    private static func nameless(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let events = try await transaction.put("Event", ["text": "x"], ["text": "x"])
            try expect(events.changes, [.inserted, .inserted], "an entity without identity")
            let people = try await transaction.put("Person", ["id": .null, "name": "x"], ["name": "x"])
            try expect(people.changes, [.inserted, .inserted], "an identity of null, and an absent one")
        }
        try expect(try await store.count(StoreQuery("Person")), 2, "people without an identity")
    }

    private static func composite(_ transaction: any StoreTransaction) async throws {
        let result = try await transaction.put(
            "Badge", ["suit": "h", "value": 1], ["suit": "h", "value": 2], ["suit": "h", "value": .null])
        try expect(result.changes, [.inserted, .inserted, .inserted], "rows of a composite identity")
        let again = try await transaction.put("Badge", ["suit": "h", "value": 1])
        try expect(again.changes, [.unchanged], "a composite identity again")
    }

    private static func cells(_ transaction: any StoreTransaction) async throws {
        let result = try await transaction.put("Person", ["id": 1, "name": "a"])
        try await transaction.put("Person", ["id": 1, "age": .null])
        let stored = try await transaction.record("Person", key: .object(result.ids[0]))
        try expect(stored?.record["name"], "a", "an attribute that was absent")
        try expect(stored?.record["age"], .null, "an attribute that was null")
        try await transaction.put("Person", ["id": 2, "name": .null])
        try expect(
            try await transaction.record("Person", key: .identity(2))?.record["age"], 18,
            "a default of a new object")
    }

    private static func policy(_ transaction: any StoreTransaction) async throws {
        try await transaction.put("Person", ["id": 1, "name": "a"])
        let inserts = MergeRequest.Policy(inserts: true, updates: false)
        let updates = MergeRequest.Policy(inserts: false, updates: true)
        try expect(
            try await transaction.put("Person", ["id": 1, "name": "b"], ["id": 2], policy: inserts).changes,
            [.unchanged, .inserted], "insertion alone")
        try expect(
            try await transaction.put("Person", ["id": 1, "name": "c"], ["id": 3], policy: updates).changes,
            [.updated, nil], "updates alone")
        let neither = MergeRequest.Policy(inserts: false, updates: false)
        let result = try await transaction.put("Person", ["id": 1, "name": "d"], ["id": 3], policy: neither)
        try expect(result.changes, [.unchanged, nil], "neither")
        let records = try ConformanceModel.batch(
            "Person", [["id": 3], ["id": 1], ["name": "c"]], of: transaction.model)
        try expect(try await transaction.find(records), [nil, result.ids[0], nil], "found objects")
        try expect(try await transaction.column("name", StoreQuery("Person")), ["c", .null], "names in the end")
    }

    private static func matches(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let rows = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
            let result = try await transaction.put(
                "Person", ["id": 9], ["id": 5], ["id": 2, "name": "x"],
                matches: [.object(rows[0]), .skipped, .identity])
            try expect(result.changes, [.updated, nil, .updated], "rows for an object, for none, for any")
            try expect(
                try await transaction.column("id", StoreQuery("Person")), [9, 2], "identities in the end")
            try expect(
                try await transaction.put("Person", ["id": 9]).changes, [.unchanged], "the new identity is found")
        }
        try await store.transaction { transaction in
            let person = try await transaction.put("Person", ["id": 7]).ids[0]
            let result = try await transaction.put(
                "Employee", ["id": 7, "name": "x"], matches: [.object(person)],
                policy: MergeRequest.Policy(inserts: false))
            try expect(result.changes, [nil], "a row of a sub-entity for an object that is none of it")
            try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 7))
        }
        try await expect(.identityTaken(entity: "Person"), "an identity that another object has") {
            try await store.transaction { transaction in
                let row = try await transaction.put("Person", ["id": 9]).ids[0]
                try await transaction.put("Person", ["id": 2], matches: [.object(row)])
            }
        }
        try await expect(.identityTaken(entity: "Person"), "an error that was caught") {
            try await store.transaction { transaction in
                let row = try await transaction.put("Person", ["id": 9]).ids[0]
                _ = try? await transaction.put("Person", ["id": 2], ["id": 70], matches: [.object(row), .identity])
            }
        }
        try await store.read { reader in
            try expect(try await reader.column("id", StoreQuery("Person")), [9, 2], "nothing by halves")
        }
    }

    private static func inheritance(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let employee = try await transaction.put("Employee", ["id": 1, "name": "a"]).ids[0]
            let result = try await transaction.put("Person", ["id": 1, "name": "b"], ["id": 2])
            try expect(result.changes, [.updated, .inserted], "rows of the parent entity")
            try expect(result.ids[0], employee, "the object that was found")
            try expect(try await transaction.count(StoreQuery("Employee")), 1, "employees")
            try expect(try await transaction.count(StoreQuery("Person")), 2, "people, employees among them")
            try expect(
                try await transaction.record("Person", key: .identity(1))?.record.entityName, "Employee", "its entity")
            try await transaction.put("Circle", ["id": 1, "radius": 2.5])
            try expect(try await transaction.put("Shape", ["id": 1]).changes, [.unchanged], "an abstract entity")
        }
        try await expect(.abstractEntity(entity: "Shape"), "an object of an abstract entity") {
            try await store.transaction { _ = try await $0.put("Shape", ["id": 2]) }
        }
    }

    private static func foreign(_ store: any Store) async throws {
        let other = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .string)
                SyncRelationship("notes", toMany: "Person")
            }
            SyncEntity("Stranger", attributes: [SyncAttribute("id", .int64)], relationships: [])
        }
        let people = try ConformanceModel.batch("Person", [["id": "1"]], of: other)
        let strangers = try ConformanceModel.batch("Stranger", [["id": 1]], of: other)
        let relationship = try other.layout(of: "Person").relationships[0]
        try await store.transaction { transaction in
            try await expect(.batchOfOtherModel(entity: "Person"), "a batch of other attributes") {
                _ = try await transaction.merge(MergeRequest(people))
            }
            try await expect(.batchOfOtherModel(entity: "Stranger"), "a batch of an unknown entity") {
                _ = try await transaction.merge(MergeRequest(strangers))
            }
            try await expect(.batchOfOtherModel(entity: nil), "a batch of no entity") {
                _ = try await transaction.merge(MergeRequest(RecordBatch(columnCount: 1)))
            }
            try await expect(.wrongMatchCount(entity: "Note"), "too few matches") {
                try await transaction.put("Note", ["id": 1], ["id": 2], matches: [.identity])
            }
            try await expect(.relationshipOfOtherModel(relationship: "notes"), "links by another relationship") {
                _ = try await transaction.links(relationship, of: [])
            }
            try await expect(.relationshipOfOtherModel(relationship: "notes"), "linking by another relationship") {
                _ = try await transaction.link(LinkBatch(relationship, mode: .replace))
            }
        }
    }

    private static func types(_ store: any Store) async throws {
        let rows: [[String: AttributeValue]] = [
            [
                "key": "a", "int16": 32767, "int32": -2_147_483_648, "int64": .int(.min), "double": 0.1,
                "float": .double(Double(Float(0.1))),
                "decimal": .decimal(Decimal(string: "12345678901234567890.12") ?? 0),
                "string": "Zoë \u{0}\u{1F600}", "bool": true, "date": .date(Timestamp(microseconds: -1)),
                "binary": .binary(Data([0, 255])),
                "uuid": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
                "uri": .uri("https://example.com/ü"),
                "json": CanonicalJSON(#"{"z":[1.50,1e300],"a\u0000\u0001":{"\\u0000\u0000":"\u0001\u0001ü\n"}}"#).value,
                "transformable": .binary(Data("[1]".utf8)),
            ],
            [
                "key": "", "int64": .int(.max), "double": -1e300, "string": "", "binary": .binary(Data()),
                "bool": false,
                "json": CanonicalJSON("\"\"").value,
            ],
        ]
        try await store.transaction { transaction in
            for row in rows {
                let stored = try await transaction.put("Everything", row)
                try expect(try await transaction.put("Everything", row).changes, [.unchanged], "the same values again")
                let record = try await transaction.record("Everything", key: .object(stored.ids[0]))?.record
                for (name, value) in row { try expect(record?[name], value, "the value of \(name)") }
            }
        }
    }
}
