import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import SyncStoreSQL
import Testing

/// Relationships of a file that is opened with another model.
@Suite(.endsInTime) struct MigrationRelationshipTests {
    private let world: MigrationWorld

    init() throws {
        world = try MigrationWorld()
    }

    @Test func newRelationshipsLeadNowhereAndCanBeFilled() async throws {
        try await world.fill(DataModel.people(), #"[{"id":1,"name":"a"},{"id":2}]"#)
        let store = try await world.open(
            DataModel.people {
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toOrdered: "Person", inverse: "boss")
                SyncRelationship("friends", toMany: "Person", inverse: "friends")
            })
        let nowhere = "boss = null and staff.@count = 0 and friends.@count = 0"
        #expect(try await world.rows(store, where: nowhere) == [1, 2])
        try await world.sync(#"[{"id":1,"friends_ids":[2]},{"id":2,"boss_id":1}]"#, into: store)
        #expect(try await world.rows(store, where: "boss.id = 1 and friends.@count = 1") == [2])
    }

    @Test func droppedRelationshipsTakeTheirColumnsAndTablesWithThem() async throws {
        let before = try DataModel.people {
            SyncRelationship("boss", toOne: "Person")
            SyncRelationship("friends", toMany: "Person")
        }
        try await world.fill(before, #"[{"id":1},{"id":2,"boss_id":1,"friends_ids":[1]}]"#)
        #expect(try world.tables() == ["Person", "Person_friends"])
        // They may belong to a newer version of the model, unless this one says that it is newer.
        _ = try await world.open(.people())
        #expect(try world.tables() == ["Person", "Person_friends"])
        let store = try await world.open(.people(), version: 1)
        #expect(try world.tables() == ["Person"])
        #expect(try world.columns("Person") == ["_id", "id", "name"])
        #expect(try await world.rows(store) == [1, 2])
    }

    @Test func renamedRelationshipsKeepTheirLinks() async throws {
        let before = try DataModel.people {
            SyncRelationship("boss", toOne: "Person", inverse: "staff")
            SyncRelationship("staff", toMany: "Person", inverse: "boss")
            SyncRelationship("friends", toOrdered: "Person")
        }
        try await world.fill(before, #"[{"id":1},{"id":2,"boss_id":1,"friends_ids":[3,1]},{"id":3}]"#)
        let store = try await world.open(
            DataModel.people {
                SyncRelationship("leader", toOne: "Person", inverse: "team", formerName: "boss")
                SyncRelationship("team", toMany: "Person", inverse: "leader", formerName: "staff")
                SyncRelationship("mates", toOrdered: "Person", formerName: "friends")
            })
        #expect(try await world.rows(store, where: "leader.id = 1") == [2])
        let stored = try await store.store.records(
            StoreQuery("Person", where: PropertyPath("id") == 2), with: ["mates"])
        #expect(stored.first?.record[related: "mates"] == .many([.identity(3), .identity(1)]))
        #expect(try world.tables() == ["Person", "Person_mates"])
    }

    @Test(arguments: [
        SyncRelationship("other", toMany: "Person"), SyncRelationship("other", toOrdered: "Person"),
    ])
    func aRelationshipOfAnotherKindIsRefused(relationship: SyncRelationship) async throws {
        try await world.fill(
            DataModel.people { SyncRelationship("other", toOne: "Person") }, #"[{"id":1,"other_id":1}]"#)
        try await world.expectRefusal(.changedRelationship(entity: "Person", relationship: "other")) {
            try DataModel.people { relationship }
        }
    }

    @Test func aRelationshipThatLeadsElsewhereIsRefused() async throws {
        let tag = SyncEntity("Tag", identity: "id") { SyncAttribute("id", .int64) }
        let before = try DataModel.people(with: [tag]) { SyncRelationship("other", toOne: "Person") }
        try await world.fill(before, #"[{"id":1,"other_id":1}]"#)
        try await world.expectRefusal(.changedRelationship(entity: "Person", relationship: "other")) {
            try DataModel.people(with: [tag]) { SyncRelationship("other", toOne: "Tag") }
        }
    }

    @Test func aRelationshipIsOrderedFromThenOn() async throws {
        try await world.fill(
            DataModel.people { SyncRelationship("friends", toMany: "Person") },
            #"[{"id":1,"friends_ids":[2,3]},{"id":2},{"id":3}]"#)
        let store = try await world.open(
            DataModel.people { SyncRelationship("friends", toOrdered: "Person") })
        let names = ["friends"]
        let found = try await store.store.records(StoreQuery("Person", where: PropertyPath("id") == 1), with: names)
        #expect(Set(found.first?.record[related: "friends"]?.keys ?? []) == [.identity(2), .identity(3)])
        try await world.sync(#"[{"id":1,"friends_ids":[3,2]},{"id":2},{"id":3}]"#, into: store)
        let then = try await store.store.records(StoreQuery("Person", where: PropertyPath("id") == 1), with: names)
        #expect(then.first?.record[related: "friends"] == .many([.identity(3), .identity(2)]))
    }
}
