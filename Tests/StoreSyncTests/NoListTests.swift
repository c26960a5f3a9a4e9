import JSONMapper
import ModelInference
import OneWaySynchronizer
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// JSON without any usable object is an error, not an empty list.
@Suite(.endsInTime) struct NoListTests {
    @Test(arguments: [
        (#"{"message":"API rate limit exceeded"}"#, 1), ("{}", 1),
        (#"[{"error":"x"}]"#, 1),
        ("[null]", 1), ("[null,7]", 2), (#"[{"id":null},{"uuid":"x"}]"#, 2), (#"[{"id":"x"}]"#, 1),
    ])
    func jsonWithoutAnIdentityIsAnError(json: String, count: Int) async throws {
        let world = try SyncWorld.users()
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        let error = StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: count)
        await #expect(throws: error) { try await world.sync(json) }
        #expect(try await world.names() == [1: "a", 2: "b"])
    }

    @Test func theListsInAnObjectAreNamed() async throws {
        let world = try SyncWorld.users()
        let lists = [
            JSONError.List(keyPath: "data.items", elementCount: 2), JSONError.List(keyPath: "tags", elementCount: 1),
        ]
        let error = StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: 1, lists: lists)
        await #expect(throws: error) {
            try await world.sync(#"{"data":{"items":[{"id":1},{"id":2}]},"tags":["a"]}"#)
        }
        #expect(
            error.description.hasSuffix(
                "not a list of User; its lists are data.items (2 elements) and tags (1 element); "
                    + "the key path chooses one"))
    }

    @Test func theErrorNamesTheKeyAndTheWayOut() {
        #expect(
            StoreSyncError.unidentifiedObjects(entity: "User", key: "id", count: 3).description
                == "none of the 3 elements has a usable id, so the JSON is not a list of User; "
                + #"if the list is inside, give its key path, as in StoreSyncOptions(keyPath: "data.items")"#)
        #expect(
            StoreSyncError.unidentifiedObjects(entity: "Order", key: "", count: 1).description
                == "the only object has no key of Order, so the JSON is not a list of Order; "
                + #"if the list is inside, give its key path, as in StoreSyncOptions(keyPath: "data.items")"#)
    }

    /// Objects that are replaced by every sync, and objects that are known by their content.
    @Test(arguments: [false, true], [#"[{"error":"x"}]"#, #"{"message":"x"}"#, "[{}]", "[null]"])
    func jsonWithoutAKeyOfTheEntityIsAnError(isInferred: Bool, json: String) async throws {
        let sample = #"[{"text":"a"},{"text":"a"},{"text":"b"}]"#
        let model =
            isInferred
            ? try DataModel.inferred(from: sample, entity: "Line")
            : try DataModel { SyncEntity("Line") { SyncAttribute("text", .string) } }
        let world = try SyncWorld(model: model)
        try await world.sync(sample, into: "Line")
        let error = StoreSyncError.unidentifiedObjects(entity: "Line", key: "", count: 1)
        await #expect(throws: error) { try await world.sync(json, into: "Line") }
        #expect(try await world.store.count(StoreQuery("Line")) == 3)
        // A key without a value is a key.
        _ = try await world.sync(#"[{"text":null}]"#, into: "Line")
        #expect(try await world.column("text", of: "Line") == [.null])
    }

    /// The items are known by their content, which any object has.
    @Test func aListOfItemsWithoutAKeyOfTheEntityIsAnError() async throws {
        let model = try DataModel.inferred(from: #"[{"text":"a"},{"text":"a"},{"text":"b"}]"#, entity: "Line")
        let world = try SyncWorld(model: model)
        let processor = try StoreProcessor(world.store, "Line") { .text(#"[{"error":"x"}]"#) }
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
        let error = failure?.errors.first?.underlying as? StoreSyncError
        #expect(error == StoreSyncError.unidentifiedObjects(entity: "Line", key: "", count: 1))
        #expect(try await world.store.count(StoreQuery("Line")) == 0)
    }

    @Test func anElementWithAnIdentityMakesAList() async throws {
        let world = try SyncWorld.users()
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        let result = try await world.sync(#"[{"id":1,"name":"c"},{"error":"x"}]"#)
        #expect(result.rejectedCount == 1)
        #expect(try await world.names() == [1: "c"])
    }

    /// Members have an identity that the reader added, which shows nothing.
    @Test(arguments: [
        (#"{"error":{"code":401}}"#, 1), (#"{"message":"x","error":{"code":401}}"#, 2), (#"{"data":{}}"#, 1),
        (#"{"error":{"id":"x","code":401}}"#, 1),
    ])
    func membersWithoutAKeyOfTheEntityAreAnError(json: String, count: Int) async throws {
        let model = try DataModel {
            SyncEntity("Setting", identity: "id") {
                SyncAttribute("id", .string)
                SyncAttribute("name", .string)
            }
        }
        for isHooked in [false, true] {
            let world = try SyncWorld(model: model)
            var options = StoreSyncOptions(keyPath: "{id}")
            if isHooked { options.willInsert = { object, _ in object } }
            func sync(_ json: String) async throws -> StoreSyncResult {
                try await world.json.sync(.bytes(Array(json.utf8)), into: "Setting", options: options)
            }
            _ = try await sync(#"{"a":{"name":"x"},"b":{"name":"y"}}"#)
            let error = StoreSyncError.unidentifiedObjects(entity: "Setting", key: "", count: count)
            await #expect(throws: error) { try await sync(json) }
            #expect(try await world.column("id", of: "Setting") == [.string("a"), .string("b")])
            // One of them makes a list.
            _ = try await sync(#"{"c":{},"b":{"name":null}}"#)
            #expect(try await world.column("id", of: "Setting") == [.string("b"), .string("c")])
        }
    }

    /// The keys of relationships count too.
    @Test func membersWithoutAKeyOfARelationshipAreAnError() async throws {
        let world = try SyncWorld(
            model: DataModel {
                SyncEntity("Group", identity: "id") {
                    SyncAttribute("id", .string)
                    SyncRelationship("users", toMany: "User")
                }
                SyncEntity("User", identity: "id") { SyncAttribute("id", .int64) }
            })
        func sync(_ json: String) async throws {
            _ = try await world.json.sync(
                .bytes(Array(json.utf8)), into: "Group", options: StoreSyncOptions(keyPath: "{id}"))
        }
        try await sync(#"{"a":{"users":[{"id":1}]},"b":{"users":[]}}"#)
        let error = StoreSyncError.unidentifiedObjects(entity: "Group", key: "", count: 1)
        await #expect(throws: error) { try await sync(#"{"error":{"code":401}}"#) }
        #expect(try await world.column("id", of: "Group") == [.string("a"), .string("b")])
    }

    /// An entity may have nothing but its key.
    @Test func membersOfAnEntityWithoutOtherAttributesAreAList() async throws {
        let world = try SyncWorld(
            model: DataModel { SyncEntity("Tag", identity: "id") { SyncAttribute("id", .string) } })
        _ = try await world.json.sync(
            .bytes(Array(#"{"a":{},"b":{"count":2}}"#.utf8)), into: "Tag", options: StoreSyncOptions(keyPath: "{id}"))
        #expect(try await world.column("id", of: "Tag") == [.string("a"), .string("b")])
    }
}
