import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Statements that a payload repeats or takes back.
@Suite(.endsInTime) struct RestatementTests {
    private func world(_ rowCount: Int, _ model: DataModel? = nil) throws -> SyncWorld {
        try SyncWorld(model: model) { HookedStore($0, SmallBatches(rowCount)) }
    }

    private func related(_ name: String, of id: Int64, _ world: SyncWorld) async throws -> [Record.Key]? {
        let query = StoreQuery("User", where: PropertyPath("id") == id)
        return try await world.store.records(query, with: [name]).first?.record[related: name]?.keys
    }

    // MARK: Links

    @Test(arguments: [1, 1000])
    func aListFromWhichNothingIsRemovedKeepsItsObjects(rowCount: Int) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1,"tags":[{"name":"a"}]},{"id":2,"tags":[{"name":"b"}]}]"#)
        for round in 0..<2 {
            let result = try await world.sync(
                #"[{"id":1,"tags":[{"name":"b"}]},{"id":2}]"#, .all.subtracting(.deleteRelationships))
            #expect(try await related("tags", of: 1, world) == [.identity("a"), .identity("b")])
            #expect(result.isUnchanged == (round == 1))
        }
    }

    @Test(arguments: [1, 2, 1000])
    func theSameObjectsInAnotherOrderContradictNoListWithoutAnOrder(rowCount: Int) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        let result = try await world.sync(
            #"""
            [{"id":1,"reports_ids":[3]},{"id":2},{"id":3},{"id":1,"reports_ids":[2,3]},{"id":1,"reports_ids":[3,2]}]
            """#)
        #expect(try await world.column("id", where: "manager.id = 1") == [2, 3])
        #expect(result.drift.count(of: .conflict) == 1, "\(result.drift)")
    }

    /// Users state their manager and their reports.
    @Test(
        arguments: [
            (#"[{"id":2,"manager_id":1},{"id":1,"reports_ids":[]},{"id":3}]"#, [], 1),
            (#"[{"id":1,"reports_ids":[]},{"id":2,"manager_id":1},{"id":3}]"#, [2], 1),
            (#"[{"id":1,"reports_ids":[3]},{"id":2,"manager_id":1},{"id":3}]"#, [2, 3], 1),
            (#"[{"id":2,"manager_id":3},{"id":3,"reports_ids":[]},{"id":1,"reports_ids":[2]}]"#, [2], 2),
            (#"[{"id":1,"reports_ids":[2]},{"id":2,"manager_id":null},{"id":3}]"#, [], 1),
            (#"[{"id":1,"reports_ids":[2,3]},{"id":3,"manager_id":1},{"id":2,"manager_id":1}]"#, [2, 3], 0),
            (#"[{"id":3,"manager_id":1},{"id":2,"manager_id":1},{"id":1,"reports_ids":[2,3]}]"#, [2, 3], 0),
            (#"[{"id":2,"manager_id":1},{"id":1,"reports_ids":[null]},{"id":3}]"#, [2], 0),
        ] as [(String, [AttributeValue], Int)], [1, 2, 1000])
    func endsThatContradictEachOtherAreReported(
        case: (json: String, reports: [AttributeValue], count: Int), rowCount: Int
    ) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
        for _ in 0..<2 {
            let result = try await world.sync(`case`.json)
            #expect(try await world.column("id", where: "manager.id = 1") == `case`.reports)
            #expect(result.drift.count(of: .conflict) == `case`.count, "\(result.drift)")
        }
    }

    // MARK: Values

    /// The first of both statements about user 2 equals the store, beside a change of user 1.
    @Test(arguments: [1, 2, 1000])
    func aValueThatContradictsAnUnchangedOneIsReported(rowCount: Int) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        let result = try await world.sync(
            #"[{"id":1,"name":"x"},{"id":2,"name":"b"},{"id":2,"name":"c"}]"#)
        #expect(try await world.column("name") == ["x", "c"])
        #expect(result.drift.count(of: .conflict) == 1, "\(result.drift)")
    }

    @Test(arguments: [1, 1000])
    func nestedObjectsOfSeveralEntitiesOfTheListAreUpdated(rowCount: Int) async throws {
        let model = try DataModel {
            SyncEntity("Person", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("friend", toOne: "Person")
                SyncRelationship("teacher", toOne: "Teacher")
            }
            SyncEntity("Teacher", parent: "Person") { SyncAttribute("subject", .string) }
        }
        let world = try world(rowCount, model)
        let operations = StoreSyncOptions.Operations.all.subtracting(.delete)
        try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Person", operations)
        try await world.sync(#"[{"id":3}]"#, into: "Teacher", operations)
        let json = #"[{"id":1,"friend":{"id":2,"name":"b"},"teacher":{"id":3,"name":"c","subject":"maths"}}]"#
        for count in [1, 0] {
            let result = try await world.sync(json, into: "Person", operations)
            #expect(result.countsByEntity["Teacher"]?.updated == count)
            #expect(try await world.column("name", of: "Person") == [.null, "b", "c"])
            #expect(try await world.column("subject", of: "Teacher") == ["maths"])
        }
    }

    // MARK: An address that comes and goes

    /// Has an address at first and none at last.
    private static let address = #"{"id":1,"address":{"city":"A"}},{"id":1,"address":null}"#

    @Test(arguments: [1, 1000])
    func aChildIsLinkedBesideAnAddressThatComesAndGoes(rowCount: Int) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1,"company":{"id":7}},{"id":3}]"#)
        let company = StoreSyncOptions.Parent("Company", where: PropertyPath("id") == 7)
        try await world.sync(#"[\#(Self.address),{"id":3}]"#, childrenOf: company)
        #expect(try await world.column("id", where: "company.id = 7") == [1, 3])
        #expect(try await world.store.count(StoreQuery("Address")) == 0)
    }

    @Test(arguments: [1, 1000])
    func identifiersAreRememberedAndForgottenBesideAnAddressThatComesAndGoes(rowCount: Int) async throws {
        let world = try world(rowCount)
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        for (company, count) in [("7", 1), ("null", 0)] {
            let json = #"[\#(Self.address),{"id":2,"company_id":\#(company)}]"#
            for _ in 0..<2 {
                try await world.sync(json)
                #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == count)
            }
        }
    }
}
