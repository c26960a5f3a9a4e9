import OneWayTestLimits
import SyncModel
import SyncStore
import Testing

/// What observers are told of objects that lose a target, among other changes of a transaction.
@Suite(.endsInTime) struct ObservedRemovalTests {
    private let store: ObservedStore

    init() throws {
        store = ObservedStore(
            MemoryStore(
                exactly:
                    try DataModel {
                        SyncEntity("User", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncAttribute("name", .string)
                            SyncRelationship("team", toOne: "Team", inverse: "users")
                            SyncRelationship("photos", toMany: "Photo", deleteRule: .cascade)
                            SyncRelationship("favorite", toOne: "Team")
                            SyncRelationship("boss", toOne: "User", inverse: "staff")
                            SyncRelationship("staff", toMany: "User", inverse: "boss")
                        }
                        SyncEntity("Team", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncRelationship("users", toMany: "User", inverse: "team")
                        }
                        SyncEntity("Photo", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncRelationship("marks", toMany: "Mark", inverse: "photo", deleteRule: .cascade)
                        }
                        SyncEntity("Mark", identity: "id") {
                            SyncAttribute("id", .int64)
                            SyncRelationship("photo", toOne: "Photo", inverse: "marks")
                        }
                    }))
    }

    private func put(_ entity: String, _ ids: Int64...) async throws {
        try await store.transaction { try await Self.put(entity, ids, in: $0) }
    }

    private static func put(
        _ entity: String, _ ids: [Int64], name: String = "", in transaction: any StoreTransaction
    ) async throws {
        for id in ids {
            var record = Record(of: try transaction.model.layout(of: entity))
            record["id"] = .int(id)
            if entity == "User" { record["name"] = .string(name) }
            try await transaction.insert(record)
        }
    }

    /// Relates the object of an identifier to others.
    private static func link(
        _ entity: String, _ id: Int64, _ name: String, to others: [Int64], in transaction: any StoreTransaction
    ) async throws {
        let model = transaction.model
        let relationship = try #require(try model.layout(of: entity).relationship(name))
        let destination = model.layouts[relationship.destination].name
        let source = try #require(try await transaction.record(entity, key: .identity(id))).object
        var targets: [ObjectID] = []
        for other in others {
            targets.append(try #require(try await transaction.record(destination, key: .identity(other))).object)
        }
        var batch = LinkBatch(relationship, mode: .replace)
        batch.append(source, to: targets)
        _ = try await transaction.link(batch)
    }

    private func link(_ entity: String, _ id: Int64, _ name: String, to others: [Int64]) async throws {
        try await store.transaction { try await Self.link(entity, id, name, to: others, in: $0) }
    }

    private static func remove(_ entity: String, _ id: Int64, in transaction: any StoreTransaction) async throws {
        try await transaction.remove(StoreQuery(entity, where: PropertyPath("id") == id))
    }

    private func keys(_ ids: Int64...) -> Set<Record.Key> { Set(ids.map { .identity($0) }) }

    @Test func objectsThatLoseATargetByAnInverseAreUpdated() async throws {
        try await put("Team", 1, 2)
        try await put("User", 1, 2, 3)
        try await link("Team", 1, "users", to: [1, 2])
        try await link("Team", 2, "users", to: [3])
        // Without an inverse.
        try await link("User", 3, "favorite", to: [1])
        var seen = store.changes().makeAsyncIterator()
        try await store.transaction { try await Self.remove("Team", 1, in: $0) }
        #expect(await seen.next() == ChangeSet(["Team": .init(deleted: keys(1)), "User": .init(updated: keys(1, 2))]))
        try await store.transaction { try await Self.remove("User", 3, in: $0) }
        #expect(await seen.next() == ChangeSet(["Team": .init(updated: keys(2)), "User": .init(deleted: keys(3))]))
    }

    @Test func nothingIsUpdatedIfNothingIsDeleted() async throws {
        try await put("Team", 1)
        try await put("User", 1)
        try await link("Team", 1, "users", to: [1])
        var seen = store.changes().makeAsyncIterator()
        try await store.transaction { try await Self.remove("Team", 9, in: $0) }
        try await put("Team", 2)
        #expect(await seen.next() == ChangeSet(["Team": .init(inserted: keys(2))]))
    }

    @Test func deletionsThatCascadeAreToldOfEveryEntity() async throws {
        try await put("User", 1, 2)
        try await put("Photo", 1, 2, 3)
        try await put("Mark", 1, 2, 3)
        try await link("Photo", 1, "marks", to: [1, 2])
        try await link("Photo", 3, "marks", to: [3])
        try await link("User", 1, "photos", to: [1, 2])
        try await link("User", 2, "photos", to: [3])
        var seen = store.changes().makeAsyncIterator()
        try await store.transaction { try await Self.remove("User", 1, in: $0) }
        #expect(
            await seen.next()
                == ChangeSet([
                    "User": .init(deleted: keys(1)), "Photo": .init(deleted: keys(1, 2)),
                    "Mark": .init(deleted: keys(1, 2)),
                ]))
    }

    @Test func anObjectIsInOneSetWhateverATransactionDoesToIt() async throws {
        try await put("Team", 1, 2)
        try await put("User", 1, 2, 3)
        try await link("Team", 1, "users", to: [1])
        var seen = store.changes().makeAsyncIterator()
        try await store.transaction { transaction in
            // New, and related: 4. Updated by a link: 2. Updated by a value: 3. Both: 1.
            try await Self.put("User", [4], in: transaction)
            try await Self.link("Team", 1, "users", to: [2, 4], in: transaction)
            try await Self.link("User", 4, "boss", to: [2], in: transaction)
            try await Self.link("User", 2, "favorite", to: [1], in: transaction)
            try await Self.put("User", [1, 3], name: "new", in: transaction)
            try await Self.put("Team", [3], in: transaction)
            try await Self.link("User", 1, "favorite", to: [3], in: transaction)
            try await Self.put("Team", [4], in: transaction)
            try await Self.link("Team", 4, "users", to: [4], in: transaction)
            // The new object that loses its team is only new.
            try await Self.remove("Team", 4, in: transaction)
        }
        #expect(
            await seen.next()
                == ChangeSet([
                    "Team": .init(inserted: keys(3), updated: keys(1)),
                    "User": .init(inserted: keys(4), updated: keys(1, 2, 3)),
                ]))
        // An object that was updated before its deletion is deleted with its former key.
        try await store.transaction { transaction in
            try await Self.link("Team", 2, "users", to: [3], in: transaction)
            var stored = try #require(try await transaction.record("User", key: .identity(3)))
            stored.record["id"] = 30
            try await transaction.update(stored.object, to: stored.record)
            try await Self.remove("User", 30, in: transaction)
        }
        #expect(await seen.next() == ChangeSet(["Team": .init(updated: keys(2)), "User": .init(deleted: keys(3))]))
    }

    @Test func aChangedIdentityIsADeletionAndAnInsertion() async throws {
        try await put("User", 1, 2)
        var seen = store.changes().makeAsyncIterator()
        try await store.transaction { transaction in
            for (old, new) in [(1, 10), (10, 11), (2, 20), (20, 2)] as [(Int64, Int64)] {
                var stored = try #require(try await transaction.record("User", key: .identity(old)))
                stored.record["id"] = .int(new)
                try await transaction.update(stored.object, to: stored.record)
            }
        }
        #expect(
            await seen.next()
                == ChangeSet(["User": .init(inserted: keys(11), updated: keys(2), deleted: keys(1))]))
    }
}
