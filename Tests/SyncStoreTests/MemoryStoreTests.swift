import OneWayStoreTestSupport
import OneWayTestLimits
import SyncBase
import SyncModel
import SyncStore
import SyncStoreTesting
import Testing

@Suite(.endsInTime) struct MemoryStoreTests {
    private let store: MemoryStore

    init() throws {
        var team = SyncEntity("Team", identity: "id") {
            SyncAttribute("id", .int64)
            SyncAttribute("code", .string)
            SyncRelationship("members", toMany: "Person", inverse: "team")
            SyncRelationship("queue", toOrdered: "Person", inverse: "waitsFor")
            SyncRelationship("friends", toMany: "Team")
        }
        team.indexes = [SyncEntity.Index(["code"], unique: true)]
        let person = SyncEntity("Person", identity: "id") {
            SyncAttribute("id", .int64)
            SyncRelationship("team", toOne: "Team", inverse: "members")
            SyncRelationship("waitsFor", toOne: "Team", inverse: "queue")
        }
        let child = SyncEntity("Child", parent: "Person") { SyncAttribute("age", .int64) }
        let adult = SyncEntity("Adult", parent: "Person") { SyncAttribute("job", .string) }
        store = MemoryStore(exactly: try DataModel([team, person, child, adult]))
    }

    @Test func isAStore() async throws {
        try await StoreConformance.check { MemoryStore(exactly: $0) }
    }

    /// Inserts an object, and returns its number.
    @discardableResult
    private func insert(_ entity: String, _ id: Int64, _ values: [String: AttributeValue] = [:]) async throws
        -> ObjectID
    {
        var record = Record(of: try store.model.layout(of: entity))
        record["id"] = .int(id)
        for (name, value) in values { record[name] = value }
        return try await store.transaction { [record] in try await $0.insert(record) }
    }

    private func relationship(_ entity: String, _ name: String) throws -> EntityLayout.Relationship {
        try #require(try store.model.layout(of: entity).relationship(name))
    }

    @discardableResult
    private func link(_ source: ObjectID, _ entity: String, _ name: String, to targets: [ObjectID]) async throws
        -> LinkBatch.Result
    {
        var batch = LinkBatch(try relationship(entity, name), mode: .replace)
        batch.append(source, to: targets)
        return try await store.transaction { [batch] in try await $0.link(batch) }
    }

    private func targets(of source: ObjectID, _ entity: String, _ name: String) async throws -> [ObjectID] {
        let relationship = try relationship(entity, name)
        return try await store.read { try await $0.links(relationship, of: [source]).map(\.target) }
    }

    @Test func objectsJoinAnUnorderedListByNumberAndAnOrderedOneAtItsEnd() async throws {
        let team = try await insert("Team", 1)
        var people: [ObjectID] = []
        for id in 1...4 { people.append(try await insert("Person", Int64(id))) }
        for index in [2, 0, 3, 1] {
            try await link(people[index], "Person", "team", to: [team])
            try await link(people[index], "Person", "waitsFor", to: [team])
        }
        #expect(try await targets(of: team, "Team", "members") == people)
        #expect(try await targets(of: team, "Team", "queue") == [2, 0, 3, 1].map { people[$0] })
        // Those who leave take nobody's place.
        try await link(people[0], "Person", "team", to: [])
        try await link(people[0], "Person", "waitsFor", to: [])
        #expect(try await targets(of: team, "Team", "members") == [1, 2, 3].map { people[$0] })
        #expect(try await targets(of: team, "Team", "queue") == [2, 3, 1].map { people[$0] })
        let again = try await link(team, "Team", "members", to: [people[3], people[1], people[2]])
        #expect(again.changed == [] && again.detached == [])
    }

