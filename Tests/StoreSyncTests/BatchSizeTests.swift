import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import OneWayTestSupport
import StoreSync
import SyncStore
import Testing

/// Payloads whose elements contradict each other, in one batch and in batches of one element.
@Suite(.endsInTime) struct BatchSizeTests {
    /// Random lists of users. Their elements can describe one company, note or manager differently.
    private struct Payload {
        var random: SeededRandom

        mutating func list() -> String {
            let ids = [1, 2, 3, 4].shuffled(using: &random).prefix(number(4))
            return "[\(ids.map { user($0, isNested: false) }.joined(separator: ","))]"
        }

        private mutating func user(_ id: Int, isNested: Bool) -> String {
            var parts: [String] = []
            if chance(50) {
                parts.append("\"company\":\(chance(15) ? "null" : chance(10) ? "true" : named(number(2), "name"))")
            }
            if !isNested, chance(50) {
                let notes = (1..<number(3)).map { _ in named(number(4), "text") }
                parts.append("\"notes\":[\(notes.joined(separator: ","))]")
            }
            if !isNested, chance(30) {
                parts.append("\"manager\":\(chance(20) ? "null" : user(number(4), isNested: true))")
            }
            if !isNested, chance(20) { parts.append("\"manager_id\":\(number(4))") }
            return named(id, "name", parts)
        }

        private mutating func named(_ id: Int, _ key: String, _ more: [String] = []) -> String {
            let name = chance(60) ? ["\"\(key)\":\"\(number(3))\""] : []
            let unknown = chance(15) ? ["\"unknown\":\(number(3))"] : []
            return "{\((["\"id\":\(id)"] + name + unknown + more).joined(separator: ","))}"
        }

        private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        private mutating func number(_ limit: Int) -> Int { Int.random(in: 1...limit, using: &random) }
    }

    @Test(arguments: seeds(30, thorough: 300))
    func itMakesNoDifference(seed: UInt64) async throws {
        var payload = Payload(random: SeededRandom(seed: seed))
        let whole = try SyncWorld()
        let single = try SyncWorld { HookedStore($0, SingleRows()) }
        for _ in 0..<3 {
            let json = payload.list()
            let drift = try await whole.sync(json).drift.fromModel
            #expect(try await single.sync(json).drift.fromModel == drift, "\(json)")
            let state = try await state(of: whole)
            #expect(try await self.state(of: single) == state, "\(json)")
            // What was written is what the payload says.
            for world in [whole, single] {
                let again = try await world.sync(json)
                #expect(again.countsByEntity.values.allSatisfy { $0.inserted + $0.deleted == 0 }, "\(json)")
                #expect(try await self.state(of: world) == state, "\(json)")
            }
        }
    }

    /// Everything but links to be made later, which name objects by their numbers in a store.
    private func state(of world: SyncWorld) async throws -> [String] {
        try await world.state().filter { !$0.hasPrefix("SyncPendingLink") }
    }
}

extension DriftReport {
    /// The differences between the elements and the model, with their counts and first places.
    fileprivate var fromModel: Set<Entry> {
        Set(entries.filter { $0.kind != .conflict && $0.kind != .duplicate })
    }
}
