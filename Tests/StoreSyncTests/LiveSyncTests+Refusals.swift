import Foundation
import JSONMapper
import OneWaySynchronizer
import OneWayTestSupport
import StoreSync
import SyncModel
import Testing

// What cannot be applied is a failure, an event, and a part of the health.
extension LiveSyncTests {
    @Test func aRejectedObjectIsAFailureWithItsReason() async throws {
        let world = try SyncWorld.users()
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in usersJSON([1]) }, feed)
        let events = live.events
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.changes([.objects(.text(#"{"id":"none","name":"x"}"#)), change(2, "b")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.names() == [1: "user 1", 2: "b"])
            #expect(live.health.changeCount == 1 && live.health.failureCount == 1)
            let refusal = try #require(live.health.lastError as? LiveSync.Refusal)
            guard case .rejected(count: 1, let first?) = refusal else {
                Issue.record("\(refusal)")
                return
            }
            #expect(first.attribute == "id" && !refusal.isRetryable)
            #expect("\(refusal)" == "an object of the changes was rejected: \(first)")
            // A pass brings what could not be applied.
            try await clock.waitForPendingDelays([.seconds(60), .seconds(3600)])
            let result = try await live.apply([.objects(.text(#"{"name":"no key"}"#))])
            #expect(result.rejectedCount == 1)
            #expect(live.health.changeCount == 1 && live.health.failureCount == 2)
        }
        var descriptions: [String] = []
        for await event in events {
            descriptions.append("\(event)")
            if descriptions.count == 4 { break }
        }
        #expect(descriptions[0].hasPrefix("applied 1 change: User: 1 inserted"))
        #expect(descriptions[1].hasPrefix("1 change failed: an object of the changes was rejected: User.id"))
        #expect(descriptions[2].hasPrefix("applied 0 changes: User: nothing"))
        #expect(descriptions[3].hasPrefix("1 change failed: "))
    }

    /// A change with several rejected objects is one failure.
    @Test func failedChangesAreCountedNotTheirObjects() async throws {
        let world = try SyncWorld.users()
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in usersJSON([1]) }, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            let bad = RemoteChange.objects(.text(#"[{"id":"none"},{"id":7,"name":"g"},{"name":"no key"}]"#))
            feed.send(.changes([bad, change(2, "b"), .removals(.text(#"[{"id":"none"}]"#)), change(3, "c")]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.names() == [1: "user 1", 2: "b", 3: "c", 7: "g"])
            #expect(live.health.changeCount == 2 && live.health.failureCount == 2)
        }
    }

    /// Changes of different objects are merged together, and counted each.
    @Test func failedChangesAmongOthersAreCounted() async throws {
        let world = try SyncWorld.users(version: SyncAttribute("level", .int64, optional: false))
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in "[]" }, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            let leveled = [2, 4, 6].map { RemoteChange.objects(.text(#"{"id":\#($0),"name":"x","level":1}"#)) }
            feed.send(.changes([leveled[0], change(3, "c"), leveled[1], change(5, "e"), leveled[2]]))
            try await feed.receivedCount.wait { $0 == 1 }
            #expect(try await world.names() == [2: "x", 4: "x", 6: "x"])
            #expect(live.health.changeCount == 3 && live.health.failureCount == 2)
        }
    }

    @Test func connectionsAndGapsAreEvents() async throws {
        let world = try SyncWorld.users()
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in usersJSON([1]) }, feed)
        let (events, few) = (live.events, live.events(bufferSize: 1))
        var descriptions: [String] = []
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            feed.send(.interrupted(TestError("away")))
            feed.send(.gap(TestError("missed")))
            feed.send(.changes([.objects(.text("{"))]))
            feed.send(.changes([]))
            try await feed.receivedCount.wait { $0 == 5 }
            feed.finish()
            for await event in events {
                descriptions.append("\(event)")
                if descriptions.last == "gap" { break }
            }
        }
        #expect(descriptions.count == 6 && descriptions[0] == "connected again")
        #expect(descriptions[1] == "interrupted: away" && descriptions[2] == "gap: missed")
        #expect(descriptions[4] == "ended")
        // Of the first two, the observer whose buffer is full lacks both for the sake of the
        // others.
        descriptions = []
        for await event in few { descriptions.append("\(event)") }
        #expect(descriptions.count == 4 && descriptions[0] == "gap: missed" && descriptions[2] == "ended")
        #expect(few.droppedCount == 2)
        #expect(live.health.changeCount == 0 && live.health.failureCount == 1)
    }

    /// An observer that awaits the end of the events does not wait for ever.
    @Test func eventsEndWithTheService() async throws {
        let world = try SyncWorld.users()
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in usersJSON([1]) }, feed)
        async let observed = live.events.reduce(into: []) { $0.append("\($1)") }
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            try await feed.receivedCount.wait { $0 == 1 }
        }
        #expect(await observed.suffix(1) == ["interrupted"])
    }

    @Test func theHealthCanBeEncoded() async throws {
        let world = try SyncWorld.users()
        let feed = ScriptedFeed()
        let live = try live(world, ScriptedList { _ in usersJSON([1]) }, feed)
        try await running(live) {
            try await clock.waitForPendingDelays([.seconds(3600)])
            feed.send(.connected(isContinuous: true))
            feed.send(.changes([change(2, "b"), .objects(.text("{"))]))
            try await feed.receivedCount.wait { $0 == 2 }
            let health = live.health
            let copy = try JSONDecoder().decode(LiveSync.Health.self, from: JSONEncoder().encode(health))
            #expect(copy.description == health.description)
            #expect(copy.lastChange == health.lastChange && copy.lastError is SyncError.Recorded)
        }
    }
}