    @Test func aDeletedObjectIsInNoList() async throws {
        let (team, other) = (try await insert("Team", 1), try await insert("Team", 2))
        let (child, person) = (try await insert("Child", 1), try await insert("Person", 2))
        try await link(team, "Team", "members", to: [child, person])
        try await link(team, "Team", "queue", to: [person, child])
        try await link(team, "Team", "friends", to: [other, team])
        try await store.transaction { try await $0.remove(StoreQuery("Person", objects: .only([child]))) }
        #expect(try await targets(of: team, "Team", "members") == [person])
        #expect(try await targets(of: team, "Team", "queue") == [person])
        try await store.transaction { try await $0.remove(StoreQuery("Team", objects: .only([other]))) }
        #expect(try await targets(of: team, "Team", "friends") == [team])
        try await store.transaction { try await $0.remove(StoreQuery("Team", objects: .only([team]))) }
        #expect(try await targets(of: person, "Person", "team") == [])
        #expect(try await targets(of: person, "Person", "waitsFor") == [])
        #expect(try await targets(of: team, "Team", "friends") == [])
    }

    @Test func valuesOfAUniqueIndexAreTakenUntilTheirObjectChangesOrGoes() async throws {
        let first = try await insert("Team", 1, ["code": "a"])
        try await insert("Team", 2, ["code": "b"])
        // Null is not a value.
        try await insert("Team", 3)
        try await insert("Team", 4)
        await #expect {
            try await insert("Team", 5, ["code": "a"])
        } throws: {
            $0.isTaken(["code"], of: "Team")
        }
        try await insert("Team", 1, ["code": "c"])
        try await insert("Team", 5, ["code": "a"])
        await #expect {
            try await insert("Team", 2, ["code": "c"])
        } throws: {
            $0.isTaken(["code"], of: "Team")
        }
        try await store.transaction { try await $0.remove(StoreQuery("Team", objects: .only([first]))) }
        try await insert("Team", 2, ["code": "c"])
        let codes = try await store.records(StoreQuery("Team", orderedBy: [Ordering("id")])).map { $0.record["code"] }
        #expect(codes == ["c", .null, .null, "a"])
    }

    @Test func ofObjectsOfTwoEntitiesWithOneIdentityTheFirstIsFound() async throws {
        let child = try await insert("Child", 1)
        let adult = try await insert("Adult", 1)
        let (later, earlier) = (try await insert("Adult", 2), try await insert("Child", 2))
        #expect(child < adult && later < earlier)
        #expect(try await store.record("Person", key: .identity(1))?.object == child)
        #expect(try await store.record("Person", key: .identity(2))?.object == later)
        #expect(try await store.record("Adult", key: .identity(1))?.object == adult)
        var records = RecordBatch(of: try store.model.layout(of: "Person"))
        for id in 1...3 {
            records.beginRecord()
            records.setValue(.int(Int64(id)), at: 0)
            records.endRecord()
        }
        let found = try await store.transaction { [records] in try await $0.find(records) }
        #expect(found == [child, later, nil])
        // An object of the entity itself is found before those of others.
        let person = try await insert("Adult", 3)
        #expect(try await store.record("Person", key: .identity(3))?.object == person)
    }

    @Test func nothingIsReadOrWrittenAfterAChangeFailed() async throws {
        let first = try await insert("Team", 1, ["code": "a"])
        let second = try await insert("Team", 2)
        let taken = StoreError.identityTaken(entity: "Team")
        var record = Record(of: try store.model.layout(of: "Team"))
        record["id"] = 1
        let relationship = try relationship("Team", "members")
        var other = Record(of: record.layout)
        other["id"] = 2
        var batch = LinkBatch(relationship, mode: .replace)
        batch.append(first, to: [])
        let uses: [@Sendable (any StoreTransaction) async throws -> Void] = [
            { [record] in _ = try await $0.update(second, to: record) },
            { [other] in _ = try await $0.insert(other) },
            { [batch] in _ = try await $0.link(batch) },
            { _ = try await $0.remove(StoreQuery("Team")) },
            { _ = try await $0.count(StoreQuery("Team")) },
            { _ = try await $0.records(StoreQuery("Team")) },
            { _ = try await $0.links(relationship, of: [first]) },
            { _ = try await $0.rows(StoreSelection(StoreQuery("Team"), columns: [.object])) },
        ]
        let errors = Locked<[StoreError?]>([])
        do {
            try await store.transaction { transaction in
                for use in uses {
                    do { try await use(transaction) } catch { errors.withLock { $0.append(error as? StoreError) } }
                }
            }
            Issue.record("a transaction whose change failed was committed")
        } catch { #expect(error as? StoreError == taken) }
        #expect(errors.withLock { $0 } == uses.map { _ in taken })
        #expect(try await store.count(StoreQuery("Team")) == 2)
    }

    @Test func aConditionThatNothingFulfilsFindsNothing() async throws {
        let team = try await insert("Team", 1)
        for predicate in [RecordPredicate.constant(false), .and([.constant(false), .constant(true)])] {
            #expect(try await store.records(StoreQuery("Team", where: predicate)).isEmpty)
            #expect(try await store.count(StoreQuery("Team", where: predicate)) == 0)
            let removed = try await store.transaction { try await $0.remove(StoreQuery("Team", where: predicate)) }
            #expect(removed.counts.isEmpty)
        }
        #expect(try await store.records(StoreQuery("Team", where: .constant(true))).map(\.object) == [team])
    }

    /// Each of the two entities denies the deletion of the other's objects.
    @Test func entitiesThatDenyEachOthersDeletionAreErased() async throws {
        let store = MemoryStore(
            exactly:
                try DataModel {
                    SyncEntity("Egg", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("hen", toOne: "Hen", inverse: "eggs", deleteRule: .deny)
                    }
                    SyncEntity("Hen", identity: "id") {
                        SyncAttribute("id", .int64)
                        SyncRelationship("eggs", toMany: "Egg", inverse: "hen", deleteRule: .deny)
                    }
                })
        try await store.transaction { transaction in
            for name in ["Egg", "Hen"] {
                var record = Record(of: try transaction.model.layout(of: name))
                record["id"] = 1
                try await transaction.insert(record)
            }
            var batch = LinkBatch(
                try #require(try transaction.model.layout(of: "Egg").relationship("hen")), mode: .replace)
            batch.append(1, to: [1])
            _ = try await transaction.link(batch)
        }
        await #expect(throws: StoreError.deletionDenied(entity: "Hen", relationship: "eggs")) {
            try await store.transaction { try await $0.remove(StoreQuery("Hen")) }
        }
        try await store.transaction { try await $0.erase() }
        for layout in store.model.layouts { #expect(try await store.count(StoreQuery(layout.name)) == 0) }
    }

    /// The index of the identities has neither nulls nor values of other types.
    @Test func predicatesFindWhatTheIndexOfIdentitiesLacks() async throws {
        let one = try await insert("Person", 1)
        let nameless = try await store.transaction { transaction in
            try await transaction.insert(Record(of: try transaction.model.layout(of: "Person")))
        }
        func found(_ predicate: RecordPredicate) async throws -> [ObjectID] {
            try await store.records(StoreQuery("Person", where: predicate)).map(\.object)
        }
        #expect(try await found(PropertyPath("id") == 1) == [one])
        #expect(try await found(PropertyPath("id") == 1.0) == [one])
        #expect(try await found(PropertyPath("id").isIn([1.0, 2])) == [one])
        #expect(try await found(PropertyPath("id") == nil) == [nameless])
    }

    /// Refuses every removal for a reason of its own, and no more of them after many.
    private struct RefusesRemovals: StoreHook {
        struct IsAskedForever: Error {}

        let count = Locked(0)

        func willMake(_ call: StoreCall) throws {
            guard call == .remove else { return }
            let count = count.withLock { count in
                count += 1
                return count
            }
            guard count < 100 else { throw IsAskedForever() }
            throw StoreError.transactionEnded
        }
    }

    @Test func aStoreThatRemovesNothingIsNotErased() async throws {
        let store = HookedStore(self.store, RefusesRemovals())
        await #expect(throws: StoreError.transactionEnded) {
            try await store.transaction { try await $0.erase() }
        }
    }
}
