import SyncModel
import SyncStore

/// Checks of fetching and ordering.
enum QueryChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("objects are ordered, limited and skipped", order),
        ("limits and offsets can have any value", extremes),
        ("predicates select as they do in memory", predicates),
        ("predicates have many parts and levels", largePredicates),
        ("sums of integers overflow only as a whole", sums),
        ("batches are as large as they were asked for", batches),
        ("related objects are told by their keys", relationships),
        ("what does not fit the model is refused", refusals),
    ]

    private static func fill(_ store: any Store) async throws {
        try await store.transaction { transaction in
            try await transaction.put(
                "Person", ["id": 1, "name": "b", "age": 30], ["id": 2, "name": .null, "age": 20],
                ["id": 3, "name": "a", "age": 30], ["id": 4, "name": "Ä", "age": .null])
        }
    }

    private static func order(_ store: any Store) async throws {
        try await fill(store)
        try await store.read { reader in
            let ids = { (query: StoreQuery) in try await reader.column("id", query) }
            try expect(try await ids(StoreQuery("Person")), [1, 2, 3, 4], "without an order")
            try expect(
                try await ids(StoreQuery("Person", orderedBy: [Ordering("name")])), [2, 3, 1, 4], "by name, by bytes")
            try expect(
                try await ids(
                    StoreQuery("Person", orderedBy: [Ordering("age", ascending: false, nulls: .last), Ordering("id")])),
                [1, 3, 2, 4], "by age, the other way round, nulls last, then by id")
            let part = StoreQuery("Person", orderedBy: [Ordering("id", ascending: false)], limit: 2, offset: 1)
            try expect(try await ids(part), [3, 2], "a part")
            try expect(try await reader.count(part), 2, "the count of a part")
        }
    }

    private static func extremes(_ store: any Store) async throws {
        try await fill(store)
        let ids: [AttributeValue] = [1, 2, 3, 4]
        let limits = [nil, Int.min, -1, 0, 1, 3, 4, 5, .max - 1, .max]
        try await store.read { reader in
            for offset in [Int.min, -1, 0, 1, 3, 4, 5, .max - 1, .max] {
                for limit in limits {
                    for ordering in [[], [Ordering("id")]] {
                        var query = StoreQuery("Person", orderedBy: ordering, limit: limit)
                        query.offset = offset
                        let rest = Array(ids.dropFirst(max(offset, 0)).prefix(max(limit ?? .max, 0)))
                        let place = "limit \(limit.map(String.init) ?? "nil"), offset \(offset)"
                        try expect(try await reader.column("id", query), rest, place)
                        try expect(try await reader.count(query), rest.count, "the count of \(place)")
                    }
                }
            }
        }
    }

    private static func predicates(_ store: any Store) async throws {
        try await fill(store)
        let cases: [(String, [AttributeValue])] = [
            ("age > 20", [1, 3]), ("age >= 20 and name != null", [1, 3]), ("not (age > 20)", [2]),
            ("age = null", [4]), ("name in ('a', 'b')", [1, 3]), ("name beginswith 'a' or id = 4", [3, 4]),
            ("age = 30.0", [1, 3]), ("age > 19.5", [1, 2, 3]), ("id in ()", []), ("name contains 'b'", [1]),
        ]
        try await store.read { reader in
            for (text, ids) in cases {
                let query = StoreQuery("Person", where: try RecordPredicate(parsing: text))
                try expect(try await reader.column("id", query), ids, text)
            }
        }
    }

    private static func largePredicates(_ store: any Store) async throws {
        try await fill(store)
        let (id, name) = (PropertyPath("id"), PropertyPath("name"))
        var nest: RecordPredicate = id == 1
        for level in 0..<200 {
            let number = AttributeValue.int(Int64(40 + level))
            nest =
                level.isMultiple(of: 2)
                ? .and([nest, .comparison(id, .less, number)]) : .or([.comparison(id, .equal, number), nest])
        }
        let cases: [(String, RecordPredicate, [AttributeValue])] = [
            ("equalities", .or((3..<40_000).map { .comparison(id, .equal, .int($0)) }), [3, 4]),
            ("texts", .or((0..<3000).map { .text(name, .contains, "x\($0)") } + [name == "a"]), [3]),
            ("inequalities", .and((3..<3000).map { .comparison(id, .notEqual, .int($0)) }), [1, 2]),
            ("levels", nest, [1]), ("levels of a negation", .not(nest), [2, 3, 4]),
            ("levels of one kind", (0..<500).reduce(id > 1) { .and([$0, .comparison(id, .notEqual, .int($1))]) }, []),
        ]
        try await store.read { reader in
            for (text, predicate, ids) in cases {
                try expect(try await reader.column("id", StoreQuery("Person", where: predicate)), ids, "many \(text)")
            }
        }
    }

    private static func sums(_ store: any Store) async throws {
        let (least, greatest) = (AttributeValue.int(.min), AttributeValue.int(.max))
        try await store.transaction { transaction in
            try await transaction.put("Note", ["id": greatest], ["id": 2], ["id": least], ["id": 5])
        }
        let sum = StoreSelection.Column.aggregate(.sum, PropertyPath("id"))
        let average = StoreSelection.Column.aggregate(.average, PropertyPath("id"))
        try await store.read { reader in
            let all = StoreSelection(StoreQuery("Note"), columns: [sum, average])
            try expect(try await reader.rows(all), [[.int(6), .double(1.5)]], "a sum beyond 64 bits in between")
            let large = StoreSelection(StoreQuery("Note", where: PropertyPath("id") > 0, limit: 0), columns: [sum])
            try expect(try await reader.rows(large), [], "a sum that nobody asks for")
        }
        try await expect(.sumOverflow(entity: "Note"), "a sum beyond 64 bits") {
            try await store.read { reader in
                _ = try await reader.rows(
                    StoreSelection(StoreQuery("Note", where: PropertyPath("id") > 0), columns: [sum]))
            }
        }
    }

    private static func batches(_ store: any Store) async throws {
        try await fill(store)
        let counts = try await store.read { reader in
            var counts: [Int] = []
            try await reader.fetch(StoreQuery("Person"), batchRowCount: 3) { counts.append($0.count) }
            try await reader.fetch(StoreQuery("Note"), batchRowCount: 3) { counts.append($0.count) }
            return counts
        }
        try expect(counts, [3, 1], "the sizes of batches")
    }

    private static func relationships(_ store: any Store) async throws {
        try await fill(store)
        try await store.transaction { transaction in
            let people = try await transaction.records(StoreQuery("Person")).map(\.object)
            let tags = try await transaction.put("Tag", ["name": "x"], ["name": "y"]).ids
            try await transaction.tie("Person", people[0], "tags", [tags[1], tags[0]])
            let company = try await transaction.put("Company", ["id": 7]).ids
            try await transaction.tie("Person", people[1], "company", company)
        }
        let found = try await store.records(
            StoreQuery("Person", where: PropertyPath("id") <= 2), with: ["tags", "company"])
        try expect(
            found.map { $0.record[related: "tags"] }, [.many([.identity("y"), .identity("x")]), .many([])], "tags")
        try expect(found.map { $0.record[related: "company"] }, [.one(nil), .one(.identity(7))], "companies")
    }

    private static func refusals(_ store: any Store) async throws {
        do {
            _ = try await store.count(StoreQuery("Person", where: PropertyPath("shoeSize") == 3))
        } catch is RecordPredicateError {
            return
        }
        throw ConformanceCheckFailed(description: "a property that does not exist was accepted")
    }
}
