import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Of statements about the same links or objects, the later one of the list counts and the first
/// one of nested objects, in batches of every size.
@Suite(.endsInTime) struct StatementOrderTests {
    /// Runs a body with batches of few and of many rows.
    private func withBatches(
        of rowCounts: [Int] = [1, 2, 1000], _ model: DataModel? = nil,
        _ body: (SyncWorld, _ rowCount: Int) async throws -> Void
    ) async throws {
        for rowCount in rowCounts {
            try await body(try SyncWorld(model: model) { HookedStore($0, SmallBatches(rowCount)) }, rowCount)
        }
    }

    private func drift(_ result: StoreSyncResult) -> [String] {
        result.drift.entries.map { "\($0.kind) \($0.entity).\($0.keyPath) \($0.count) \($0.firstIndex)" }
    }

    private func tags(_ world: SyncWorld, of id: Int64) async throws -> [Record.Key]? {
        let users = try await world.store.records(StoreQuery("User", where: PropertyPath("id") == id), with: ["tags"])
        return users.first?.record[related: "tags"]?.keys
    }

    @Test func aListThatIsStatedTwiceIsTheLaterOne() async throws {
        try await withBatches { world, rowCount in
            let json = #"[{"id":1,"tags":[{"name":"x"}]},{"id":2},{"id":1,"tags":[{"name":"y"},{"name":"z"}]}]"#
            for _ in 0..<2 {
                let result = try await world.sync(json)
                #expect(try await tags(world, of: 1) == [.identity("y"), .identity("z")], "\(rowCount)")
                #expect(result.drift.count(of: .duplicate) == 1, "\(rowCount)")
            }
        }
    }

