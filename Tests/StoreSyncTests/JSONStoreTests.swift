import JSONMapper
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

@Suite(.endsInTime) struct JSONStoreTests {
    private static let family = """
        [{"id":1,"name":"Ada","notes":[{"id":1,"text":"a"},{"id":2,"text":"b"}],"tags":[{"name":"x"},{"name":"y"}],
          "company":{"id":7,"name":"ACME"},"address":{"city":"Paris"}},
         {"id":2,"name":"Bob","notes":[],"tags":[{"name":"y"}],"company":{"id":7},"manager_id":1}]
        """

    @Test func saysWhatWasDone() async throws {
        let world = try SyncWorld()
        let first = try await world.sync(Self.family)
        #expect(first.counts.all == [2, 0, 0, 0])
        #expect(first.countsByEntity["Note"]?.all == [2, 0, 0, 0])
        #expect(first.countsByEntity["Company"]?.all == [1, 0, 0, 0])
        #expect(first.keys?.inserted == [.identity(1), .identity(2)])
        let second = try await world.sync(#"[{"id":2,"name":"Bob"},{"id":3},{"id":4,"age":"x"}]"#)
        #expect(second.counts.all == [2, 0, 1, 1])
        #expect(second.keys?.deleted == [.identity(1)])
        #expect(second.countsByEntity["Note"]?.deleted == 2)
        #expect(second.toleratedCount == 1)
    }

    @Test func keysOfDeletedObjectsAreThoseOfAllThatAreCounted() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"reports":[{"id":2},{"id":3}]}]"#)
        let result = try await world.sync(
            #"[{"id":1,"reports":[{"id":3}]}]"#, StoreSyncOptions.Operations.all.subtracting(.delete))
        #expect(result.counts.deleted == 1)
        #expect(result.keys?.deleted == [.identity(2)])
    }

    @Test func theSameAgainWritesNothing() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let state = try await world.state()
        let again = try await world.sync(Self.family)
        #expect(again.isUnchanged)
        #expect(again.counts.unchanged == 2)
        #expect(try await world.state() == state)
    }

    @Test func aPlanIsWhatThenHappens() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let state = try await world.state()
        let change = Array(#"[{"id":1,"notes":[{"id":2}]},{"id":3,"tags":[{"name":"z"}]}]"#.utf8)
        let planned = try await world.json.plan(.bytes(change), into: "User")
        #expect(try await world.state() == state)
        #expect(try await world.json.sync(.bytes(change), into: "User") == planned)
    }

    @Test func anObjectWithoutAUsableKeyIsReported() async throws {
        let world = try SyncWorld()
        let result = try await world.sync(#"[{"id":1},{"id":null},{"name":"x"},{"id":[]},{"id":2}]"#)
        #expect(result.counts.inserted == 2)
        #expect(result.rejected.map(\.index) == [1, 2, 3])
        #expect(result.rejected.allSatisfy { $0.keyPath == "id" && $0.attribute == "id" })
    }

    @Test(arguments: [
        (#"[{"id":0},{"id":"0"}]"#, 1), (#"[{"id":1},{"id":1.0}]"#, 1),
        (#"[{"id":9007199254740993},{"id":9007199254740992}]"#, 2), (#"[{"id":70000}]"#, 1),
    ])
    func equalNumbersAreOneKey(_ text: String, _ count: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(text)
        #expect(try await world.store.count(StoreQuery("User")) == count)
    }

    @Test func textsAreKeysByTheirBytes() async throws {
        let world = try SyncWorld()
        let long = String(repeating: "k", count: 10_000)
        try await world.sync(#"[{"name":"\#u{E9}"},{"name":"e\#u{301}"},{"name":""},{"name":"\#(long)"}]"#, into: "Tag")
        #expect(try await world.store.count(StoreQuery("Tag")) == 4)
        #expect(try await world.store.record("Tag", key: .identity(long)) != nil)
    }

    @Test func theLastOfTwinsWins() async throws {
        let world = try SyncWorld()
        let result = try await world.sync(#"[{"id":1,"name":"a"},{"id":2},{"id":1,"name":"b"}]"#)
        #expect(result.counts.all == [2, 0, 0, 0])
        #expect(try await world.column("name") == ["b", .null])
    }

    @Test func targetsThatComeLaterAreFound() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"manager_id":3,"tags_ids":["q"]},{"id":2,"manager_id":9},{"id":3}]"#)
        #expect(try await world.column("id", where: "manager.id = 3") == [1])
        #expect(try await world.column("id", where: "manager = null") == [2, 3])
        #expect(try await world.sync(#"[{"id":1,"manager_id":3},{"id":2,"manager_id":9},{"id":3}]"#).isUnchanged)
    }

    @Test func aChildThatMovesIsNotMadeAnew() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"notes":[{"id":1,"text":"a"}]},{"id":2,"notes":[]}]"#)
        let row = try await world.store.record("Note", key: .identity(1))?.object
        let result = try await world.sync(#"[{"id":1,"notes":[]},{"id":2,"notes":[{"id":1}]}]"#)
        #expect(try await world.store.record("Note", key: .identity(1))?.object == row)
        #expect(result.countsByEntity["Note"]?.all == [0, 0, 1, 0])
        #expect(try await world.column("text", of: "Note", where: "user.id = 2") == ["a"])
    }

    @Test func absentIsNotNullAndNullIsNotEmpty() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        #expect(try await world.column("id", where: "notes.@count = 2 and company.id = 7") == [1])
        try await world.sync(#"[{"id":1,"notes":null,"company":null},{"id":2}]"#)
        #expect(try await world.column("id", of: "Note", where: "user = null") == [1, 2])
        #expect(try await world.column("id", where: "company = null") == [1])
        try await world.sync(#"[{"id":1,"notes":[{"id":1}]},{"id":2}]"#)
        #expect(try await world.sync(#"[{"id":1,"notes":[]},{"id":2}]"#).countsByEntity["Note"]?.deleted == 1)
    }

    @Test func whatIsOutOfScopeStaysAndWhatMovesIntoItIsMoved() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"age":10},{"id":2,"age":20},{"id":3,"age":30}]"#)
        let options = StoreSyncOptions(scope: PropertyPath("age") >= 20)
        let result = try await world.json.sync(
            .bytes(Array(#"[{"id":1,"age":40},{"id":3,"age":30}]"#.utf8)), into: "User", options: options)
        #expect(result.counts.all == [0, 1, 1, 1])
        #expect(try await world.column("age") == [40, 30])
    }

    @Test func aSuspiciousDeletionIsRefusedOrLeftOut() async throws {
        let world = try SyncWorld()
        try await world.sync("[\((1...10).map { #"{"id":\#($0)}"# }.joined(separator: ","))]")
        let source = JSONSource.bytes(Array(#"[{"id":1},{"id":11}]"#.utf8))
        var options = StoreSyncOptions(removalLimit: RemovalLimit(fraction: 0.5))
        await #expect(throws: StoreSyncError.self) {
            try await world.json.sync(source, into: "User", options: options)
        }
        #expect(try await world.store.count(StoreQuery("User")) == 10)
        options.removalLimit?.action = .keep
        let result = try await world.json.sync(source, into: "User", options: options)
        #expect(result.counts.kept == 9)
        #expect(result.counts.inserted == 1)
        #expect(try await world.store.count(StoreQuery("User")) == 11)
    }

    @Test func anObjectThatIsLeftOutIsNotTakenForAbsent() async throws {
        let world = try SyncWorld(contract: ValueContract(wrongType: .reject))
        try await world.sync(#"[{"id":1,"age":1},{"id":2},{"id":3}]"#)
        let result = try await world.sync(#"[{"id":1,"age":"old"},{"id":2}]"#)
        #expect(result.rejected.map(\.keyPath) == ["age"])
        #expect(result.counts.kept == 2)
        #expect(try await world.store.count(StoreQuery("User")) == 3)
    }

    @Test(arguments: [#"[{"id":1},{"id"#, "<html>", "", "[1,2", #"[{"id":2}] x"#])
    func whatIsNoJSONChangesNothing(_ text: String) async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let state = try await world.state()
        await #expect(throws: JSONError.self) { try await world.sync(text) }
        let pieces = AsyncStream<[UInt8]> { continuation in
            for byte in text.utf8 { continuation.yield([byte]) }
            continuation.finish()
        }
        await #expect(throws: JSONError.self) { try await world.json.sync(.chunks(pieces), into: "User") }
        #expect(try await world.state() == state)
    }

    @Test func childrenAreSyncedBelowTheirParent() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let parent = StoreSyncOptions.Parent("User", where: PropertyPath("id") == 1)
        let result = try await world.sync(#"[{"id":2,"text":"c"},{"id":3}]"#, into: "Note", childrenOf: parent)
        #expect(result.counts.all == [1, 1, 0, 1])
        #expect(try await world.column("id", of: "Note", where: "user.id = 1") == [2, 3])
        let tags = try await world.sync(
            #"[{"name":"z"},{"name":"x"}]"#, into: "Tag", childrenOf: parent)
        #expect(tags.counts.deleted == 0)
        let stored = try await world.store.records(StoreQuery("User", where: PropertyPath("id") == 1), with: ["tags"])
        #expect(stored.first?.record[related: "tags"] == .many([.identity("z"), .identity("x")]))
        await #expect(throws: StoreSyncError.noParent(entity: "User")) {
            try await world.sync(
                "[]", into: "Note", childrenOf: StoreSyncOptions.Parent("User", where: PropertyPath("id") == 99))
        }
    }

    @Test func theRelationshipToChildrenIsNamedWhereThereAreSeveral() async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("Game", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("winners", toMany: "Player")
                    SyncRelationship("losers", toMany: "Player")
                }
                SyncEntity("Player", identity: "id") { SyncAttribute("id", .int64) }
            })
        try await world.sync(#"[{"id":1}]"#, into: "Game")
        let games = PropertyPath("id") == 1
        try await world.sync(
            #"[{"id":7}]"#, into: "Player",
            childrenOf: StoreSyncOptions.Parent("Game", where: games, relationship: "losers"))
        let stored = try await world.store.records(StoreQuery("Game"), with: ["winners", "losers"])
        #expect(stored.first?.record[related: "losers"]?.keys.count == 1)
        #expect(stored.first?.record[related: "winners"]?.keys.count == 0)
        for name in [nil, "draws"] {
            await #expect(throws: StoreSyncError.noRelationship(entity: "Game", destination: "Player")) {
                try await world.sync(
                    #"[{"id":8}]"#, into: "Player",
                    childrenOf: StoreSyncOptions.Parent("Game", where: games, relationship: name))
            }
        }
        #expect(try await world.column("id", of: "Player") == [7])
    }

    /// The relationship leads to the entity of the list, to one that it inherits from, or to one of
    /// its sub-entities.
    @Test(arguments: [("Player", 2), ("Member", 2), ("Guest", 0)])
    func childrenMayBeOfASubEntity(entity: String, count: Int) async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("Game", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("players", toMany: "Player")
                }
                SyncEntity("Person", identity: "id") { SyncAttribute("id", .int64) }
                SyncEntity("Player", parent: "Person") { SyncAttribute("level", .int64) }
                SyncEntity("Member", parent: "Player") { SyncAttribute("since", .int64) }
                SyncEntity("Guest", parent: "Person") { SyncAttribute("host", .string) }
            })
        try await world.sync(#"[{"id":1}]"#, into: "Game")
        let game = StoreSyncOptions.Parent("Game", where: PropertyPath("id") == 1)
        do {
            try await world.sync(#"[{"id":7},{"id":8}]"#, into: entity, childrenOf: game)
        } catch {
            #expect(error as? StoreSyncError == .noRelationship(entity: "Game", destination: entity))
        }
        let games = try await world.store.records(StoreQuery("Game"), with: ["players"])
        #expect(games.first?.record[related: "players"]?.keys.count == count)
        #expect(try await world.store.count(StoreQuery(entity)) == count)
    }

    @Test func theHookSeesWhatIsNewAtEveryDepth() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"name":"old"}]"#)
        var options = StoreSyncOptions()
        options.willInsert = { object, entity in
            var object = object
            object[entity == "User" ? "name" : "text"] = .string("new \(entity)")
            return object
        }
        let text = #"[{"id":1,"notes":[{"id":5}]},{"id":2}]"#
        try await _ = world.json.sync(.bytes(Array(text.utf8)), into: "User", options: options)
        #expect(try await world.column("name") == ["old", "new User"])
        #expect(try await world.column("text", of: "Note") == ["new Note"])
    }

    @Test func oneObjectIsUpdatedAndDeletedByItsKey() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let json = try JSONValue(parsing: #"{"name":"Eve","notes":[{"id":1}]}"#)
        #expect(try await world.json.update(.identity(1), in: "User", with: json)?.counts.updated == 1)
        #expect(try await world.json.update(.identity(9), in: "User", with: json) == nil)
        #expect(try await world.column("name") == ["Eve", "Bob"])
        #expect(try await world.json.delete(.identity(1), in: "User"))
        #expect(try await !world.json.delete(.identity(1), in: "User"))
        #expect(try await world.store.count(StoreQuery("Note")) == 0)
    }

    @Test func objectsAreExportedAsTheyCame() async throws {
        let world = try SyncWorld()
        try await world.sync(Self.family)
        let bytes = try await world.json.export("User", key: .identity(1))
        let other = try SyncWorld()
        try await other.sync(String(decoding: try #require(bytes), as: UTF8.self))
        #expect(try await other.json.export("User", key: .identity(1)) == bytes)
        let collected = Collected()
        try await world.json.export(StoreQuery("User")) { await collected.append($0) }
        #expect(try await world.json.export(StoreQuery("User")) == (await collected.bytes))
    }

    private actor Collected {
        var bytes: [UInt8] = []
        func append(_ piece: [UInt8]) { bytes += piece }
    }

    @Test func aStoreAndAMapperOfDifferentModelsAreRefused() throws {
        let mapper = try RecordMapper(try SyncWorld.model.get())
        let store = MemoryStore(exactly: try DataModel([]))
        #expect(throws: StoreSyncError.differentModels) { try JSONStore(store, mapper: mapper) }
    }
}
