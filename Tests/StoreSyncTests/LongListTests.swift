import JSONMapper
import OneWayStoreKinds
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import SyncStore
import Testing

@testable import StoreSync

/// Elements with long lists of objects or identifiers, which reach the store in parts.
@Suite(.endsInTime) struct LongListTests {
    @Test func nestedObjectsOfOneElementAreMergedInParts() async throws {
        let watched = WatchedStore(MemoryStore(exactly: try SyncWorld.model.get()))
        let world = try SyncWorld { _ in HookedStore(watched, SmallBatches(10)) }
        let notes = (1...100).map { "{\"id\":\($0),\"text\":\"\($0)\"}" }
        try await world.sync("[{\"id\":1,\"notes\":[\(notes.joined(separator: ","))]}]")
        #expect(try watched.takeWrites().calls.filter { $0.hasSuffix("Note") } == ["40 Note", "40 Note", "20 Note"])
        #expect(try await world.column("id", of: "Note", where: "user.id = 1").count == 100)
    }

    /// Random lists of one user's notes and tags, with repeated and contradicting objects, in which
    /// identifiers and values that do not fit occur too.
    private struct Payload {
        var random: SeededRandom

        mutating func users() -> String {
            "[{\"id\":2,\"notes\":[{\"id\":3}]},{\"id\":1,\(list("notes", "id")),\(list("tags", "name"))}]"
        }

        private mutating func list(_ name: String, _ key: String) -> String {
            if chance(20) {
                let identifiers = (0..<40).map { _ in chance(5) ? "[]" : "\(number(25))" }
                return "\"\(name)_ids\":[\(identifiers.joined(separator: ","))]"
            }
            let onlyObjects = chance(60)
            let elements = (0..<40).map { _ in onlyObjects || chance(80) ? object(key) : "\(number(25))" }
            return "\"\(name)\":[\(elements.joined(separator: ","))]"
        }

        private mutating func object(_ key: String) -> String {
            let identity = chance(4) ? "[]" : key == "id" ? "\(number(25))" : "\"\(number(25))\""
            let text = chance(70) ? ",\"text\":\"\(number(2))\"" : ""
            let unknown = chance(10) ? ",\"unknown\":1" : ""
            return "{\"\(key)\":\(identity)\(text)\(unknown)}"
        }

        private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        private mutating func number(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }
    }

    @Test(arguments: StoreKind.all, seeds(8, thorough: 80))
    func thePartsMakeNoDifference(kind: StoreKind, seed: UInt64) async throws {
        var payload = Payload(random: SeededRandom(seed: seed))
        let payloads = (0..<4).map { _ in payload.users() }
        let whole = try SyncWorld()
        try await kind.use { makeStore in
            let mapper = try RecordMapper(try SyncWorld.model.get())
            let store = HookedStore(try await makeStore(mapper.model), SmallBatches(1))
            let parts = try JSONStore(store, mapper: mapper)
            for users in payloads {
                let json = JSONSource.bytes(Array(users.utf8))
                let expected = try await whole.json.sync(json, into: "User")
                let found = try await parts.sync(json, into: "User")
                #expect(found.drift.fromModel == expected.drift.fromModel, "\(users)")
                #expect(found.drift.contradicted == expected.drift.contradicted, "\(users)")
                #expect(found.countsByEntity == expected.countsByEntity, "\(users)")
                #expect(found.rejectedCount == expected.rejectedCount, "\(users)")
                #expect(found.rejected == expected.rejected, "\(users)")
                let state = try await whole.state().filter { !$0.hasPrefix("SyncPendingLink") }
                let other = try await SyncWorld.state(of: store).filter { !$0.hasPrefix("SyncPendingLink") }
                #expect(other == state, "\(users)")
            }
        }
    }

    /// A list of a million targets is not copied on its way to the store.
    @Test func theTargetsOfTheOnlySourceAreShared() {
        var objects = OrdinalObjects(count: 3)
        #expect(objects.objects(of: 0..<3) == [])
        for ordinal in 0..<3 { objects[ordinal] = ObjectID(ordinal) }
        func address(_ targets: [ObjectID]) -> UnsafePointer<ObjectID>? {
            targets.withUnsafeBufferPointer(\.baseAddress)
        }
        let targets = objects.objects(of: 0..<3)
        #expect(targets == [0, 1, 2])
        #expect(address(targets) == address(objects.objects(of: 0..<3)))
        #expect(objects.objects(of: 1..<2) == [1])
        objects[1] = nil
        #expect(objects.objects(of: 0..<3) == [0, 2])
    }

    @Test func flagsOfOrdinalsAreIndependent() {
        var flags = OrdinalFlags(count: 130)
        for ordinal in [0, 63, 64, 129] { flags[ordinal] = true }
        flags[63] = false
        #expect((0..<130).filter { flags[$0] } == [0, 64, 129])
    }

    /// A source with nearly all targets, and others that take some of them.
    @Test(arguments: seeds(10, thorough: 100)) func theSourceOfEachTargetIsTheLatest(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var sources = TargetSources(mostOf: Bool.random(using: &random) ? 1 : nil)
        var expected: [ObjectID: ObjectID] = [:]
        for _ in 0..<200 {
            let source = ObjectID.random(in: 1...2, using: &random)
            let target = ObjectID.random(in: 1...20, using: &random)
            #expect(sources.set(source, of: target) == expected.updateValue(source, forKey: target))
            #expect(sources[target] == source)
        }
        for target in 1...21 as ClosedRange<ObjectID> { #expect(sources[target] == expected[target]) }
    }
}

extension DriftReport {
    /// The differences between the elements and the model. Contradictions are counted once for each
    /// merge that finds them.
    fileprivate var fromModel: [Entry] { entries.filter { $0.kind != .conflict } }

    /// The properties with contradicting values.
    fileprivate var contradicted: Set<String> {
        Set(entries.filter { $0.kind == .conflict && !$0.keyPath.isEmpty }.map { "\($0.entity).\($0.keyPath)" })
    }
}