    /// The order is a part of what an ordered relationship states.
    @Test func anotherOrderContradictsAListThatIsOrdered() async throws {
        try await withBatches { world, rowCount in
            let (xy, yx) = (
                #"{"id":1,"tags":[{"name":"x"},{"name":"y"}]}"#, #"{"id":1,"tags":[{"name":"y"},{"name":"x"}]}"#
            )
            try await world.sync(#"[\#(xy),{"id":2},{"id":3}]"#)
            let result = try await world.sync(#"[\#(yx),{"id":2},{"id":3},\#(xy)]"#)
            #expect(try await tags(world, of: 1) == [.identity("x"), .identity("y")], "\(rowCount)")
            let conflicts = result.drift.entries.filter { $0.kind == .conflict }
            #expect(conflicts.map(\.keyPath) == ["tags"], "\(rowCount): \(drift(result))")
        }
    }

    @Test func listsAndOwnersOfOneRelationshipAreBothLinked() async throws {
        try await withBatches { world, rowCount in
            try await world.sync(#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#)
            let json = #"[{"id":1,"reports_ids":[2]},{"id":2},{"id":3,"manager_id":4},{"id":4}]"#
            for round in 0..<2 {
                let result = try await world.sync(json)
                #expect(try await world.column("id", where: "manager.id = 1") == [2], "\(rowCount)")
                #expect(try await world.column("id", where: "manager.id = 4") == [3], "\(rowCount)")
                #expect(result.isUnchanged == (round == 1), "\(rowCount)")
            }
        }
    }

    /// The first list names an object that is not there, so that it is settled at the end.
    @Test func aLaterOwnerKeepsWhatAnEarlierListNamesBesideSomethingUnknown() async throws {
        try await withBatches { world, rowCount in
            try await world.sync(#"[{"id":2},{"id":3}]"#)
            let json = #"[{"id":7,"users_ids":[1,2,3]},{"id":8,"users_ids":[2]}]"#
            for _ in 0..<2 {
                let result = try await world.sync(json, into: "Company")
                #expect(try await world.column("id", where: "company.id = 7") == [3], "\(rowCount)")
                #expect(try await world.column("id", where: "company.id = 8") == [2], "\(rowCount)")
                #expect(result.drift.count(of: .unknownIdentifier) == 1, "\(rowCount): \(drift(result))")
            }
            #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 1, "\(rowCount)")
            try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#)
            #expect(try await world.column("id", where: "company.id = 7") == [1, 3], "\(rowCount)")
        }
    }

    /// The object that the first list names comes at the end of the payload.
    @Test func aLaterOwnerKeepsWhatAnEarlierListNamesBesideSomethingThatComesLate() async throws {
        try await withBatches { world, rowCount in
            try await world.sync(#"[{"id":2}]"#)
            let json = #"[{"id":7,"reports_ids":[4,2]},{"id":8,"reports_ids":[2]},{"id":2},{"id":4}]"#
            for _ in 0..<2 {
                try await world.sync(json)
                #expect(try await world.column("id", where: "manager.id = 7") == [4], "\(rowCount)")
                #expect(try await world.column("id", where: "manager.id = 8") == [2], "\(rowCount)")
            }
            #expect(try await world.store.count(StoreQuery("SyncPendingLink")) == 0, "\(rowCount)")
        }
    }

    /// A place is in an object of each of two relationships of one user; the first relationship
    /// counts, be it the one that leads to one object or to many.
    @Test(arguments: [false, true])
    func ofObjectsDeepInTwoRelationshipsTheFirstCounts(isListFirst: Bool) async throws {
        let (list, single) = (
            SyncRelationship("list", toMany: "Note", inverse: "user"),
            SyncRelationship("single", toOne: "Company", inverse: "users")
        )
        let id = SyncAttribute("id", .int64)
        let place = SyncRelationship("place", toOne: "Place")
        let model = try DataModel([
            SyncEntity(
                "User", identity: ["id"], attributes: [id],
                relationships: isListFirst ? [list, single] : [single, list]),
            SyncEntity(
                "Note", identity: ["id"], attributes: [id],
                relationships: [place, SyncRelationship("user", toOne: "User", inverse: "list")]),
            SyncEntity(
                "Company", identity: ["id"], attributes: [id],
                relationships: [place, SyncRelationship("users", toMany: "User", inverse: "single")]),
            SyncEntity(
                "Place", identity: ["id"], attributes: [id, SyncAttribute("name", .string)], relationships: []),
        ])
        try await withBatches(model) { world, rowCount in
            let json = #"""
                [{"id":1,"list":[{"id":1,"place":{"id":5,"name":"of the list"}}],
                  "single":{"id":7,"place":{"id":5,"name":"of the single one"}}},
                 {"id":2,"list":[{"id":2,"place":{"id":6,"name":"of the list"}}],
                  "single":{"id":8,"place":{"id":6,"name":"of the single one"}}}]
                """#
            try await world.sync(json)
            let expected: AttributeValue = isListFirst ? "of the list" : "of the single one"
            #expect(try await world.column("name", of: "Place") == [expected, expected], "\(rowCount)")
            #expect(try await world.sync(json).isUnchanged, "\(rowCount)")
        }
    }

    /// Lines keep their numbers within an order, wherever the list of a sheet has them.
    @Test func linesInAnotherOrderAreTheSame() async throws {
        let model = try DataModel {
            SyncEntity("Sheet", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toOrdered: "Line", inverse: "sheet")
            }
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "order", deleteRule: .cascade)
            }
            SyncEntity("Line", identity: "number", within: "order") {
                SyncAttribute("number", .int64)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
                SyncRelationship("sheet", toOne: "Sheet", inverse: "lines")
            }
        }
        try await withBatches(model) { world, rowCount in
            func line(_ number: Int) -> String { #"{"number":\#(number),"order":{"id":5}}"# }
            try await world.sync(#"[{"id":1,"lines":[\#(line(1)),\#(line(2)),\#(line(3))]}]"#, into: "Sheet")
            let numbers = try await world.store.records(StoreQuery("Line")).map { [$0.object: $0.record["number"]] }
            let result = try await world.sync(
                #"[{"id":1,"lines":[\#(line(3)),\#(line(1)),\#(line(2))]}]"#, into: "Sheet")
            #expect(result.countsByEntity["Line"]?.all == [0, 0, 3, 0], "\(rowCount)")
            #expect(
                try await world.store.records(StoreQuery("Line")).map { [$0.object: $0.record["number"]] } == numbers)
            let shorter = try await world.sync(#"[{"id":1,"lines":[\#(line(4)),\#(line(2))]}]"#, into: "Sheet")
            #expect(shorter.countsByEntity["Line"].map { [$0.inserted, $0.unchanged] } == [1, 1], "\(rowCount)")
        }
    }

    /// A sheet receives a line of another one, between new lines.
    @Test(arguments: [false, true])
    func whatMovesToAnOrderedListHasTheOrderOfThePayload(replaces: Bool) async throws {
        let model = try DataModel {
            SyncEntity("Sheet", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toOrdered: "Line", inverse: "sheet")
            }
            SyncEntity("Line", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("sheet", toOne: "Sheet", inverse: "lines")
            }
        }
        try await withBatches(model) { world, rowCount in
            func lines(of id: Int64) async throws -> [Record.Key]? {
                let sheets = try await world.store.records(
                    StoreQuery("Sheet", where: PropertyPath("id") == id), with: ["lines"])
                return sheets.first?.record[related: "lines"]?.keys
            }
            try await world.sync(#"[{"id":1,"lines":[{"id":1},{"id":2}]},{"id":2,"lines":[{"id":3}]}]"#, into: "Sheet")
            let json = #"[{"id":2,"lines":[{"id":4},{"id":1},{"id":5}]}]"#
            for _ in 0..<2 {
                var operations = StoreSyncOptions.Operations.all.subtracting(.delete)
                if !replaces { operations.remove(.deleteRelationships) }
                try await world.sync(json, into: "Sheet", operations)
                let expected: [Int64] = replaces ? [4, 1, 5] : [3, 4, 1, 5]
                #expect(try await lines(of: 2) == expected.map { .identity([.int($0)]) }, "\(rowCount)")
                #expect(try await lines(of: 1) == [.identity([.int(2)])], "\(rowCount)")
            }
        }
    }

    /// What a nested object contains comes before what follows the nested object.
    @Test(arguments: [
        (#""manager":{"id":2,"company":{"id":7,"users":[{"id":3}]}},"reports":[{"id":3,"company":{"id":8}}]"#, 7),
        (#""manager":{"id":3,"company":{"id":8}},"reports":[{"id":2,"company":{"id":7,"users":[{"id":3}]}}]"#, 8),
    ])
    func theFirstPlaceCountsHoweverDeepItIs(nested: String, company: Int) async throws {
        try await withBatches { world, rowCount in
            for _ in 0..<2 {
                let result = try await world.sync(#"[{"id":1,\#(nested)}]"#)
                #expect(try await world.column("id", where: "company.id = \(company)").contains(3), "\(rowCount)")
                #expect(result.drift.count(of: .conflict) > 0, "\(rowCount)")
            }
        }
    }
}
