import SyncModel
import SyncStore

/// Checks of the changes that an `ObservedStore` around the store reports.
enum ChangeChecks {
    static let all: [(String, StoreConformance.Check)] = [
        ("what a transaction changed is told after its commit", changes),
        ("the number of a deleted object is no key of an updated one", numbers),
    ]

    private static func changes(_ base: any Store) async throws {
        let store = ObservedStore(base)
        var seen = store.changes().makeAsyncIterator()
        let (people, notes) = try await store.transaction { transaction in
            let people = try await transaction.put("Person", ["id": 1], ["id": 2], ["id": 3]).ids
            let notes = try await transaction.put("Note", ["id": 1], ["id": 2]).ids
            try await transaction.tie("Person", people[0], "notes", notes)
            return (people, notes)
        }
        try expect(
            await seen.next(),
            ChangeSet([
                "Person": ChangeSet.Keys(inserted: [.identity(1), .identity(2), .identity(3)]),
                "Note": ChangeSet.Keys(inserted: [.identity(1), .identity(2)]),
            ]), "what was inserted")
        try await store.transaction { transaction in
            // 1 is deleted with its notes, 2 changes, 3 has a note for a moment, 4 is inserted, and
            // 5 is inserted and deleted.
            try await transaction.tie("Person", people[2], "notes", [notes[1]])
            try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 1))
            try await transaction.remove(StoreQuery("Note", where: PropertyPath("id") == 2))
            try await transaction.put("Person", ["id": 22], matches: [.object(people[1])])
            try await transaction.put("Person", ["id": 4], ["id": 5], ["id": 3])
            try await transaction.put("Person", ["id": 4, "name": "d"])
            try await transaction.remove(StoreQuery("Person", where: PropertyPath("id") == 5))
        }
        try expect(
            await seen.next(),
            ChangeSet([
                "Person": ChangeSet.Keys(
                    inserted: [.identity(22), .identity(4)], updated: [.identity(3)],
                    deleted: [.identity(1), .identity(2)]),
                "Note": ChangeSet.Keys(deleted: [.identity(1), .identity(2)]),
            ]), "what was changed")
    }

    /// A store may reuse the number of a deleted object.
    private static func numbers(_ base: any Store) async throws {
        let store = ObservedStore(base)
        var seen = store.changes().makeAsyncIterator()
        func keys(_ objects: [ObjectID]) -> Set<Record.Key> { Set(objects.map { .object($0) }) }
        let old = try await store.transaction { transaction in
            try await transaction.put("Event", ["text": "a"], ["text": "b"], ["text": "c"]).ids
        }
        try expect(await seen.next(), ChangeSet(["Event": .init(inserted: keys(old))]), "what was inserted")
        let new = try await store.transaction { transaction in
            try await transaction.remove(StoreQuery("Event", objects: .only(Array(old.dropFirst()))))
            let passing = try await transaction.put("Event", ["text": "d"]).ids
            try await transaction.remove(StoreQuery("Event", objects: .only(passing)))
            return try await transaction.put("Event", ["text": "e"], ["text": "f"]).ids
        }
        let expected = ChangeSet(["Event": .init(inserted: keys(new), deleted: keys(Array(old.dropFirst())))])
        try expect(await seen.next(), expected, "what was replaced")
        try expect(try await store.count(StoreQuery("Event")), 3, "events")
    }
}
