import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import StoreSync
import SyncModel
import Testing

/// Objects that are identified within a parent, in a list of their own; on every store.
@Suite(.endsInTime) struct ScopedIdentityTests {
    private func with(
        _ kind: StoreKind, _ body: @Sendable (RealJSONWorld) async throws -> Void
    ) async throws {
        let mapper = try RecordMapper(try RealJSONModel.orders())
        try await RealJSONWorld.withBatches(kind, mapper) { world, _ in try await body(world) }
    }

    @Test(arguments: StoreKind.all)
    func linesInAListOfTheirOwnAreFoundWithinTheirOrder(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"lines":[{"id":1,"text":"a"},{"id":2,"text":"b"}]},{"id":2,"lines":[{"id":1,"text":"c"}]}]"#,
                into: "Order")
            let result = try await world.sync(
                #"[{"id":1,"order_id":1,"text":"A"},{"id":1,"order":{"id":2,"note":"n"},"text":"c"},{"id":2,"order_id":2,"text":"d"}]"#,
                into: "Line")
            #expect(result.counts.inserted == 1 && result.counts.updated == 1 && result.counts.unchanged == 1)
            #expect(result.counts.deleted == 1)
            #expect(try await world.values("text", of: "Line") == ["A", "c", "d"])
            #expect(try await world.values("note", of: "Order") == [.null, "n"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aLineWithoutAKnownOrderIsLeftOutAndReported(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1,"lines":[{"id":1,"text":"a"}]}]"#, into: "Order")
            let result = try await world.sync(
                #"[{"id":1,"text":"x"},{"id":1,"order_id":9,"text":"y"},{"id":1,"order_id":null}]"#, into: "Line")
            #expect(result.rejectedCount == 3)
            #expect(result.rejected.first?.attribute == "order")
            #expect(result.counts.kept == 1)
            #expect(try await world.values("text", of: "Line") == ["a"])
        }
    }

    @Test(arguments: StoreKind.all)
    func theParentOfAListIsTheScope(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(
                #"[{"id":1,"lines":[{"id":1,"text":"a"}]},{"id":2,"lines":[{"id":1}]}]"#, into: "Order")
            let parent = StoreSyncOptions.Parent("Order", where: PropertyPath("id") == 1)
            let json = JSONSource.bytes(Array(#"[{"id":1,"text":"b"},{"id":3,"text":"c"}]"#.utf8))
            let result = try await world.store.sync(json, into: "Line", childrenOf: parent)
            #expect(result.counts.inserted == 1 && result.counts.updated == 1)
            #expect(try await world.store.sync(json, into: "Line", childrenOf: parent).isUnchanged)
            #expect(try await world.values("text", of: "Line") == [.null, "b", "c"])
        }
    }

    @Test(arguments: StoreKind.all)
    func aLineThatIsThereTwiceIsOneObject(kind: StoreKind) async throws {
        try await with(kind) { world in
            try await world.sync(#"[{"id":1},{"id":2}]"#, into: "Order")
            let result = try await world.sync(
                #"[{"id":1,"order_id":1,"text":"a"},{"id":1,"order_id":2,"text":"b"},{"id":1,"order_id":1,"text":"c"}]"#,
                into: "Line", settles: false)
            #expect(result.drift.count(of: .conflict) == 1)
            #expect(try await world.values("text", of: "Line") == ["b", "c"])
        }
    }

    /// Lines of a list lead to more than their order, and each relationship to its own objects.
    @Test(arguments: StoreKind.all, [false, true])
    func linesLeadToOtherObjectsBesideTheirOrder(kind: StoreKind, isOrderFirst: Bool) async throws {
        let (id, order, product) = (
            SyncAttribute("id", .int64), SyncRelationship("order", toOne: "Order", inverse: "lines"),
            SyncRelationship("product", toOne: "Product", inverse: "lines")
        )
        let model = try DataModel([
            SyncEntity(
                "Order", identity: ["id"], attributes: [id],
                relationships: [SyncRelationship("lines", toMany: "Line", inverse: "order", deleteRule: .cascade)]),
            SyncEntity(
                "Product", identity: ["id"], attributes: [id, SyncAttribute("name", .string)],
                relationships: [SyncRelationship("lines", toMany: "Line", inverse: "product")]),
            SyncEntity("Line", identity: "id", within: "order") {
                id
                if isOrderFirst { order } else { product }
                if isOrderFirst { product } else { order }
            },
        ])
        try await RealJSONWorld.withBatches(kind, try RecordMapper(model)) { world, rowCount in
            let result = try await world.sync(
                #"""
                [{"id":1,"order":{"id":1},"product":{"id":5,"name":"a"}},
                 {"id":1,"order":{"id":2},"product":{"id":6,"name":"b"}},{"id":2,"order":{"id":1},"product_id":5}]
                """#, into: "Line")
            #expect(result.counts.inserted == 3 && result.rejectedCount == 0, "\(rowCount)")
            #expect(try await world.count("Order") == 2, "\(rowCount)")
            #expect(try await world.values("name", of: "Product") == ["a", "b"], "\(rowCount)")
            for (order, product, count) in [(1, 5, 2), (1, 6, 0), (2, 5, 0), (2, 6, 1)] as [(Int64, Int64, Int)] {
                let found = try await world.count(
                    "Line", where: PropertyPath("order.id") == order && PropertyPath("product.id") == product)
                #expect(found == count, "\(rowCount): \(order) \(product)")
            }
        }
    }
}
