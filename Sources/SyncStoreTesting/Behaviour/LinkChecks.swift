import SyncModel
import SyncStore

/// Checks of relationships of every kind, from both ends.
enum LinkChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("a to-one relationship and its to-many inverse are kept in step", inTransaction(toOne)),
        ("a child moves from one parent to another", inTransaction(moves)),
        ("an object is inserted with its parent, and only then given it", inTransaction(initial)),
        (
            "objects are inserted with links of two relationships, and existing links are compared",
            inTransaction(several)
        ),
        ("objects are inserted in the order of their parent's list", inTransaction(initialOrder)),
        ("new objects are linked that have no link yet", new),
        ("an ordered relationship keeps its order", inTransaction(ordered)),
        ("links are added and retained", inTransaction(modes)),
        ("a one-to-one relationship has one object at either end", inTransaction(oneToOne)),
        ("a relationship that is its own inverse", inTransaction(symmetric)),
        ("links that a merge announces count from the moment they are made", announced),
        ("links are read as they are between merges of the objects that have them", inTransaction(current)),
        ("what does not exist, or is named twice, is passed over", inTransaction(unknown)),
    ]

    private static func toOne(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        let company = try await transaction.put("Company", ["id": 1]).ids[0]
        var batch = LinkBatch(try transaction.relationship("Person", "company"), mode: .replace)
        for person in people { batch.append(person, to: [company]) }
        try expect(try await transaction.link(batch).changed.sorted(), people, "the sources that changed")
        try expect(try await transaction.link(batch).changed, [], "the sources that changed the second time")
        try expect(try await transaction.targets("Company", company, "people"), people, "the inverse")
        let result = try await transaction.tie("Person", people[0], "company", [])
        try expect(result.detached, [company], "what is let go")
        try expect(try await transaction.targets("Company", company, "people"), [people[1]], "the inverse then")
        try expect(
            try await transaction.count(StoreQuery("Person", where: PropertyPath("company.id") == 1)), 1,
            "people there")
        try expect(
            try await transaction.count(StoreQuery("Company", where: PropertyPath("people.@count") == 1)), 1,
            "companies of one")
        try expect(
            try await transaction.count(StoreQuery("Person", where: PropertyPath("company") == nil)), 1,
            "people without")
    }

    private static func moves(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        let note = try await transaction.put("Note", ["id": 1]).ids[0]
        try await transaction.tie("Person", people[0], "notes", [note])
        try await transaction.tie("Person", people[1], "notes", [note])
        try expect(try await transaction.targets("Person", people[0], "notes"), [], "the parent before")
        try expect(try await transaction.targets("Note", note, "person"), [people[1]], "the parent of the child")
    }

    private static func initial(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 1], ["id": 2], ["id": 3]).ids
        let old = try await transaction.put("Note", ["id": 1], ["id": 2]).ids
        try await transaction.tie("Person", people[0], "notes", [old[0]])
        let links = MergeRequest.InitialLinks(
            try transaction.relationship("Note", "person"),
            targets: [people[1], nil, people[1], people[2]])
        let batch = try ConformanceModel.batch(
            "Note", [["id": 1, "text": "x"], ["id": 2], ["id": 3], ["id": 4]], of: transaction.model)
        let merged = try await transaction.merge(MergeRequest(batch), linking: [links])
        try expect(
            merged.changes, [.updated, .unchanged, .inserted, .inserted], "what became of the rows")
        let new = [merged.ids[2], merged.ids[3]]
        try expect(try await transaction.targets("Person", people[0], "notes"), [old[0]], "what was there before")
        try expect(try await transaction.targets("Note", old[1], "person"), [], "what had no parent")
        try expect(try await transaction.targets("Person", people[1], "notes"), [new[0]], "the child of a parent")
        try expect(
            try await transaction.targets("Note", new[1], "person"), [people[2]], "the parent of a new object")
        var linking = LinkBatch(try transaction.relationship("Person", "notes"), mode: .replace)
        linking.newTargets = ObjectSet(new)
        linking.append(people[1], to: [new[0]])
        linking.append(people[2], to: [])
        let result = try await transaction.link(linking)
        try expect(
            result.changed, [people[1]], "what came with the insertion counts as a change, unless it is undone")
        try expect(result.detached, [], "what is let go was never had before")
        try expect(try await transaction.targets("Note", new[1], "person"), [], "a link that is undone")
    }

    private static func several(_ transaction: any StoreTransaction) async throws {
        let boxes = try await transaction.put("Box", ["id": 1], ["id": 2]).ids
        let makers = try await transaction.put("Maker", ["id": 1], ["id": 2]).ids
        let relationships = [
            try transaction.relationship("Thing", "box"), try transaction.relationship("Thing", "maker"),
        ]
        func merge(_ ids: [Int64], _ targets: [[ObjectID?]]) async throws -> MergeRequest.Result {
            let batch = try ConformanceModel.batch("Thing", ids.map { ["id": .int($0)] }, of: transaction.model)
            let links = zip(relationships, targets).map { MergeRequest.InitialLinks($0, targets: $1) }
            let result = try await transaction.merge(MergeRequest(batch), linking: links)
            // A store may know fewer links, but must not report wrong ones.
            for (number, relationship) in relationships.enumerated() {
                for (row, object) in result.objects.enumerated() {
                    guard let object, result.isLinked(row: row, by: number) else { continue }
                    let linked = try await transaction.links(relationship, of: [object]).map(\.target)
                    try expect(
                        linked, targets[number][row].map { [$0] } ?? [], "the link that a row is said to have")
                }
            }
            return result
        }
        let first = try await merge([1, 2, 3], [[boxes[0], nil, boxes[1]], [makers[0], makers[1], nil]])
        try expect(
            (0..<3).map { first.isLinked(row: $0, by: 0) }, [true, true, true], "the first links of new objects")
        let second = try await merge(
            [1, 2, 3, 4], [[boxes[0], boxes[0], nil, boxes[1]], [makers[1], makers[1], nil, nil]])
        try expect(second.changes, [.unchanged, .unchanged, .unchanged, .inserted], "what became of the rows")
        for row in [1, 2] {
            try expect(second.isLinked(row: row, by: 0), false, "a link that an object does not have")
        }
        try expect(second.isLinked(row: 0, by: 1), false, "another link than the object has")
    }

    private static func initialOrder(_ transaction: any StoreTransaction) async throws {
        let books = try await transaction.put("Book", ["id": 1], ["id": 2]).ids
        let links = MergeRequest.InitialLinks(
            try transaction.relationship("Page", "book"),
            targets: [books[1], books[0], nil, books[1], books[0], books[1]])
        let texts: [AttributeValue] = ["a", "b", "c", "d", "e", "f"]
        let batch = try ConformanceModel.batch("Page", texts.map { ["text": $0] }, of: transaction.model)
        let pages = try await transaction.merge(MergeRequest(batch), linking: [links]).ids
        try expect(try await transaction.targets("Book", books[0], "pages"), [pages[1], pages[4]], "two pages")
        try expect(
            try await transaction.targets("Book", books[1], "pages"), [pages[0], pages[3], pages[5]], "three pages")
        try expect(try await transaction.targets("Page", pages[2], "book"), [], "a page without a book")
        let order = [pages[5], pages[2], pages[0]]
        try expect(
            try await transaction.tie("Book", books[1], "pages", order).changed, [books[1]], "another order")
        try expect(try await transaction.targets("Book", books[1], "pages"), order, "the order then")
        try await transaction.tie("Book", books[0], "pages", [pages[3]], .add)
        try expect(
            try await transaction.targets("Book", books[0], "pages"), [pages[1], pages[4], pages[3]],
            "a page at the end")
    }

    private static func new(_ store: any Store) async throws {
        let names = ["notes", "tags", "badge", "company", "favourite"]
        for (index, (name, areTargetsNew)) in names.flatMap({ [($0, true), ($0, false)] }).enumerated() {
            let number = Int64(index)
            let place = "the new objects of \(name), with \(areTargetsNew ? "new" : "other") targets"
            try await store.transaction { transaction in
                let people = try await transaction.put(
                    "Person", key(of: "Person", number * 2), key(of: "Person", number * 2 + 1)
                ).ids
                let relationship = try transaction.relationship("Person", name)
                let destination = transaction.model.layouts[relationship.destination].name
                let targets = try await transaction.put(
                    destination, key(of: destination, 21 + number), key(of: destination, 31 + number)
                ).ids
                let stated = relationship.isToMany ? targets.reversed() : [targets[1]]
                let other = try await transaction.put("Person", key(of: "Person", 900 + number)).ids[0]
                if !areTargetsNew { try await transaction.tie("Person", other, name, stated) }
                var batch = LinkBatch(relationship, mode: .replace)
                (batch.hasNewSources, batch.hasNewTargets) = (true, areTargetsNew)
                batch.append(people[0], to: stated)
                batch.append(people[1], to: [])
                try expect(try await transaction.link(batch).changed, [people[0]], "\(place) that changed")
                let wanted = relationship.isOrdered ? stated : stated.sorted()
                let isShared = transaction.model.inverse(of: relationship)?.isToMany != false
                try expect(
                    try await transaction.targets("Person", other, name), isShared && !areTargetsNew ? wanted : [],
                    "\(place): what another has then")
                try expect(try await transaction.targets("Person", people[0], name), wanted, place)
                try expect(try await transaction.targets("Person", people[1], name), [], "\(place) without a link")
                batch.hasNewSources = false
                batch.hasNewTargets = false
                try expect(try await transaction.link(batch).changed, [], "\(place) the second time")
            }
        }
    }

    private static func ordered(_ transaction: any StoreTransaction) async throws {
        let person = try await transaction.put("Person", ["id": 1]).ids[0]
        let tags = try await transaction.put("Tag", ["name": "a"], ["name": "b"], ["name": "c"]).ids
        try await transaction.tie("Person", person, "tags", [tags[2], tags[0], tags[1]])
        try expect(
            try await transaction.targets("Person", person, "tags"), [tags[2], tags[0], tags[1]], "the order")
        let result = try await transaction.tie("Person", person, "tags", [tags[0], tags[2]])
        try expect(result.changed, [person], "another order is a change")
        try expect(result.detached, [tags[1]], "what is let go")
        try expect(try await transaction.targets("Person", person, "tags"), [tags[0], tags[2]], "the order then")
    }

    private static func modes(_ transaction: any StoreTransaction) async throws {
        let person = try await transaction.put("Person", ["id": 1]).ids[0]
        let tags = try await transaction.put("Tag", ["name": "a"], ["name": "b"], ["name": "c"]).ids
        try await transaction.tie("Person", person, "tags", [tags[1]])
        try await transaction.tie("Person", person, "tags", [tags[2], tags[1], tags[0]], .add)
        try expect(
            try await transaction.targets("Person", person, "tags"), [tags[1], tags[2], tags[0]], "links added")
        let result = try await transaction.tie("Person", person, "tags", [tags[0], tags[1]], .retain)
        try expect(result.detached, [tags[2]], "what is let go")
        try expect(try await transaction.targets("Person", person, "tags"), [tags[1], tags[0]], "links retained")
    }

    private static func oneToOne(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        let badges = try await transaction.put("Badge", ["suit": "a", "value": 1], ["suit": "b", "value": 1]).ids
        try await transaction.tie("Person", people[0], "badge", [badges[0]])
        try await transaction.tie("Person", people[1], "badge", [badges[0]])
        try expect(try await transaction.targets("Person", people[0], "badge"), [], "who had it before")
        try await transaction.tie("Person", people[1], "badge", [badges[1]])
        try expect(try await transaction.targets("Badge", badges[0], "owner"), [], "what was had before")
        try expect(try await transaction.targets("Badge", badges[1], "owner"), [people[1]], "the owner")
    }

    private static func symmetric(_ transaction: any StoreTransaction) async throws {
        let people = try await transaction.put("Person", ["id": 1], ["id": 2], ["id": 3]).ids
        try await transaction.tie("Person", people[0], "friends", [people[1], people[2]])
        try expect(try await transaction.targets("Person", people[1], "friends"), [people[0]], "a friend's friends")
        try await transaction.tie("Person", people[1], "friends", [])
        try expect(try await transaction.targets("Person", people[0], "friends"), [people[2]], "friends left")
    }

    private static func announced(_ store: any Store) async throws {
        for (name, destination) in [("notes", "Note"), ("tags", "Tag"), ("friends", "Person"), ("company", "Company")] {
            // A company cannot be deleted while it has people.
            for change in ["none", "links", "removal", "transaction"] where (name, change) != ("company", "removal") {
                let place = "\(name) after a change of kind \(change)"
                let (people, targets) = try await store.transaction { transaction in
                    let people = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
                    let targets = try await transaction.put(
                        destination, key(of: destination, 11), key(of: destination, 12)
                    ).ids
                    for person in people { try await transaction.tie("Person", person, name, []) }
                    try await transaction.tie("Person", people[0], name, [targets[0]])
                    return (people, targets)
                }
                @Sendable func announce(_ transaction: any StoreTransaction) async throws {
                    let rows = [key(of: destination, 11), key(of: destination, 12)]
                    var request = MergeRequest(
                        try ConformanceModel.batch(destination, rows, of: transaction.model))
                    request.linkedNext = MergeRequest.LinkSources(
                        try transaction.relationship("Person", name), objects: people + [4711])
                    _ = try await transaction.merge(request)
                }
                if change == "transaction" { try await store.transaction { try await announce($0) } }
                try await store.transaction { transaction in
                    if change != "transaction" { try await announce(transaction) }
                    switch change {
                    case "links": try await transaction.tie("Person", people[0], name, [])
                    case "removal":
                        _ = try await transaction.remove(
                            StoreQuery(destination, objects: .only([targets[0]])), reportsKeys: false)
                    default: break
                    }
                    var links = LinkBatch(try transaction.relationship("Person", name), mode: .replace)
                    links.append(people[0], to: [targets[1]])
                    links.append(people[1], to: [])
                    links.append(4711, to: [targets[1]])
                    try expect(
                        try await transaction.link(links).changed, [people[0]], "the sources that changed: \(place)")
                    try expect(try await transaction.targets("Person", people[0], name), [targets[1]], "\(place)")
                    try expect(try await transaction.link(links).changed, [], "the second time: \(place)")
                }
            }
        }
    }

    private static func current(_ transaction: any StoreTransaction) async throws {
        let companies = try await transaction.put("Company", ["id": 1], ["id": 2]).ids
        let people = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        /// Reads the links after a merge that finds the people, and after a change.
        func check(
            _ expected: [ObjectID], _ place: String, after change: () async throws -> Void = {}
        ) async throws {
            let merged = try await transaction.put("Person", ["id": 2], ["id": 1]).ids
            try expect(merged, people.reversed(), "the people found: \(place)")
            try await change()
            try expect(try await transaction.targets("Person", people[0], "company"), expected, place)
            try expect(try await transaction.targets("Person", people[1], "company"), [], "the other: \(place)")
        }
        try await check([], "without a link")
        try await check([companies[0]], "linked") {
            try await transaction.tie("Person", people[0], "company", [companies[0]])
        }
        try await check([companies[0]], "nothing changed")
        try await check([companies[1]], "linked from the other end") {
            try await transaction.tie("Company", companies[1], "people", [people[0]])
        }
        try await check([companies[1]], "values changed") {
            _ = try await transaction.put("Person", ["id": 1, "name": "Ada"])
        }
        try await check([], "unlinked from the other end") {
            try await transaction.tie("Company", companies[1], "people", [])
        }
        try await check([companies[1]], "linked again") {
            try await transaction.tie("Person", people[0], "company", [companies[1]])
        }
        try await check([], "removed") {
            _ = try await transaction.remove(
                StoreQuery("Person", objects: .only([people[0]])), reportsKeys: false)
        }
        let again = try await transaction.put("Person", ["id": 1], ["id": 2]).ids
        try expect(try await transaction.targets("Person", again[0], "company"), [], "inserted again")
    }

    private static func key(of entity: String, _ number: Int64) -> [String: AttributeValue] {
        switch entity {
        case "Tag": ["name": .string("\(number)")]
        case "Badge": ["suit": "a", "value": .int(number)]
        default: ["id": .int(number)]
        }
    }

    private static func unknown(_ transaction: any StoreTransaction) async throws {
        let person = try await transaction.put("Person", ["id": 1]).ids[0]
        let tags = try await transaction.put("Tag", ["name": "a"], ["name": "b"]).ids
        try await transaction.tie("Person", person, "tags", [tags[1], 4711, tags[0], tags[1]])
        try expect(try await transaction.targets("Person", person, "tags"), [tags[1], tags[0]], "targets")
        try expect(try await transaction.tie("Person", 4711, "tags", tags).changed, [], "a source that is none")
        try expect(try await transaction.targets("Person", 4711, "tags"), [], "its targets")
    }
}
