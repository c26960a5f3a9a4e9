import OneWayStoreKinds
import JSONMapper
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Orders with customers, lines and products, nested in random ways.
///
/// Objects of to-one relationships are merged before the objects that lead to them. With a hook
/// they are not, so a sync with a hook that changes nothing must have the same effect.
@Suite(.endsInTime) struct NestedOrderTests {
    private static var model: DataModel {
        get throws {
            try DataModel {
                SyncEntity("Order", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("status", .string)
                    SyncRelationship("customer", toOne: "Customer", inverse: "orders")
                    SyncRelationship("payer", toOne: "Customer", inverse: "payments")
                    SyncRelationship("lines", toMany: "Line", inverse: "order", deleteRule: .cascade)
                }
                SyncEntity("Customer", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncRelationship("city", toOne: "City", inverse: "customers")
                    SyncRelationship("orders", toMany: "Order", inverse: "customer")
                    SyncRelationship("payments", toMany: "Order", inverse: "payer")
                }
                SyncEntity("City", identity: "name") {
                    SyncAttribute("name", .string)
                    SyncRelationship("customers", toMany: "Customer", inverse: "city")
                }
                SyncEntity("Line", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("count", .int64)
                    SyncRelationship("order", toOne: "Order", inverse: "lines")
                    SyncRelationship("product", toOne: "Product", inverse: "lines")
                }
                SyncEntity("Product", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncRelationship("lines", toMany: "Line", inverse: "product")
                }
            }
        }
    }

    @Test(arguments: StoreKind.all, seeds(2, thorough: 15))
    func theOrderOfMergingMakesNoDifference(kind: StoreKind, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let payloads = (0..<4).map { _ in Self.orders(using: &random) }
        let mapper = try RecordMapper(try Self.model)
        let hook = StoreSyncOptions(reportsKeys: true, willInsert: { object, _ in object })
        try await kind.use { makeStore in
            let early = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            let late = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            for payload in payloads {
                let json = JSONSource.bytes(Array(payload.utf8))
                let result = try await early.sync(json, into: "Order", options: StoreSyncOptions(reportsKeys: true))
                let expected = try await late.sync(json, into: "Order", options: hook)
                #expect(result.countsByEntity == expected.countsByEntity, "\(payload)")
                #expect(result.keys?.updated == expected.keys?.updated)
                #expect(result.rejectedCount == expected.rejectedCount)
                #expect(Self.sorted(result.drift) == Self.sorted(expected.drift), "\(payload)")
                for entity in mapper.model.entities.map(\.name) where entity != SyncEntity.pendingLink.name {
                    let (one, other) = (try await Self.state(entity, of: early), try await Self.state(entity, of: late))
                    #expect(one == other, "\(entity) of \(payload)")
                }
                // A list that states an order twice may change something again.
                _ = try await early.sync(json, into: "Order")
                _ = try await late.sync(json, into: "Order", options: hook)
                for entity in ["Order", "Customer", "Line", "Product"] {
                    let (one, other) = (try await Self.state(entity, of: early), try await Self.state(entity, of: late))
                    #expect(one == other, "\(entity) of \(payload), again")
                }
            }
        }
    }

