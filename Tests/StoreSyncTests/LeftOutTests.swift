import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// What objects that are left out take along, and what they leave.
@Suite(.endsInTime) struct LeftOutTests {
    /// The list decides what its objects are related to; a nested object without a key is nobody.
    @Test(arguments: [1, 1000])
    func anObjectWithoutAKeyBringsNothingAlong(rowCount: Int) async throws {
        let world = try SyncWorld { HookedStore($0, SmallBatches(rowCount)) }
        let result = try await world.sync(
            #"""
            [{"id":2,"tags":[{"name":"a"}]},
             {"id":1,"reports":[{"id":2,"tags":[{"name":"b"}]},{"name":"x","tags":[{"name":"c"}]}]}]
            """#)
        #expect(try await world.column("name", of: "Tag") == ["a"])
        let users = try await world.store.records(StoreQuery("User", orderedBy: [Ordering("id")]), with: ["tags"])
        #expect(users.map { $0.record[related: "tags"]?.keys } == [[], [.identity("a")]])
        #expect(result.counts.all == [2, 0, 0, 0])
        #expect(
            result.rejected == [
                MappingError.Problem(
                    entity: "User", attribute: "id", keyPath: "id", index: 1, reason: .missingMandatory)
            ])
    }

    /// Lines are identified within an order, and stand in sheets of several orders.
    private static func sheets() throws -> DataModel {
        try DataModel {
            SyncEntity("Sheet", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "sheet")
                SyncRelationship("main", toOne: "Line")
            }
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("lines", toMany: "Line", inverse: "order", deleteRule: .cascade)
            }
            SyncEntity("Line", identity: "number", within: "order") {
                SyncAttribute("number", .int64)
                SyncAttribute("text", .string)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
                SyncRelationship("sheet", toOne: "Sheet", inverse: "lines")
            }
        }
    }

    @Test(arguments: [1, 1000])
    func aLineNestedElsewhereNeedsItsOrder(rowCount: Int) async throws {
        let world = try SyncWorld(model: Self.sheets()) { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":5,"lines":[{"number":1,"text":"a"},{"number":2,"text":"b"}]}]"#, into: "Order")
        let json = #"""
            [{"id":1,"lines":[{"number":1,"order_id":5,"text":"c"},{"number":2,"text":"lost"}]},
             {"id":2,"lines":[{"number":3,"order":{"id":6},"text":"d"},{"order_id":5,"text":"lost"}]}]
            """#
        for counts in [[1, 1, 0, 0], [0, 0, 2, 0]] {
            let result = try await world.sync(json, into: "Sheet")
            #expect(result.countsByEntity["Line"]?.all == counts)
            #expect(
                result.rejected == [
                    MappingError.Problem(
                        entity: "Line", attribute: "order", keyPath: "order", index: 0, reason: .missingMandatory),
                    MappingError.Problem(
                        entity: "Line", attribute: "number", keyPath: "number", index: 1, reason: .missingMandatory),
                ])
        }
        let lines = try await world.store.records(
            StoreQuery("Line", orderedBy: [Ordering("text")]), with: ["order", "sheet"])
        #expect(lines.map { $0.record["text"] } == ["b", "c", "d"])
        let related = lines.map { line in
            ["order", "sheet"].map { line.record[related: $0]?.keys.first.map { "\($0)" } ?? "-" }
        }
        let keys = ([5, 6, 1, 2] as [Int64]).map { "\(Record.Key.identity($0))" }
        #expect(related == [[keys[0], "-"], [keys[0], keys[2]], [keys[1], keys[3]]])
    }

    /// The one line that a sheet leads to needs neither its number nor its order again.
    @Test(arguments: [1, 1000])
    func theOneObjectOfARelationshipIsKnownByItsPlace(rowCount: Int) async throws {
        let world = try SyncWorld(model: Self.sheets()) { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(
            #"[{"id":1,"main":{"number":1,"order":{"id":5},"text":"a"}},{"id":2}]"#, into: "Sheet")
        let result = try await world.sync(#"[{"id":1,"main":{"text":"b"}},{"id":2}]"#, into: "Sheet")
        #expect(result.countsByEntity["Line"]?.all == [0, 1, 0, 0])
        #expect(try await world.column("text", of: "Line") == ["b"])
        #expect(try await world.column("number", of: "Line", where: "order.id = 5") == [1])
    }

    /// A rule of the model denies that a box goes while it has tools.
    @Test func anAbsentObjectWhoseDeletionIsDeniedStopsTheSync() async throws {
        let model = try DataModel {
            SyncEntity("Box", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("tools", toMany: "Tool", deleteRule: .deny)
            }
            SyncEntity("Tool", identity: "id") { SyncAttribute("id", .int64) }
        }
        let world = try SyncWorld(model: model)
        try await world.sync(#"[{"id":1,"tools":[{"id":5}]}]"#, into: "Box")
        await #expect(throws: StoreError.self) {
            try await world.sync(#"[{"id":2,"tools":[{"id":5}]}]"#, into: "Box")
        }
        #expect(try await world.column("id", of: "Box") == [1])
    }

    /// The store has no object without a key, so that none of them is kept for it.
    @Test func objectsThatAreLeftOutAreCountedWithoutEnd() async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        let nameless = (0..<1200).map { _ in #"{"name":"x"}"# }.joined(separator: ",")
        let result = try await world.sync(#"[{"id":1},\#(nameless)]"#)
        #expect(result.rejectedCount == 1200)
        #expect(result.rejected.map(\.index) == Array(1...1000))
        #expect(result.counts.all == [0, 0, 1, 1])
    }

    /// An element that is null or has a key that is null or of another type can be any stored
    /// object.
    @Test(arguments: [#"[{"id":1},{"id":null}]"#, #"[{"id":1},null]"#, #"[{"id":1},{"id":"x"}]"#])
    func aPayloadThatMayLackStoredObjectsDeletesNothing(json: String) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        let result = try await world.sync(json)
        #expect(result.counts.deleted == 0)
        #expect(result.counts.kept > 0)
        #expect(try await world.column("name") == ["a", "b"])
    }

    /// The same holds for what an object contains: nothing is unlinked beside such an element, so
    /// that nothing is deleted. The element is reported.
    @Test(
        arguments: [1, 1000],
        [
            #"[{"id":1},null]"#, #"[{"id":1},{"id":null}]"#, #"[{"id":"x"},{"id":1}]"#, "[null]",
            #"[{"id":1e99},{"id":1}]"#, #"[{"id":1.5}]"#,
        ])
    func anObjectThatMayLackItsPartsKeepsThem(rowCount: Int, json: String) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade, owns: true)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        let world = try SyncWorld(model: model) { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":1,"notes":[{"id":1},{"id":2}]},{"id":2,"notes":[{"id":3},{"id":4}]}]"#)
        for _ in 0..<2 {
            let result = try await world.sync(#"[{"id":1,"notes":\#(json)},{"id":2,"notes":[{"id":4},{"name":"x"}]}]"#)
            let users = try await world.store.records(StoreQuery("User", orderedBy: [Ordering("id")]), with: ["notes"])
            #expect(users.map { $0.record[related: "notes"]?.keys.count } == [2, 1])
            // An object without the key is nobody.
            #expect(try await world.store.count(StoreQuery("Note")) == 3)
            #expect(
                result.drift.count(of: .unfitIdentifier) + result.drift.count(of: .unfitValue)
                    + result.rejectedCount > 1)
        }
    }

    /// Whatever the contract says about values, a key that does not fit is no reason to replace
    /// what an object contains. The element is rejected, and the error says why.
    @Test(arguments: [ValueContract.Action.ignore, .null, .reject], [#""x""#, "1e99", "{}", "1.5"])
    func anUnfitKeyReplacesNothing(action: ValueContract.Action, key: String) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("notes", toMany: "Note", inverse: "user", deleteRule: .cascade, owns: true)
                SyncRelationship("best", toOne: "Note", deleteRule: .cascade, owns: true)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64, optional: false, default: .int(0))
                SyncRelationship("user", toOne: "User", inverse: "notes")
            }
        }
        let contract = ValueContract(wrongType: action, outOfRange: action)
        let world = try SyncWorld(model: model, contract: contract)
        try await world.sync(#"[{"id":1,"notes":[{"id":1},{"id":2}],"best":{"id":3}}]"#)
        for _ in 0..<2 {
            let note = #"{"id":\#(key)}"#
            let result = try await world.sync(#"[{"id":1,"notes":[\#(note),{"id":2}],"best":\#(note)}]"#)
            #expect(result.rejectedCount == 2)
            #expect(result.rejected.allSatisfy { $0.attribute == "id" && $0.reason != .missingMandatory })
            let user = try #require(try await world.store.records(StoreQuery("User"), with: ["notes", "best"]).first)
            #expect(user.record[related: "notes"]?.keys.count == 2)
            #expect(user.record[related: "best"]?.keys == [.identity([.int(3)])])
            #expect(try await world.store.count(StoreQuery("Note")) == 3)
        }
    }

    /// Nor is one that is null, or lacks the key that every object must have.
    @Test(arguments: [true, false], [#"{"id":null,"name":"b"}"#, #"{"id":"x","name":"b"}"#, #"{"name":"b"}"#])
    func theOnlyObjectStaysIfItsSuccessorHasNoKey(isOptional: Bool, json: String) async throws {
        let model = try DataModel {
            SyncEntity("User", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("address", toOne: "Address", deleteRule: .cascade, owns: true)
                SyncRelationship("company", toOne: "Company")
            }
            for entity in ["Address", "Company"] {
                SyncEntity(entity, identity: "id") {
                    SyncAttribute("id", .int64, optional: isOptional)
                    SyncAttribute("name", .string)
                }
            }
        }
        let world = try SyncWorld(model: model)
        try await world.sync(#"[{"id":1,"address":{"id":1,"name":"a"},"company":{"id":1,"name":"a"}}]"#)
        let result = try await world.sync(#"[{"id":1,"address":\#(json),"company":\#(json)}]"#)
        let user = try #require(
            try await world.store.records(StoreQuery("User"), with: ["address", "company"]).first)
        // Where the key is optional, an object without one is an object of its own.
        let isOther = isOptional && json == #"{"name":"b"}"#
        #expect(result.rejectedCount == (isOther ? 0 : 2))
        for name in ["address", "company"] {
            #expect((user.record[related: name]?.keys == [.identity([.int(1)])]) == !isOther)
        }
        #expect(try await world.store.count(StoreQuery("Address")) == 1)
    }

    /// Only elements of the list can be what it seems to lack.
    @Test(arguments: [1, 1000]) func nestedObjectsThatAreLeftOutKeepNoElement(rowCount: Int) async throws {
        let world = try SyncWorld(model: Self.authors()) { HookedStore($0, SmallBatches(rowCount)) }
        try await world.sync(#"[{"id":1},{"id":2},{"id":3}]"#, into: "Author")
        let result = try await world.sync(
            #"[{"id":1,"books":[{"id":1},{"id":"x"},{"id":null}]},{"id":2,"books":[{"id":2}]}]"#, into: "Author")
        #expect(result.rejectedCount == 4 && result.counts.deleted == 1 && result.counts.kept == 0)
    }

    /// The element without an identity may be the new source of what another one lost.
    @Test func whatMayHaveAnotherSourceIsCountedAsKept() async throws {
        let world = try SyncWorld(model: Self.authors())
        let books = #"{"id":1,"books":[{"id":1,"title":"a"},{"id":2,"title":"b"}]}"#
        try await world.sync("[\(books)]", into: "Author")
        let left = #"{"id":1,"books":[{"id":1,"title":"a"}]}"#
        let result = try await world.sync(#"[\#(left),{"id":null}]"#, into: "Author")
        #expect(result.countsByEntity["Book"]?.kept == 1 && result.countsByEntity["Book"]?.deleted == 0)
        #expect(try await world.store.count(StoreQuery("Book")) == 2)
        try await world.sync("[\(books)]", into: "Author")
        #expect(try await world.sync("[\(left)]", into: "Author").countsByEntity["Book"]?.deleted == 1)
    }

    private static func authors() throws -> DataModel {
        try DataModel {
            SyncEntity("Author", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("books", toMany: "Book", inverse: "author", deleteRule: .cascade)
            }
            SyncEntity("Book", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("title", .string, optional: false)
                SyncRelationship("author", toOne: "Author", inverse: "books")
            }
        }
    }

    @Test(arguments: [("[]", 2), (#"{"id":1}"#, 1), (#"[{"id":1}]"#, 1), (#"[{"id":1},{"name":"x"}]"#, 1)])
    func aListIsComplete(json: String, deletedCount: Int) async throws {
        let world = try SyncWorld()
        try await world.sync(#"[{"id":1},{"id":2}]"#)
        #expect(try await world.sync(json).counts.deleted == deletedCount)
    }
}
