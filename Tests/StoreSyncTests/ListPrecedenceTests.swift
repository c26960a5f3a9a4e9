import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Objects of the list that other objects contain once more: the list decides what they lead to.
@Suite(.endsInTime) struct ListPrecedenceTests {
    private func world(_ rowCount: Int, _ model: DataModel? = nil) throws -> SyncWorld {
        try SyncWorld(model: model) { HookedStore($0, SmallBatches(rowCount)) }
    }

    /// The list states a relationship of user 2, and user 1 contains user 2 with another value.
    private func users(_ listed: String, _ nested: String) -> String {
        #"[{"id":2,\#(listed)},{"id":1,"manager":{"id":2,\#(nested)}}]"#
    }

    @Test(
        arguments: [1, 1000],
        [
            // What the nested object leads to is neither inserted nor linked.
            (#""notes":[]"#, #""notes":[{"id":9}]"#, "Note", "id", []),
            (#""address":{"city":"A"}"#, #""address":{"city":"B"}"#, "Address", "city", ["A"]),
            (#""address":null"#, #""address":{"city":"B"}"#, "Address", "city", []),
            (#""tags":[]"#, #""tags":[{"name":"t"}]"#, "Tag", "name", []),
            (#""reports":[]"#, #""reports":[{"id":9}]"#, "User", "id", [1, 2]),
        ] as [(String, String, String, String, [AttributeValue])])
    func theListDecidesTheLinks(
        rowCount: Int, row: (listed: String, nested: String, entity: String, key: String, objects: [AttributeValue])
    ) async throws {
        let world = try world(rowCount)
        let json = users(row.listed, row.nested)
        for round in 0..<2 {
            let result = try await world.sync(json)
            #expect(try await world.column(row.key, of: row.entity) == row.objects)
            // User 2 has no reports, and is the manager of user 1: the list contradicts itself.
            #expect(result.isUnchanged == (round == 1) || row.entity == "User")
        }
        #expect(try await world.store.count(StoreQuery("Tag", where: PropertyPath("users.@count") > 0)) == 0)
        #expect(try await world.column("id", where: "manager.id = 2") == [1])
    }

    @Test(arguments: [1, 1000])
    func aValueThatFitsNoRelationshipIsReportedWhereTheListDecides(rowCount: Int) async throws {
        let world = try world(rowCount)
        let result = try await world.sync(users(#""tags":[{"name":"a"}]"#, #""tags":true"#))
        let drift = result.drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count) \($0.firstIndex)" }
        #expect(drift == ["changedShape tags 1 1"])
    }

    /// Lines are identified within their order.
    @Test(arguments: [1, 1000])
    func aLineThatALaterPlaceHasAgainIsNotLeftOut(rowCount: Int) async throws {
        let world = try world(rowCount, RealJSONModel.orders())
        let result = try await world.sync(
            #"[{"id":2,"lines":[{"id":1}]},{"id":1,"replaces":{"id":2,"lines":[{"id":1,"text":"x"}]}}]"#,
            into: "Order")
        #expect(result.rejectedCount == 0 && result.countsByEntity["Line"]?.inserted == 1)
    }

    /// No relationship leads to another entity than that of the list.
    @Test(arguments: [1, 1000])
    func anEntityThatLeadsOnlyToItselfHasWhatTheListLacks(rowCount: Int) async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("boss", toOne: "Person", inverse: "staff")
                SyncRelationship("staff", toMany: "Person", inverse: "boss")
            }
        }
        let world = try world(rowCount, model)
        try await world.sync(
            #"[{"id":2,"boss":null},{"id":1,"boss":{"id":2,"name":"x","boss":{"id":3}}}]"#, into: "Person")
        #expect(try await world.column("name", of: "Person") == [.null, "x"])
        #expect(try await world.column("id", of: "Person", where: "boss != null") == [1])
    }

    /// In the first change, more nested objects wait than may, which says nothing of the second.
    @Test func theNestedObjectsOfEachChangeAreComparedWithItsOwnList() async throws {
        let world = try world(1)
        try await world.sync(#"[{"id":2}]"#)
        var options = StoreSyncOptions()
        options.waitingLimit = 0
        let changes: [RemoteChange] = [
            .objects(.text(#"{"id":1,"manager":{"id":2,"name":"x"}}"#)),
            .objects(.text(#"[{"id":3,"manager":{"id":5,"name":"a"}},{"id":5,"name":"b"}]"#)),
        ]
        let result = try await world.json.apply(changes, into: "User", options: options)
        #expect(try await world.column("name", where: "id = 2 or id = 5") == ["x", "b"])
        let drift = result.drift.entries.map { "\($0.kind) \($0.keyPath) \($0.count) \($0.firstIndex)" }
        #expect(drift == ["conflict name 1 0"])
    }

    /// Memory is bounded: not all nested objects can wait for the end of the list.
    @Test(arguments: [0, 3, 1000], [1, 1000])
    func theListWinsOverNestedObjectsThatDoNotWait(limit: Int, rowCount: Int) async throws {
        func user(_ id: Int, _ company: Int, _ more: String = "") -> String {
            #"{"id":\#(id),"name":"n\#(id)","company":{"id":\#(company)}\#(more)}"#
        }
        func manager(_ id: Int, _ name: String, _ company: Int) -> String {
            #","manager":{"id":\#(id),"name":"\#(name)","company":{"id":\#(company)}}"#
        }
        var options = StoreSyncOptions()
        options.waitingLimit = limit
        let list = [
            // Users 2 and 9 are nested before the list has them, users 1 and 8 after it.
            user(1, 1, manager(2, "x", 3)), user(2, 2, manager(1, "y", 3)), user(3, 1, manager(9, "z", 3)),
            user(4, 1, manager(1, "y", 2)), user(8, 2, manager(7, "n7", 1)), user(9, 2, manager(8, "x", 1)),
        ]
        let world = try world(rowCount)
        for _ in 0..<2 {
            _ = try await world.store.sync("User", .text("[\(list.joined(separator: ","))]"), options: options)
            let names = try await world.column("name")
            #expect(names == ["n1", "n2", "n3", "n4", "n7", "n8", "n9"])
            #expect(try await world.column("id", where: "company.id = 1") == [1, 3, 4, 7])
            #expect(try await world.column("id", where: "company.id = 2") == [2, 8, 9])
            #expect(try await world.column("id", where: "manager.id = 1") == [2, 4])
        }
        // A payload that agrees with itself writes nothing.
        let clear = [user(1, 1, manager(2, "n2", 2)), user(2, 2, manager(1, "n1", 1)), user(3, 1)]
        for round in 0..<2 {
            let json = "[\(clear.joined(separator: ","))]"
            let result = try await world.store.sync("User", .text(json), options: options)
            #expect(result.drift.isEmpty && result.isUnchanged == (round == 1))
        }
    }
}
