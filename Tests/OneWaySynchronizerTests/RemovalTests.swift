import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// What is removed, when, and what guards against removing too much.
@Suite(.endsInTime) struct RemovalTests {
    private let local = ["a": 1, "b": 1, "c": 1, "d": 1]

    @Test func aSuspiciousPurgeEndsThePassBeforeAnythingIsRemoved() async throws {
        let processor = ScriptedProcessor(local: local)
        let options = SyncOptions(removalLimit: RemovalLimit(fraction: 0.5))
        let failure = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        #expect(processor.local == local)
        #expect(processor.calls == [.begin, .list, .localKeys, .end])
        let error = try #require(failure?.errors.first)
        #expect(error.stage == .remove)
        #expect("\(error)" == "remove: 4 of 4 local items would be removed; the limit is 50.0% of the local items")
    }

    @Test func aSuspiciousPurgeCanBeLeftOutWhileTheRestGoesOn() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("new")], local: local)
        let limit = RemovalLimit(count: 2, action: .keep)
        let report = try await Synchronizer(
            processor: processor, options: SyncOptions(removalLimit: limit).with { $0.reportsKeys = true }
        ).sync()
        #expect(processor.local.keys.sorted() == ["a", "b", "c", "d", "new"])
        #expect(report.kept == SyncReport.Kept(count: 3, reason: .removalLimit))
        #expect(report.keys(.kept, as: String.self).sorted() == ["b", "c", "d"])
        #expect(report.inserted == 1)
    }

    @Test func withinTheLimitRemovalsAreMade() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: local)
        let options = SyncOptions(removalLimit: RemovalLimit(count: 2, fraction: 0.5))
        let report = try await Synchronizer(processor: processor, options: options).sync()
        #expect(report.deleted == 2)
        #expect(processor.local == processor.sourceRevisions)
    }

    @Test func removalsAfterTheDownloadsFollowThem() async throws {
        let processor = ScriptedProcessor(source: [TestItem("new")], local: ["old": 1])
        let report = try await Synchronizer(
            processor: processor, options: SyncOptions().with { $0.removalOrder = .afterDownloads }
        ).sync()
        #expect(processor.calls.suffix(3) == [.content("new"), .remove(["old"]), .end])
        #expect(report.deleted == 1)
        #expect(report.kept == nil)
    }

    @Test(arguments: [true, false])
    func aFailedDownloadPreventsTheRemovalsAfterIt(stopOnError: Bool) async throws {
        let processor = ScriptedProcessor(source: [TestItem("new"), TestItem("bad")], local: ["old": 1]) { call in
            if call == .content("bad") { throw TestError("no") }
        }
        let options = SyncOptions(concurrency: 1, stopOnError: stopOnError).with { $0.removalOrder = .afterDownloads }
        let failure = await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        #expect(processor.local == ["old": 1, "new": 1])
        #expect(failure?.report.kept == SyncReport.Kept(count: 1, reason: .incompletePass))
        #expect(failure?.report.deleted == 0)
    }

    @Test func theLimitIsCheckedBeforeTheDownloadsInAnyOrder() async throws {
        let processor = ScriptedProcessor(source: [TestItem("new")], local: local)
        let options = SyncOptions(removalLimit: RemovalLimit(count: 0)).with { $0.removalOrder = .afterDownloads }
        await #expect(throws: SyncFailure.self) {
            try await Synchronizer(processor: processor, options: options).sync()
        }
        #expect(processor.local == local)
    }

    /// Whatever a listing does wrong, nothing is removed.
    @Test func aListingThatFailsRemovesNothing() async throws {
        for name in ["connection lost", "page 3", "not JSON"] {
            let processor = ScriptedProcessor(local: local) { if $0 == .list { throw TestError(name) } }
            await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
            #expect(processor.local == local)
        }
    }
}
