import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// Identities within a parent, conflicts, and children without their key; on every store.
@Suite(.endsInTime) struct IdentityTests {
    // MARK: Identity within a parent, and conflicts

    @Test(arguments: StoreKind.all)
    func linesAreIdentifiedWithinTheirOrder(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.orders()) { world in
            try await world.sync(
                #"""
                [{"id":7,"lines":[{"id":1,"text":"a"},{"id":2,"text":"b"}]},
                 {"id":8,"lines":[{"id":1,"text":"c"},{"id":2,"text":"d"}]}]
                """#, into: "Order")
            #expect(try await world.values("text", of: "Line") == ["a", "b", "c", "d"])
            let result = try await world.sync(
                #"""
                [{"id":7,"lines":[{"id":2,"text":"b"},{"id":1,"text":"A"}]},{"id":8,"lines":[{"id":2,"text":"d"}]}]
                """#, into: "Order")
            let lines = try #require(result.countsByEntity["Line"])
            #expect(lines.updated == 1 && lines.deleted == 1 && lines.inserted == 0 && lines.unchanged == 2)
            #expect(try await world.values("text", of: "Line", where: PropertyPath("order.id") == 7) == ["A", "b"])
            #expect(try await world.values("text", of: "Line", where: PropertyPath("order.id") == 8) == ["d"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aLineThatAnOrderHasTwiceIsOneObjectAndReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.orders()) { world in
            let result = try await world.sync(
                #"[{"id":7,"lines":[{"id":1,"text":"a"},{"id":1,"text":"b"}]}]"#, into: "Order")
            #expect(try await world.values("text", of: "Line") == ["a"])
            let found = Set(result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath)" })
            #expect(found == ["conflict Line.text", "duplicate Order.lines"])
        }
    }

    @Test(arguments: StoreKind.all)
    func ofTwoNestedObjectsOfOneIdentityTheFirstWinsAndIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.orders()) { world in
            let result = try await world.sync(
                #"""
                [{"id":1,"customer":{"id":5,"name":"x"}},{"id":2,"customer":{"id":5,"name":"y"}},
                 {"id":3,"customer":{"id":5}}]
                """#, into: "Order")
            #expect(try await world.values("name", of: "Customer") == ["x"])
            let entry = try #require(result.drift.entries.first)
            #expect(entry.kind == .conflict && entry.entity == "Customer" && entry.keyPath == "name")
            #expect(entry.count == 1 && entry.firstIndex == 1)
        }
    }

    @Test(arguments: StoreKind.all)
    func anObjectOfTheListBeatsANestedOne(kind: StoreKind) async throws {
        for json in [
            #"[{"id":1,"note":"list"},{"id":2,"replaces":{"id":1,"note":"nested"}}]"#,
            #"[{"id":2,"replaces":{"id":1,"note":"nested"}},{"id":1,"note":"list"}]"#,
        ] {
            try await RealJSONWorld.with(kind, try RealJSONModel.orders()) { world in
                let result = try await world.sync(json, into: "Order")
                #expect(try await world.values("note", of: "Order", where: PropertyPath("id") == 1) == ["list"])
                #expect(result.drift.count(of: .conflict) == 1)
                #expect(try await world.count("Order", where: PropertyPath("replaces.id") == 1) == 1)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func anIdThatAListHasTwiceIsReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            let id = 9_007_199_254_740_993
            let result = try await world.sync(
                #"[{"id":\#(id),"name":"a"},{"id":\#(id),"name":"b"}]"#, into: "Employee")
            #expect(try await world.values("name", of: "Employee") == ["b"])
            #expect(result.drift.count(of: .duplicate) == 1)
            #expect(result.drift.entries.filter { $0.kind == .conflict }.map(\.keyPath) == ["name"])
        }
    }

    /// Seats of one row differ by their numbers, in lists that begin in order or not.
    @Test(
        arguments: StoreKind.all,
        [[(1, 1), (1, 2), (2, 1), (1, 2)], [(2, 1), (1, 1), (2, 2), (2, 1)], [(1, 7), (2, 7), (3, 7)]])
    func aKeyOfTwoNumbersIsBothOfThem(kind: StoreKind, seats: [(row: Int, number: Int)]) async throws {
        let model = try DataModel {
            SyncEntity("Seat", identity: "row", "number") {
                SyncAttribute("row", .int64)
                SyncAttribute("number", .int64)
            }
        }
        try await RealJSONWorld.with(kind, model) { world in
            let json = seats.map { #"{"row":\#($0.row),"number":\#($0.number)}"# }.joined(separator: ",")
            let result = try await world.sync("[\(json)]", into: "Seat")
            #expect(result.counts.inserted == 3)
            #expect(result.drift.count(of: .duplicate) == seats.count - 3)
            #expect(result.drift.count(of: .conflict) == 0)
        }
    }

    // MARK: Children without their key

    @Test(arguments: StoreKind.all)
    func aChildInAnArrayWithoutItsKeyIsLeftOutAndReported(kind: StoreKind) async throws {
        try await RealJSONWorld.with(kind, try RealJSONModel.staff()) { world in
            let result = try await world.sync(
                #"[{"id":1,"skills":[{"title":"a"},{"id":2,"title":"b"}],"company":{"n":"x"}}]"#, into: "Employee")
            #expect(try await world.values("title", of: "Skill") == ["b"])
            #expect(try await world.values("n", of: "Company") == ["x"])
            #expect(result.rejected.map(\.reason) == [.missingMandatory])
            #expect(result.rejected.map(\.entity) == ["Skill"])
        }
    }
}
