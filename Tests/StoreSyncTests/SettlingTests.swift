import OneWayStoreKinds
import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

/// Payloads that contradict themselves in random ways. Whatever the size of batches, a plan
/// predicts the effect, and the second sync writes nothing, unless the list contradicts itself.
@Suite(.endsInTime) struct SettlingTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Place", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("geo", toOne: "Geo", inverse: "place")
                SyncRelationship("spots", toMany: "Spot")
                SyncRelationship("lines", toMany: "Line", inverse: "place")
                SyncRelationship("parts", toMany: "Part", owns: true)
                SyncRelationship("notes", toMany: "Note", inverse: "place")
                SyncRelationship("tags", toOrdered: "Tag", inverse: "places")
                SyncRelationship("friends", toMany: "Place", inverse: "friends")
                SyncRelationship("spouse", toOne: "Place", inverse: "spouse")
            }
            SyncEntity("Geo") {
                SyncAttribute("v", .int64)
                SyncRelationship("place", toOne: "Place", inverse: "geo")
                SyncRelationship("spot", toOne: "Spot")
            }
            SyncEntity("Spot") {
                SyncAttribute("v", .int64)
            }
            SyncEntity("Line", identity: "id", within: "place") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("v", .int64)
                SyncRelationship("place", toOne: "Place", inverse: "lines")
                SyncRelationship("tag", toOne: "Tag", inverse: "lines")
            }
            SyncEntity("Part", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("v", .int64)
            }
            SyncEntity("Note", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("v", .int64)
                SyncRelationship("place", toOne: "Place", inverse: "notes")
            }
            SyncEntity("Tag", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("v", .int64)
                SyncRelationship("places", toMany: "Place", inverse: "tags")
                SyncRelationship("lines", toMany: "Line", inverse: "tag")
            }
        }
    }

    /// For even seeds, only nested objects contradict each other and the list, and the second sync
    /// writes nothing.
    @Test(arguments: StoreKind.all, seeds(3, thorough: 26))
    func onlyAListThatContradictsItselfIsWrittenAgain(kind: StoreKind, seed: UInt64) async throws {
        let isListClear = seed.isMultiple(of: 2)
        var random = SeededRandom(seed: seed)
        let payloads = (0..<3).map { _ in
            isListClear ? Self.clearList(using: &random) : Self.places(using: &random, depth: 0)
        }
        let mapper = try RecordMapper(try Self.model())
        try await RealJSONWorld.withBatches(kind, mapper) { world, _ in
            for payload in payloads {
                let result =
                    isListClear
                    ? try await world.sync(payload, into: "Place")
                    : try await world.store.sync(.bytes(Array(payload.utf8)), into: "Place")
                let counts = result.countsByEntity.values
                #expect(counts.allSatisfy { $0.inserted >= 0 && $0.deleted >= 0 }, "\(payload)")
                // Objects without an identity of their own do not outlive their owner.
                #expect(try await world.orphanCount() == 0, "\(payload)")
            }
        }
    }

    @Test(arguments: StoreKind.all, seeds(2, thorough: 25))
    func theSizeOfBatchesMakesNoDifference(kind: StoreKind, seed: UInt64) async throws {
        var random = SeededRandom(seed: seed &+ 1000)
        let payloads = (0..<3).map { _ in Self.places(using: &random, depth: 0) }
        let mapper = try RecordMapper(try Self.model())
        try await kind.use { makeStore in
            var worlds: [RealJSONWorld] = []
            for rowCount in [1, 2, 1000] {
                let store = HookedStore(try await makeStore(mapper.model), SmallBatches(rowCount))
                worlds.append(try RealJSONWorld(store, mapper: mapper))
            }
            for payload in payloads {
                var contents: [String] = []
                for (index, world) in worlds.enumerated() {
                    _ = try await world.store.sync(.bytes(Array(payload.utf8)), into: "Place")
                    let found = try await world.contents()
                    if index == 0 { contents = found }
                    #expect(found == contents, "\(payload)")
                }
            }
        }
    }

    // MARK: Payloads

    private static func places(using random: inout SeededRandom, depth: Int) -> String {
        let count = Int.random(in: 0...(depth == 0 ? 6 : 2), using: &random)
        return "[\((0..<count).map { _ in place(using: &random, depth: depth) }.joined(separator: ","))]"
    }

    /// A list in which each place and each link is stated once, with nested places that contradict
    /// it and each other.
    private static func clearList(using random: inout SeededRandom) -> String {
        let ids = [1, 2, 3].shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        let list = ids.enumerated().map { index, id in
            let nested = index > 0 ? "" : ",\"friends\":\(Self.places(using: &random, depth: 1))"
            let tags = Bool.random(using: &random) ? "" : ",\"tag_ids\":[\(id)]"
            let notes = Bool.random(using: &random) ? "" : ",\"notes\":[{\"id\":\(id),\"v\":\(index)}]"
            let name = Bool.random(using: &random) ? "" : ",\"name\":\"n\(id)\""
            return "{\"id\":\(id)\(name)\(nested)\(tags)\(notes)}"
        }
        return "[\(list.joined(separator: ","))]"
    }

    private static func place(using random: inout SeededRandom, depth: Int) -> String {
        var fields = ["\"id\":\(Int.random(in: 1...3, using: &random))"]
        func sometimes(_ body: (inout SeededRandom) -> String) {
            if Int.random(in: 0..<3, using: &random) == 0 { fields.append(body(&random)) }
        }
        func number(_ random: inout SeededRandom) -> Int { Int.random(in: 1...3, using: &random) }
        func list(_ random: inout SeededRandom, _ element: (inout SeededRandom) -> String) -> String {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return "null"
            case 1: return "[]"
            default:
                let count = Int.random(in: 1...3, using: &random)
                return "[\((0..<count).map { _ in element(&random) }.joined(separator: ","))]"
            }
        }
        func geo(_ random: inout SeededRandom) -> String {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: "null"
            case 1: "{\"v\":\(number(&random)),\"spot\":{\"v\":\(number(&random))}}"
            case 2: "{\"v\":\(number(&random)),\"spot\":null}"
            default: "{\"v\":\(number(&random))}"
            }
        }
        func tag(_ random: inout SeededRandom) -> String {
            "{\"id\":\(number(&random)),\"v\":\(number(&random))}"
        }
        sometimes { "\"name\":\"n\(number(&$0))\"" }
        sometimes { "\"geo\":\(geo(&$0))" }
        sometimes { "\"spots\":\(list(&$0) { "{\"v\":\(number(&$0))}" })" }
        sometimes { random in
            let lines = list(&random) { random in
                let tag = Bool.random(using: &random) ? ",\"tag\":\(tag(&random))" : ""
                return "{\"id\":\(number(&random)),\"v\":\(number(&random))\(tag)}"
            }
            return "\"lines\":\(lines)"
        }
        sometimes { "\"parts\":\(list(&$0, tag))" }
        sometimes { "\"notes\":\(list(&$0, tag))" }
        sometimes { "\"tags\":\(list(&$0, tag))" }
        sometimes { "\"tag_ids\":\(list(&$0) { "\(number(&$0))" })" }
        sometimes { "\"friend_ids\":\(list(&$0) { "\(number(&$0))" })" }
        sometimes { "\"spouse_id\":\(number(&$0))" }
        if depth < 2 { sometimes { "\"friends\":\(places(using: &$0, depth: depth + 1))" } }
        return "{\(fields.shuffled(using: &random).joined(separator: ","))}"
    }
}

extension RealJSONWorld {
    /// The number of objects that nothing leads to, although they have no identity of their own.
    fileprivate func orphanCount() async throws -> Int {
        try await store.store.read { reader in
            var counts = 0
            for layout in reader.model.layouts where !layout.hasIdentity {
                var held = ObjectSet()
                for owner in reader.model.layouts {
                    let owners = try await reader.records(StoreQuery(owner.name)).map(\.object)
                    for relationship in owner.relationships where relationship.destination == layout.index {
                        for link in try await reader.links(relationship, of: owners) { held.insert(link.target) }
                    }
                }
                counts += try await reader.count(StoreQuery(layout.name, objects: .except(held)))
            }
            return counts
        }
    }
}
