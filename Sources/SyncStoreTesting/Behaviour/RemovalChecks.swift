import SyncModel
import SyncStore

/// Checks of deletion and the delete rules.
enum RemovalChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("what depends on an object goes with it, what does not is let go", inTransaction(rules)),
        ("what several objects own goes with the last of them", inTransaction(shared)),
        ("a denied deletion deletes nothing", denial),
        ("what is not in a set is deleted, within a scope", inTransaction(absent)),
        ("what was deleted is named on request", inTransaction(keys)),
        ("an identity is free once its object is gone", inTransaction(identity)),
        ("a store is emptied", erase),
        ("a store is emptied of what denies one another's deletion", circle),
    ]

    private static func rules(_ transaction: any StoreTransaction) async throws {
        let person = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        let notes = try await transaction.put("Note", ["id": 1], ["id": 2], ["id": 3]).ids
        let tag = try await transaction.put("Tag", ["name": "a"]).ids[0]
        try await transaction.tie("Person", person[0], "notes", [notes[0], notes[1]])
        try await transaction.tie("Person", person[0], "tags", [tag])
        try await transaction.tie("Person", person[1], "favourite", [tag])
        let result = try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
        try expect(result, RemovalResult(counts: ["Person": 1, "Note": 2]), "what was deleted")
        try expect(try await transaction.column("id", StoreQuery("Note")), [3], "notes left")
        try expect(try await transaction.targets("Tag", tag, "people"), [], "people of the tag")
        try await transaction.remove(StoreQuery("Tag"))
        try expect(
            try await transaction.targets("Person", person[1], "favourite"), [], "a reference without inverse")
        try expect(
            try await transaction.count(StoreQuery("Person", where: PropertyPath("favourite") == nil)), 1,
            "people without it")
    }

    private static func shared(_ transaction: any StoreTransaction) async throws {
        let albums = try await transaction.put("Album", ["id": 1], ["id": 2], ["id": 3]).ids
        let photos = try await transaction.put(
            "Photo", ["id": 1], ["id": 2], ["id": 3], ["id": 4], ["id": 5], ["id": 6]
        ).ids
        try await transaction.tie("Album", albums[0], "photos", [photos[0], photos[1]])
        try await transaction.tie("Album", albums[1], "photos", [photos[1], photos[2]])
        try await transaction.tie("Album", albums[2], "photos", [photos[1]])
        // Through two owners of different depth: 3 has 4, and both have 5.
        try await transaction.tie("Photo", photos[2], "details", [photos[3], photos[4]])
        try await transaction.tie("Photo", photos[3], "details", [photos[4]])
        func remove(_ album: AttributeValue, _ counts: [String: Int], _ left: [AttributeValue]) async throws {
            let query = StoreQuery("Album", where: PropertyPath("id") == album)
            try expect(try await transaction.remove(query).counts, counts, "what was deleted with \(album)")
            let photos = StoreQuery("Photo", orderedBy: [Ordering("id")])
            try expect(try await transaction.column("id", photos), left, "photos without \(album)")
        }
        try await remove(1, ["Album": 1, "Photo": 1], [2, 3, 4, 5, 6])
        try await remove(2, ["Album": 1, "Photo": 3], [2, 6])
        try await remove(3, ["Album": 1, "Photo": 1], [6])
    }

    private static func denial(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let company = try await transaction.put("Company", ["id": 1], ["id": 2]).ids
            let person = try await transaction.put("Person", ["id": 1]).ids[0]
            try await transaction.tie("Person", person, "company", [company[0]])
        }
        try await expect(.deletionDenied(entity: "Company", relationship: "people"), "a company with people") {
            try await store.transaction { _ = try await $0.remove(StoreQuery("Company")) }
        }
        try expect(try await store.count(StoreQuery("Company")), 2, "companies left")
        try await store.transaction { transaction in
            try await transaction.remove(StoreQuery("Person"))
            try expect(
                try await transaction.remove(StoreQuery("Company")).counts, ["Company": 2], "companies without people")
        }
    }

    private static func absent(_ transaction: any StoreTransaction) async throws {
        let rows = try await transaction.put(
            "Person", ["id": 1, "age": 10], ["id": 2, "age": 20], ["id": 3, "age": 30], ["id": 4, "age": 40]
        ).ids
        let query = StoreQuery("Person", where: PropertyPath("age") > 15, objects: .except(ObjectSet([rows[2]])))
        try expect(try await transaction.count(query), 2, "what is absent")
        try expect(try await transaction.remove(query).counts, ["Person": 2], "what was deleted")
        try expect(try await transaction.column("id", StoreQuery("Person")), [1, 3], "what is left")
    }

    private static func keys(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 2], ["id": 1], ["id": 3], ["id": .null]).ids
        let employee = try await transaction.put("Employee", ["id": 7]).ids[0]
        let notes = try await transaction.put("Note", ["id": 5], ["id": .null], ["id": 6]).ids
        try await transaction.tie("Person", people[0], "notes", [notes[0]])
        try await transaction.tie("Person", employee, "notes", [notes[1]])
        try await transaction.tie("Person", people[2], "notes", [notes[2]])
        let query = StoreQuery("Person", objects: .except(ObjectSet([people[2]])))
        let result = try await transaction.remove(query, reportsKeys: true)
        try expect(result.counts, ["Person": 3, "Employee": 1, "Note": 2], "how many were deleted")
        try expect(
            result.keys,
            [
                "Person": [
                    StoredRecord.Key(object: people[0], key: .identity(2)),
                    StoredRecord.Key(object: people[1], key: .identity(1)),
                    StoredRecord.Key(object: people[3], key: .object(people[3])),
                ],
                "Employee": [StoredRecord.Key(object: employee, key: .identity(7))],
                "Note": [
                    StoredRecord.Key(object: notes[0], key: .identity(5)),
                    StoredRecord.Key(object: notes[1], key: .object(notes[1])),
                ],
            ], "what was deleted")
        try expect(
            try await transaction.remove(query, reportsKeys: true), RemovalResult(), "what was deleted then")
    }

    private static func identity(_ transaction: any StoreTransaction) async throws {
        let former = try await transaction.put("Employee", ["id": 1, "name": "a"]).ids[0]
        try await transaction.remove(StoreQuery("Person"))
        let result = try await transaction.put("Employee", ["id": 1])
        try expect(result.changes, [.inserted], "the identity again")
        try expect(
            try await transaction.record("Person", key: .object(result.ids[0]))?.record["name"], .null, "its name")
        _ = former
    }

    private static func circle(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let shelf = try await transaction.put("Shelf", ["id": 1]).ids[0]
            let book = try await transaction.put("Book", ["id": 1], ["id": 2]).ids
            try await transaction.tie("Shelf", shelf, "books", book)
            try await transaction.tie("Book", book[0], "place", [shelf])
        }
        try await expect(.deletionDenied(entity: "Shelf", relationship: "books"), "a shelf with books") {
            try await store.transaction { _ = try await $0.remove(StoreQuery("Shelf")) }
        }
        try await store.erase()
        for entity in ["Shelf", "Book"] {
            try expect(try await store.count(StoreQuery(entity)), 0, "objects of \(entity)")
        }
    }

    private static func erase(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let person = try await transaction.put("Person", ["id": 1]).ids[0]
            let company = try await transaction.put("Company", ["id": 1]).ids[0]
            try await transaction.tie("Person", person, "company", [company])
            try await transaction.put("Event", ["text": "x"])
        }
        try await store.erase()
        for entity in ["Person", "Company", "Event"] {
            try expect(try await store.count(StoreQuery(entity)), 0, "objects of \(entity)")
        }
    }
}
