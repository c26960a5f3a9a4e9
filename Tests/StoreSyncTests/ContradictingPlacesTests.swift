import JSONMapper
import OneWayStoreTestSupport
import OneWayTestLimits
import StoreSync
import SyncBase
import SyncModel
import SyncStore
import Testing

/// Stops and lines of trips, which name each other: what the first trip says of them counts, though
/// stops are merged before lines.
@Suite(.endsInTime) struct ContradictingPlacesTests {
    private static func model() throws -> DataModel {
        try DataModel {
            SyncEntity("Trip", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("stops", toMany: "Stop")
                SyncRelationship("stations", toMany: "Station")
                SyncRelationship("lines", toMany: "Line")
            }
            SyncEntity("Stop", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
                SyncRelationship("line", toOne: "Line", inverse: "stops")
                SyncRelationship("sights", toMany: "Sight")
                SyncRelationship("place", toOne: "Place")
            }
            SyncEntity("Station", parent: "Stop") { SyncAttribute("trackCount", .int64) }
            SyncEntity("Line", identity: "id") {
                SyncAttribute("id", .int64)
                SyncRelationship("stops", toMany: "Stop", inverse: "line")
            }
            SyncEntity("Sight", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("name", .string)
            }
            SyncEntity("Place") { SyncAttribute("height", .int64) }
        }
    }

    /// What trips contain, and what is stored of the first stop in the end.
    struct Trips: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let trips: [String]
        var line: Int64?
        var heights: [AttributeValue] = []
        /// Into how many parts a batch of all trips is divided.
        var partCount = 1
    }

    static let all = [
        Trips(
            testDescription: "a line has a stop, which then names another line",
            trips: [
                #""lines":[{"id":1,"stops":[{"id":1,"name":"a"}]}]"#, #""stops":[{"id":1,"name":"a","line":{"id":2}}]"#,
            ], line: 1, partCount: 2),
        Trips(
            testDescription: "a stop names a line, and then another line has it",
            trips: [
                #""stops":[{"id":1,"name":"a","line":{"id":2}}]"#, #""lines":[{"id":1,"stops":[{"id":1,"name":"a"}]}]"#,
            ], line: 2, partCount: 2),
        Trips(
            testDescription: "a line has a stop, which then names it",
            trips: [#""lines":[{"id":2,"stops":[{"id":1}]}]"#, #""stops":[{"id":1,"line":{"id":2}}]"#], line: 2),
        Trips(
            testDescription: "one trip contradicts itself, and the next one its end",
            trips: [
                #""stops":[{"id":1,"line":{"id":2}}],"lines":[{"id":1,"stops":[{"id":1}]}]"#,
                #""stops":[{"id":1,"line":{"id":2}}]"#,
            ], line: 2, partCount: 2),
        Trips(
            testDescription: "one trip alone contradicts itself",
            trips: [#""stops":[]"#, #""stops":[{"id":1,"line":{"id":2}}],"lines":[{"id":1,"stops":[{"id":1}]}]"#],
            line: 2),
        Trips(
            testDescription: "the last trip contradicts both before it, which contradict each other",
            trips: [
                #""lines":[{"id":3,"stops":[{"id":5},{"id":6}]}]"#,
                #""stops":[{"id":6,"line":{"id":2}}],"lines":[{"id":1,"stops":[{"id":1}]}]"#,
                #""stops":[{"id":1,"line":{"id":2}},{"id":5,"line":{"id":2}}]"#,
            ], line: 1, partCount: 3),
        Trips(
            testDescription: "a place without a key, in two ways",
            trips: [
                #""lines":[{"id":1,"stops":[{"id":1,"place":{"height":5}}]}]"#,
                #""stops":[{"id":1,"place":{"height":6}}]"#,
            ], line: 1, heights: [5], partCount: 2),
        Trips(
            testDescription: "lists whose second sights differ",
            trips: [
                #""lines":[{"id":1,"stops":[{"id":1,"sights":[{"id":1},{"id":2}]}]}]"#,
                #""stops":[{"id":1,"sights":[{"id":1},{"id":3}]}]"#,
            ], line: 1, partCount: 2),
        Trips(
            testDescription: "lists that differ within one trip",
            trips: [
                #""stops":[]"#,
                #""stops":[{"id":1,"sights":[{"id":1}]}],"lines":[{"id":1,"stops":[{"id":1,"sights":[{"id":2}]}]}]"#,
            ], line: 1),
        Trips(
            testDescription: "the same sight with its name and without",
            trips: [
                #""stops":[{"id":1,"sights":[{"id":1,"name":"gate"}]}]"#, #""stops":[{"id":1,"sights":[{"id":1}]}]"#,
            ], partCount: 2),
        Trips(
            testDescription: "a stop and a station with its key in one trip",
            trips: [#""stops":[]"#, #""stops":[{"id":1}],"stations":[{"id":1,"trackCount":2}]"#]),
    ]

    /// Asks for batches of some rows, and counts the merges of trips.
    private struct CountedTrips: StoreHook {
        let batchRowCount: Int?
        let count = Locked(0)

        func policy(_ policy: MergeRequest.Policy, of entity: String?) -> MergeRequest.Policy {
            if entity == "Trip" { count.withLock { $0 += 1 } }
            return policy
        }
    }

    @Test(arguments: all) func theFirstTripCounts(row: Trips) async throws {
        let trips = row.trips.enumerated().map { #"{"id":\#($0),\#($1)}"# }
        var states: [[String]] = []
        for rowCount in [1, 1000] {
            let hook = CountedTrips(batchRowCount: rowCount)
            let world = try SyncWorld(model: Self.model()) { HookedStore($0, hook) }
            try await world.sync("[\(trips.joined(separator: ","))]", into: "Trip")
            #expect(hook.count.withLock(\.self) == (rowCount == 1 ? trips.count : row.partCount))
            let query = StoreQuery("Stop", where: PropertyPath("id") == 1)
            let line = try await world.store.records(query, with: ["line"]).first?.record[related: "line"]?.keys
            #expect(line == [row.line].compactMap { $0.map { .identity($0) } }, "\(rowCount)")
            #expect(try await world.column("height", of: "Place") == row.heights, "\(rowCount)")
            states.append(try await world.state())
        }
        #expect(states[0] == states[1])
    }
}
