import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Payloads that contradict themselves, in batches of every size; `RealJSONWorld.sync` checks that
/// the second sync writes nothing, unless the list contradicts itself.
@Suite(.endsInTime) struct ContradictionTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("note", .string)
                SyncRelationship("customer", toOne: "Customer", inverse: "orders")
                SyncRelationship("payer", toOne: "Customer", inverse: "payments")
                SyncRelationship("partner", toOne: "Order", inverse: "partner")
            }
            SyncEntity("Customer", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncAttribute("city", .string)
                SyncRelationship("orders", toMany: "Order", inverse: "customer")
                SyncRelationship("payments", toMany: "Order", inverse: "payer")
            }
        }
    }

    /// Runs a body with batches of one, two and many rows.
    private func withBatches(
        _ kind: StoreKind, _ body: @Sendable (RealJSONWorld, _ rowCount: Int) async throws -> Void
    ) async throws {
        try await RealJSONWorld.withBatches(kind, try RecordMapper(try Self.model()), body)
    }

    @Test(arguments: StoreKind.all)
    func ofTwoNestedObjectsTheFirstWins(kind: StoreKind) async throws {
        try await withBatches(kind) { world, rowCount in
            let json = #"""
                [{"id":1,"customer":{"id":5,"name":"x","city":"a"}},{"id":2,"customer":{"id":5,"name":"y"}},
                 {"id":3,"customer":{"id":5,"name":"x"}},{"id":4,"customer":{"id":5,"name":"z"}}]
                """#
            try await world.sync(json, into: "Order")
            #expect(try await world.values("name", of: "Customer") == ["x"], "\(rowCount)")
            #expect(try await world.values("city", of: "Customer") == ["a"], "\(rowCount)")
            let again = try await world.store.sync(.bytes(Array(json.utf8)), into: "Order")
            #expect(again.drift.count(of: .conflict) == 2, "\(rowCount): \(again.drift.entries)")
        }
    }

    /// What one object leads to is stated twice, by objects that are nested in several others.
    @Test(
        arguments: StoreKind.all,
        [
            // Agreeing, whatever comes between.
            (#"{"id":1,"boss":{"id":8}}"#, #"{"id":1,"boss":{"id":8}}"#, false),
            (#"{"id":1,"boss":{"id":8}}"#, #"{"id":1}"#, false), (#"{"id":1,"boss":null}"#, #"{"id":1}"#, false),
            (#"{"id":1,"desks":[{"id":1},{"id":2}]}"#, #"{"id":1,"desks":[{"id":2},{"id":1}]}"#, false),
            (#"{"id":1,"plates":[{"text":"a"}]}"#, #"{"id":1,"plates":[{"text":"a"}]}"#, false),
            // Contradicting.
            (#"{"id":1,"boss":{"id":8}}"#, #"{"id":1,"boss":{"id":9}}"#, true),
            (#"{"id":1,"boss":{"id":8}}"#, #"{"id":1,"boss":null}"#, true),
            (#"{"id":1,"boss":null}"#, #"{"id":1,"boss":{"id":9}}"#, true),
            (#"{"id":1,"desks":[{"id":1},{"id":2}]}"#, #"{"id":1,"desks":[{"id":2}]}"#, true),
            (#"{"id":1,"desks":[{"id":1}]}"#, #"{"id":1,"desks":[]}"#, true),
            (#"{"id":1,"plates":[{"text":"a"}]}"#, #"{"id":1,"plates":[]}"#, true),
        ])
    func relationshipsThatContradictEachOtherAreReported(
        kind: StoreKind, row: (first: String, second: String, isReported: Bool)
    ) async throws {
        let model = try DataModel {
            SyncEntity("Employee", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("office", toOne: "Office")
            }
            SyncEntity("Office", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncRelationship("boss", toOne: "Boss")
                SyncRelationship("desks", toMany: "Desk")
                SyncRelationship("plates", toMany: "Plate", inverse: "office")
            }
            SyncEntity("Boss", identity: "id") { SyncAttribute("id", .int64, optional: false) }
            SyncEntity("Desk", identity: "id") { SyncAttribute("id", .int64, optional: false) }
            SyncEntity("Plate") {
                SyncAttribute("text", .string)
                SyncRelationship("office", toOne: "Office", inverse: "plates")
            }
        }
        try await RealJSONWorld.withBatches(kind, try RecordMapper(model)) { world, rowCount in
            let other = #"{"id":2,"boss":{"id":8},"desks":[{"id":3}]}"#
            let json = """
                [{"id":1,"office":\(row.first)},{"id":2,"office":\(other)},{"id":3,"office":\(row.second)},
                 {"id":4,"office":\(other)}]
                """
            // Into an empty store, again, and after the first statement alone.
            let former = "[{\"id\":1,\"office\":\(row.first)}]"
            for payloads in [[json, json], [former, json]] {
                for (index, payload) in payloads.enumerated() {
                    let result = try await world.sync(payload, into: "Employee")
                    let expected = row.isReported && payload == json ? 1 : 0
                    #expect(
                        result.drift.count(of: .conflict) == expected,
                        "batches of \(rowCount), \(index): \(result.drift.entries)")
                    #expect(result.drift.entries.allSatisfy { $0.entity == "Office" && !$0.keyPath.isEmpty })
                }
            }
        }
    }

    @Test(
        arguments: StoreKind.all, [("customer", "payer"), ("payer", "customer")])
    func ofObjectsInTwoRelationshipsTheFirstWins(kind: StoreKind, names: (String, String)) async throws {
        try await withBatches(kind) { world, rowCount in
            let json = #"""
                [{"id":1,"\#(names.0)":{"id":5,"name":"a","city":"x"}},{"id":2,"\#(names.1)":{"id":5,"name":"b"}},
                 {"id":3,"\#(names.0)":{"id":6,"name":"c"}},{"id":4,"\#(names.1)":{"id":6,"name":null}}]
                """#
            try await world.sync(json, into: "Order")
            #expect(try await world.values("name", of: "Customer") == ["a", "c"], "\(rowCount)")
            #expect(try await world.values("city", of: "Customer") == [.null, "x"], "\(rowCount)")
        }
    }

    /// The list has an object without one of its attributes; another object contains it with that
    /// attribute.
    @Test(
        arguments: StoreKind.all,
        [
            #"{"id":1,"partner":{"id":2,"note":"x"}},{"id":2}"#, #"{"id":2},{"id":1,"partner":{"id":2,"note":"x"}}"#,
        ])
    func aNestedObjectHasWhatTheListLacks(kind: StoreKind, elements: String) async throws {
        try await withBatches(kind) { world, rowCount in
            func notes() async throws -> [AttributeValue] {
                try await world.values("note", of: "Order", where: PropertyPath("id") == 2)
            }
            try await world.sync("[\(elements)]", into: "Order")
            #expect(try await notes() == ["x"], "\(rowCount)")
            // What the list has wins, null too.
            try await world.sync(#"[\#(elements),{"id":2,"note":null}]"#, into: "Order", settles: false)
            #expect(try await notes() == [.null], "\(rowCount)")
            try await world.sync(#"[{"id":2,"note":"y"},\#(elements)]"#, into: "Order", settles: false)
            #expect(try await notes() == ["y"], "\(rowCount)")
        }
    }

    @Test(arguments: StoreKind.all)
    func ofTwoObjectsOfTheListTheLaterWins(kind: StoreKind) async throws {
        try await withBatches(kind) { world, rowCount in
            try await world.sync(#"[{"id":1,"note":"a"},{"id":2},{"id":1,"note":"b"}]"#, into: "Order", settles: false)
            #expect(try await world.values("note", of: "Order") == [.null, "b"], "\(rowCount)")
            // An update, while nothing else is written.
            let result = try await world.sync(
                #"[{"id":1,"note":"a"},{"id":2},{"id":1,"note":"c"},{"id":1,"note":"d"}]"#, into: "Order",
                settles: false)
            #expect(try await world.values("note", of: "Order") == [.null, "d"], "\(rowCount)")
            #expect(result.counts.updated == 1 && result.counts.unchanged == 1, "\(rowCount)")
            // The last one says what the first one said.
            try await world.sync(
                #"[{"id":1,"note":"e"},{"id":2},{"id":1,"note":"f"},{"id":1,"note":"e"}]"#, into: "Order",
                settles: false)
            #expect(try await world.values("note", of: "Order") == [.null, "e"], "\(rowCount)")
        }
    }

    @Test(arguments: StoreKind.all)
    func ofTwoOwnersTheLaterHasTheObject(kind: StoreKind) async throws {
        try await withBatches(kind) { world, rowCount in
            try await world.sync(
                #"[{"id":1,"orders":[{"id":11},{"id":12}]},{"id":2,"orders":[{"id":11}]},{"id":3,"orders":[{"id":12}]}]"#,
                into: "Customer", settles: false)
            #expect(try await world.count("Order", where: PropertyPath("customer.id") == 2) == 1, "\(rowCount)")
            #expect(try await world.count("Order", where: PropertyPath("customer.id") == 3) == 1, "\(rowCount)")
            #expect(try await world.count("Order", where: PropertyPath("customer.id") == 1) == 0, "\(rowCount)")
        }
    }

    /// Only a value that fits says what an object leads to.
    @Test(
        arguments: StoreKind.all,
        [
            (#"{"id":1,"customer":{"id":5}}"#, #"{"id":1,"customer":[7]}"#),
            (#"{"id":1,"customer":[7]}"#, #"{"id":1,"customer":{"id":5}}"#),
            (#"{"id":1,"partner":{"id":2,"customer":{"id":5}}}"#, #"{"id":1,"partner":true}"#),
        ])
    func aValueThatFitsNoRelationshipContradictsNone(kind: StoreKind, row: (first: String, second: String)) async throws
    {
        try await withBatches(kind) { world, rowCount in
            for _ in 0..<2 {
                let result = try await world.sync(#"[\#(row.first),{"id":3},\#(row.second)]"#, into: "Order")
                #expect(try await world.count("Order", where: PropertyPath("customer.id") == 5) == 1, "\(rowCount)")
                #expect(result.drift.count(of: .changedShape) == 1, "\(rowCount): \(result.drift.entries)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aSymmetricRelationshipStaysSymmetric(kind: StoreKind) async throws {
        try await withBatches(kind) { world, rowCount in
            try await world.sync(#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#, into: "Order")
            try await world.sync(
                #"[{"id":1,"partner_id":2},{"id":2,"partner_id":3},{"id":3,"partner_id":4},{"id":4,"partner_id":3}]"#,
                into: "Order", settles: false)
            let pairs = try await world.store.store.read { reader -> [[ObjectID]] in
                let layout = try reader.model.layout(of: "Order")
                let relationship = try #require(layout.relationship("partner"))
                let objects = try await reader.records(StoreQuery("Order", orderedBy: [Ordering("id")])).map(\.object)
                return try await reader.links(relationship, of: objects).map {
                    [1 + (objects.firstIndex(of: $0.source) ?? -1), 1 + (objects.firstIndex(of: $0.target) ?? -1)].map(
                        ObjectID.init)
                }
            }
            #expect(pairs == [[3, 4], [4, 3]], "\(rowCount)")
        }
    }

    @Test(arguments: StoreKind.all)
    func rememberedIdentifiersAreNotWrittenAgain(kind: StoreKind) async throws {
        try await withBatches(kind) { world, rowCount in
            let result = try await world.sync(
                #"[{"id":1,"customer_id":5},{"id":2,"customer_id":6},{"id":3,"customer_id":5},{"id":1,"customer_id":7}]"#,
                into: "Order")
            #expect(result.drift.count(of: .unknownIdentifier) == 3, "\(rowCount)")
            #expect(try await world.count(SyncEntity.pendingLink.name) == 3, "\(rowCount)")
        }
    }

    /// The first sync reports it, too, when identifiers name objects before they come.
    @Test(
        arguments: StoreKind.all,
        [
            (#"[{"id":1,"partner_id":2},{"id":2,"partner_id":null}]"#, "Order.partner", 1),
            (#"[{"id":1,"partner_id":2},{"id":2,"partner_id":3},{"id":3}]"#, "Order.partner", 1),
            (#"[{"id":1,"partner_id":3},{"id":2,"partner_id":3},{"id":3}]"#, "Order.partner", 1),
            (#"[{"id":1,"partner_id":2},{"id":2,"partner_id":1}]"#, nil, 0),
            (
                #"[{"id":1,"customer":{"id":5,"payments_ids":[2]}},{"id":2,"payer":null}]"#,
                "Customer.payments", 0
            ),
            (
                #"[{"id":1,"customer":{"id":5,"payments_ids":[2]}},{"id":2,"payer_id":6},{"id":3,"customer":{"id":6}}]"#,
                "Customer.payments", 0
            ),
            (#"[{"id":1,"customer":{"id":5,"payments_ids":[2]}},{"id":2,"payer_id":5}]"#, nil, 0),
        ] as [(String, String?, Int)])
    func anObjectThatComesLaterCannotHaveTwoSources(kind: StoreKind, row: (String, String?, Int)) async throws {
        let (json, place, index) = row
        try await withBatches(kind) { world, rowCount in
            for _ in 1...2 {
                let result = try await world.store.sync(.bytes(Array(json.utf8)), into: "Order")
                let found = result.drift.entries.filter { $0.kind == .conflict }
                #expect(found.map { "\($0.entity).\($0.keyPath)" } == [place].compactMap(\.self), "\(rowCount)")
                #expect(found.allSatisfy { $0.count == 1 && $0.firstIndex == index }, "\(rowCount): \(found)")
            }
        }
    }
}