    /// A customer is in two places of a payload. The second place may equal the store.
    @Test(arguments: StoreKind.all)
    func theFirstPlaceCountsThoughTheSecondSaysWhatIsStored(kind: StoreKind) async throws {
        let mapper = try RecordMapper(try Self.model)
        try await kind.use { makeStore in
            let store = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            for (first, second) in [("a", "b"), ("b", "a"), ("a", nil), ("b", nil), ("a", "b")] {
                let city = second.map { #"{"name":"\#($0)"}"# } ?? "null"
                let json = #"""
                    [{"id":1,"customer":{"id":1,"city":{"name":"\#(first)"}},"payer":{"id":1,"city":\#(city)}}]
                    """#
                for count in 1...3 {
                    let result = try await store.sync(.bytes(Array(json.utf8)), into: "Order")
                    let names = try await store.store.read { reader in
                        let customers = try await reader.records(StoreQuery("Customer"), with: ["city"])
                        return customers.flatMap { $0.record.targets.flatMap { $0?.keys ?? [] } }
                    }
                    #expect(names == [.identity([.string(first)])], "\(json)")
                    #expect(count == 1 || result.isUnchanged, "\(json)")
                }
            }
        }
    }

    /// The product says first that it has no lines.
    @Test(arguments: StoreKind.all)
    func aNewObjectDoesNotHaveATargetThatSaysItHasNone(kind: StoreKind) async throws {
        let mapper = try RecordMapper(
            try DataModel {
                SyncEntity("Shop", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("products", toMany: "Product", inverse: "shop")
                    SyncRelationship("sales", toMany: "Line", inverse: "shop")
                }
                SyncEntity("Product", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("shop", toOne: "Shop", inverse: "products")
                    SyncRelationship("lines", toMany: "Line", inverse: "product")
                }
                SyncEntity("Line", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncRelationship("product", toOne: "Product", inverse: "lines")
                    SyncRelationship("shop", toOne: "Shop", inverse: "sales")
                }
            })
        try await kind.use { makeStore in
            let store = try JSONStore(try await makeStore(mapper.model), mapper: mapper)
            for json in [
                #"[{"id":1,"products":[{"id":1,"lines":[{"id":5}]}]}]"#,
                #"[{"id":1,"products":[{"id":1,"lines":[]}],"sales":[{"id":9,"product":{"id":1}}]}]"#,
            ] {
                _ = try await store.sync(.bytes(Array(json.utf8)), into: "Shop")
            }
            let lines = try await store.store.read { reader in
                try await reader.records(StoreQuery("Line", where: PropertyPath("product.id") == 1)).map(\.key)
            }
            #expect(lines == [])
        }
    }

    private static func sorted(_ drift: DriftReport) -> [String] {
        drift.entries.map(\.description).sorted()
    }

    /// The objects with the keys that their relationships lead to.
    private static func state(_ entity: String, of store: JSONStore) async throws -> [String] {
        try await store.store.read { reader in
            let layout = try reader.model.layout(of: entity)
            let records = try await reader.records(StoreQuery(entity), with: layout.relationships.map(\.name))
            return records.map { stored in
                let targets = stored.record.targets.map { "\(($0?.keys ?? []).map { "\($0)" }.sorted())" }
                return "\(stored.key) \(stored.record.values) \(targets)"
            }.sorted()
        }
    }

    // MARK: Payloads

    private static func orders(using random: inout SeededRandom) -> String {
        let count = Int.random(in: 0...8, using: &random)
        let orders = (0..<count).map { _ in
            var fields = ["\"id\":\(Int.random(in: 1...6, using: &random))"]
            if Bool.random(using: &random) {
                fields.append("\"status\":\"\(Int.random(in: 0...2, using: &random))\"")
            }
            for key in ["customer", "payer"] where Int.random(in: 0..<3, using: &random) > 0 {
                fields.append(reference(key, using: &random) { customer(using: &$0) })
            }
            if Int.random(in: 0..<4, using: &random) > 0 {
                let lines = (0..<Int.random(in: 0...3, using: &random)).map { _ in line(using: &random) }
                fields.append("\"lines\":[\(lines.joined(separator: ","))]")
            }
            return "{\(fields.shuffled(using: &random).joined(separator: ","))}"
        }
        return "[\(orders.joined(separator: ","))]"
    }

    private static func line(using random: inout SeededRandom) -> String {
        if Int.random(in: 0..<8, using: &random) == 0 { return "{\"count\":1}" }
        var fields = ["\"id\":\(Int.random(in: 1...12, using: &random))"]
        if Bool.random(using: &random) { fields.append("\"count\":\(Int.random(in: 0...2, using: &random))") }
        if Int.random(in: 0..<4, using: &random) > 0 {
            fields.append(
                reference("product", using: &random) { random in
                    "{\"id\":\(Int.random(in: 1...4, using: &random)),\"name\":\"p\(Int.random(in: 0...1, using: &random))\"}"
                })
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            fields.append("\"order_id\":\(Int.random(in: 1...7, using: &random))")
        }
        return "{\(fields.joined(separator: ","))}"
    }

    private static func customer(using random: inout SeededRandom) -> String {
        var fields = ["\"id\":\(Int.random(in: 1...4, using: &random))"]
        if Bool.random(using: &random) { fields.append("\"name\":\"n\(Int.random(in: 0...1, using: &random))\"") }
        if Bool.random(using: &random) {
            fields.append(
                reference("city", using: &random) { "{\"name\":\"c\(Int.random(in: 0...2, using: &$0))\"}" })
        }
        return "{\(fields.joined(separator: ","))}"
    }

    /// A to-one relationship as an object, an identifier, both, null, or something else.
    private static func reference(
        _ key: String, using random: inout SeededRandom, _ object: (inout SeededRandom) -> String
    ) -> String {
        let identifier = "\"\(key)_id\":\(Int.random(in: 1...5, using: &random))"
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return "\"\(key)\":null"
        case 1, 2: return identifier
        case 3: return "\"\(key)\":\(object(&random)),\(identifier)"
        case 4: return "\"\(key)\":[7]"
        default: return "\"\(key)\":\(object(&random))"
        }
    }
}
