import JSONMapper
import OneWaySynchronizer
import OneWayTestSupport
import StoreSync
import SyncModel
import SyncStore
import Testing

// Several lists in one store.
extension LiveSyncTests {
    /// Users, and companies that users contain.
    private static func staff() throws -> SyncWorld {
        try SyncWorld(
            model: DataModel {
                SyncEntity("User", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncRelationship("company", toOne: "Company")
                }
                SyncEntity("Company", identity: "id") {
                    SyncAttribute("id", .int64)
                    SyncAttribute("name", .string)
                    SyncAttribute("version", .int64)
                }
                SyncEntity.bookmark
            }.accompanied(by: SharedSyncs()))
    }

    private static let companies = ScriptedList { _ in #"[{"id":7,"name":"Acme","version":1}]"# }

    @Test func oneFeedServesSeveralListsInOrder() async throws {
        let world = try Self.staff()
        let feed = ScriptedFeed()
        let live = LiveSync(
            world.json.store,
            [
                LiveSync.List("Company", from: Self.companies, options: StoreSyncOptions(newerBy: "version")),
                LiveSync.List("User", from: ScriptedList { _ in #"[{"id":1,"name":"a","company":7}]"# }),
            ], feed: feed, schedule: Self.hourly, clock: clock)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            #expect(live.service.health.lastReport?.map(\.counts.inserted) == [1, 1])
            #expect(try await world.column("id", where: "company.name = 'Acme'") == [1])
            feed.send(
                .changes([
                    .objects(.text(#"{"id":8,"name":"New","version":5}"#), of: "Company"),
                    .objects(.text(#"{"id":2,"name":"b","company":8}"#), of: "User"),
                    .objects(.text(#"{"id":8,"name":"Old","version":4}"#)),
                    .removals(.text("1"), of: "User"),
                ]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(live.health.changeCount == 4 && live.health.failureCount == 0)
            #expect(try await world.column("id", where: "company.name = 'New'") == [2])
            #expect(try await world.column("id") == [2])
            // Other entities have no list that could correct them.
            feed.send(.changes([.objects(.text("{}"), of: "SyncBookmark")]))
            try await feed.receivedCount.wait { $0 == 2 }
            #expect(live.health.lastError as? LiveSync.Refusal == .unknownEntity("SyncBookmark"))
            // A pass could not help.
            try await clock.waitForPendingDelays([.seconds(3600)])
            // One webhook is one transaction.
            await #expect(throws: JSONError.self) {
                try await live.apply([
                    .objects(.text(#"{"id":9,"name":"x"}"#), of: "Company"), .objects(.text("{"), of: "User"),
                ])
            }
            #expect(try await world.column("id", of: "Company") == [7, 8])
        }
    }

    /// Would store the company that the users' page had before the change.
    @Test func thePassOfAnotherListDoesNotUndoAChange() async throws {
        let world = try Self.staff()
        let answer = Gate()
        let users = ScriptedList { _ in
            try await answer.pass()
            return #"[{"id":1,"name":"a","company":{"id":7,"name":"Acme"}}]"#
        }
        let first = LiveSync(
            world.json.store, [LiveSync.List("User", from: users)], schedule: Self.hourly, clock: clock)
        let feed = ScriptedFeed()
        let second = LiveSync(
            world.json.store, [LiveSync.List("Company", from: Self.companies)], feed: feed,
            schedule: SyncSchedule(interval: .seconds(3600), jitter: 0, runsAtStart: false), clock: clock)
        try await running(first) {
            try await running(second) {
                try await answer.waitForArrivals()
                // Changes are accepted.
                try await feed.runCount.wait { $0 == 1 }
                async let change = second.apply([.objects(.text(#"{"id":7,"name":"Renamed"}"#))])
                for _ in 0..<100 { await Task.yield() }
                #expect(second.health.changeCount == 0)
                answer.open()
                _ = try await change
                #expect(try await world.column("name", of: "Company") == ["Renamed"])
            }
        }
    }

    @Test func aListThatFailsDoesNotStopTheOthers() async throws {
        let world = try Self.staff()
        let live = LiveSync(
            world.json.store,
            [
                LiveSync.List("User", from: ScriptedList { _ in throw TestError("no list") }),
                LiveSync.List("Company", from: Self.companies),
            ], schedule: Self.hourly, clock: clock)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            let failure = try #require(live.service.health.lastError as? LiveSync.PassFailure)
            #expect(failure.failures.map(\.entity) == ["User"])
            #expect(failure.failures.first?.error as? TestError == TestError("no list"))
            #expect("\(failure)" == "User: no list")
            #expect(try await world.column("id", of: "Company") == [7])
        }
    }

    /// Webhooks that wait keep their place before what the feed reports later.
    @Test func changesAreAppliedInTheOrderOfTheirArrival() async throws {
        let world = try Self.staff()
        let answer = Gate()
        let users = ScriptedList { _ in
            try await answer.pass()
            return "[]"
        }
        let feed = ScriptedFeed()
        let live = LiveSync(
            world.json.store, [LiveSync.List("User", from: users)], feed: feed, schedule: Self.hourly, clock: clock)
        try await running(live) {
            try await answer.waitForArrivals()
            try await feed.runCount.wait { $0 == 1 }
            async let first = live.apply([change(1, "a")])
            async let second = live.apply([change(2, "webhook")])
            // One of them has the next turn.
            while live.health.waitingCount < 1 { await Task.yield() }
            feed.send(.changes([change(2, "feed")]))
            while live.health.waitingCount < 2 { await Task.yield() }
            answer.open()
            _ = try await (first, second)
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.names() == [1: "a", 2: "feed"])
        }
    }
}
