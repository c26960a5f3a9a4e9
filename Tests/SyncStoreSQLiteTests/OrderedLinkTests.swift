import OneWayTestLimits
import SyncModel
import SyncStore
import SyncStoreSQLite
import Testing

/// Many-to-many relationships that have an order on both sides.
@Suite(.endsInTime) struct OrderedLinkTests {
    private let store: SQLiteStore
    private let songs: [ObjectID]
    private let lists: [ObjectID]

    init() async throws {
        let model = try DataModel {
            SyncEntity("List", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("songs", toOrdered: "Song", inverse: "lists")
            }
            SyncEntity("Song", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lists", toOrdered: "List", inverse: "songs")
            }
        }
        let store = try await SQLiteStore(exactly: model, at: .memory)
        self.store = store
        lists = try await Self.insert("List", 0..<4, into: store)
        songs = try await Self.insert("Song", 0..<4, into: store)
    }

    private static func insert(_ entity: String, _ ids: Range<Int>, into store: SQLiteStore) async throws -> [ObjectID]
    {
        var batch = RecordBatch(of: try store.model.layout(of: entity))
        for id in ids {
            batch.beginRecord()
            batch.setInt(Int64(id), at: 0)
            batch.endRecord()
        }
        let request = MergeRequest(batch)
        return try await store.transaction { try await $0.merge(request).objects.compactMap { $0 } }
    }

    private func link(_ list: Int, to targets: [Int], mode: LinkBatch.Mode = .replace) async throws {
        var batch = LinkBatch(store.model.layouts[0].relationships[0], mode: mode)
        batch.append(lists[list], to: targets.map { songs[$0] })
        let links = batch
        _ = try await store.transaction { try await $0.link(links) }
    }

    private func links(ofEntity place: Int, _ source: ObjectID) async throws -> [ObjectID] {
        let relationship = store.model.layouts[place].relationships[0]
        return try await store.read { try await $0.links(relationship, of: [source]) }.map(\.target)
    }

    @Test func whatIsLinkedLaterComesLaterOnTheOtherSide() async throws {
        try await link(2, to: [1, 0])
        try await link(0, to: [0, 1, 3])
        try await link(1, to: [1], mode: .add)
        #expect(try await links(ofEntity: 0, lists[2]) == [songs[1], songs[0]])
        #expect(try await links(ofEntity: 0, lists[0]) == [songs[0], songs[1], songs[3]])
        #expect(try await links(ofEntity: 1, songs[1]) == [lists[2], lists[0], lists[1]])
        #expect(try await links(ofEntity: 1, songs[0]) == [lists[2], lists[0]])
        // Another order of the one side leaves that of the other.
        try await link(2, to: [0, 3, 1])
        #expect(try await links(ofEntity: 0, lists[2]) == [songs[0], songs[3], songs[1]])
        #expect(try await links(ofEntity: 1, songs[1]) == [lists[2], lists[0], lists[1]])
        #expect(try await links(ofEntity: 1, songs[3]) == [lists[0], lists[2]])
        let places = try await store.sql { reader in
            try await reader.rows(
                "SELECT max(position) AS p, count(inverse_position) AS i, count(*) AS n FROM List_songs")
        }
        #expect(places == [["p": 2, "i": 7, "n": 7]])
    }

    /// Owners with items in an order.
    private static func ownedItems() throws -> DataModel {
        try DataModel {
            SyncEntity("Owner", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("items", toOrdered: "Item", inverse: "owner")
            }
            SyncEntity("Item", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("owner", toOne: "Owner", inverse: "items")
            }
        }
    }

    /// New objects are in the order of their rows, whatever their numbers are.
    @Test func objectsThatAreInsertedWithLinksHavePlaces() async throws {
        let model = try Self.ownedItems()
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let owners = try await Self.insert("Owner", 0..<2, into: store)
        let items = try #require(model["Owner"]?.relationship("items"))
        let layout = try model.layout(of: "Item")
        var batch = RecordBatch(of: layout)
        for id in [7, 3, 5, 4, 6] as [Int64] {
            batch.beginRecord()
            batch.setInt(id, at: 0)
            batch.endRecord()
        }
        let request = MergeRequest(batch)
        let links = MergeRequest.InitialLinks(
            try #require(layout.relationship("owner")), targets: [owners[0], owners[1], owners[0], nil, owners[0]])
        let objects = try await store.transaction {
            try await $0.merge(request, linking: [links]).objects.compactMap { $0 }
        }
        let found = try await store.read { try await $0.links(items, of: owners) }
        #expect(found.filter { $0.source == owners[0] }.map(\.target) == [objects[0], objects[2], objects[4]])
        let column = try #require(store.positionColumn(of: "items", in: "Owner"))
        let places = try await store.sql { try await $0.rows("SELECT \(column) AS p FROM Item ORDER BY _id") }
        #expect(places == [["p": 0], ["p": 0], ["p": 1], ["p": .null], ["p": 2]])
    }

    /// More links than one statement writes.
    @Test func anObjectCanHaveAnyNumberOfLinks() async throws {
        let many = try await Self.insert("Song", 4..<20_004, into: store)
        func link(_ list: Int, to targets: [ObjectID]) async throws {
            var batch = LinkBatch(store.model.layouts[0].relationships[0], mode: .replace)
            batch.append(lists[list], to: targets)
            let links = batch
            _ = try await store.transaction { try await $0.link(links) }
        }
        try await link(0, to: many.reversed())
        try await link(1, to: many)
        #expect(try await links(ofEntity: 0, lists[0]) == many.reversed())
        #expect(try await links(ofEntity: 0, lists[1]) == many)
        for song in [many[0], many[10_000], many[19_999]] {
            #expect(try await links(ofEntity: 1, song) == [lists[0], lists[1]])
        }
        try await link(0, to: [many[17], many[3]])
        #expect(try await links(ofEntity: 0, lists[0]) == [many[17], many[3]])
        #expect(try await links(ofEntity: 1, many[5]) == [lists[1]])
    }

    @Test func objectsOfOneOwnerHaveItsOrder() async throws {
        let model = try Self.ownedItems()
        let store = try await SQLiteStore(exactly: model, at: .memory)
        let items = model.layouts[0].relationships[0]
        func link(_ relationship: EntityLayout.Relationship, _ source: ObjectID, to targets: [ObjectID]) async throws {
            var batch = LinkBatch(relationship, mode: .replace)
            batch.append(source, to: targets)
            let links = batch
            _ = try await store.transaction { try await $0.link(links) }
        }
        func itemsOfOwner() async throws -> [ObjectID] {
            try await store.read { try await $0.links(items, of: [1]) }.map(\.target)
        }
        _ = try await store.transaction { transaction in
            for (entity, count) in [("Owner", 1), ("Item", 5)] {
                for id in 0..<count {
                    var record = Record(of: try model.layout(of: entity))
                    record["id"] = .int(Int64(id))
                    _ = try await transaction.insert(record)
                }
            }
        }
        try await link(items, 1, to: [4, 2, 5])
        #expect(try await itemsOfOwner() == [4, 2, 5])
        try await link(items, 1, to: [5, 4, 2])
        #expect(try await itemsOfOwner() == [5, 4, 2])
        // From the other side they come last, one after the other.
        try await link(model.layouts[1].relationships[0], 3, to: [1])
        try await link(model.layouts[1].relationships[0], 1, to: [1])
        #expect(try await itemsOfOwner() == [5, 4, 2, 3, 1])
        try await link(model.layouts[1].relationships[0], 4, to: [])
        #expect(try await itemsOfOwner() == [5, 2, 3, 1])
    }
}
