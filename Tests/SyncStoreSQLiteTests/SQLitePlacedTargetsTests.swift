import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@testable import SyncStoreSQLite

@Suite(.endsInTime) struct SQLitePlacedTargetsTests {
    private static func taken(_ rows: [(place: Double?, target: ObjectID)]) -> [ObjectID] {
        var targets = SQLitePlacedTargets()
        for row in rows { targets.add(row.target, at: row.place) }
        var taken: [ObjectID] = []
        targets.take { taken.append($0) }
        targets.take { _ in Issue.record("targets are taken once") }
        return taken
    }

    @Test(arguments: seeds(20, thorough: 200)) func targetsAreInTheOrderOfTheirPlaces(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let places: [Double] = [-1, 0, 1, 2.5, 1e18, -.infinity] + (0..<20).map(Double.init)
        let rows = (1...ObjectID.random(in: 1...40, using: &random)).map { target in
            (place: places.randomElement(using: &random), target: target)
        }
        let expected = rows.sorted { ($0.place ?? -.infinity, $0.target) < ($1.place ?? -.infinity, $1.target) }
        #expect(Self.taken(rows.shuffled(using: &random)) == expected.map(\.target))
    }

    @Test func aListInAnyOrderIsPutInPlace() {
        var random = SeededRandom(seed: 1)
        let rows = (0..<ObjectID(1000)).map { (place: Double($0) as Double?, target: 5000 - $0) }
        #expect(Self.taken(rows.shuffled(using: &random)) == rows.map(\.target))
    }
}
