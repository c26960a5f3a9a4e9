import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncBase
import SyncProcessorTesting
import Testing

@Suite(.endsInTime) struct ProcessorConformanceTests {
    private let steps: [ProcessorConformance.Step<TestItem>] = [
        .init([TestItem("a"), TestItem("b")]),
        .init([TestItem("a", revision: 2), TestItem("c")], changedKeys: ["a"]),
        .init([TestItem("c")]),
    ]

    @Test func aProcessorThatKeepsTheRulesPasses() async throws {
        let scripted = ScriptedProcessor()
        try await ProcessorConformance.check(scripted, steps: steps, options: SyncOptions(concurrency: 1))
        // Two passes for each list, and before them one that is cancelled if the list has items.
        for call in [ScriptedProcessor.Call.begin, .end] { #expect(scripted.calls.count { $0 == call } == 11) }
        typealias Item = RevisionProcessor.Item
        try await ProcessorConformance.check(
            RevisionProcessor(),
            steps: [
                .init([Item(owsPrimaryKey: "a", owsRevision: "1"), Item(owsPrimaryKey: "b", owsRevision: "1")]),
                .init([Item(owsPrimaryKey: "a", owsRevision: "2")], changedKeys: ["a"]),
            ])
    }

    @Test func revisionsDecideWhatIsDownloadedAgain() async throws {
        typealias Item = RevisionProcessor.Item
        let processor = RevisionProcessor(source: [
            Item(owsPrimaryKey: "same", owsRevision: "1"), Item(owsPrimaryKey: "changed", owsRevision: "2"),
            Item(owsPrimaryKey: "new", owsRevision: "1"), Item(owsPrimaryKey: "unknown"),
        ])
        processor.local.withLock { $0 = ["same": "1", "changed": "1", "unknown": "1"] }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(concurrency: 1))
        let plan = try await synchronizer.plan()
        #expect(plan.counts == [.insert: 1, .update: 1, .leave: 2])
        let report = try await synchronizer.sync()
        #expect(processor.downloads.events == ["changed", "new"])
        #expect(report.updated == 1 && report.inserted == 1 && report.unchanged == 2)
    }

    /// Has a method that looks like a requirement and is not one.
    private struct Misspelled: SyncProcessor {
        let local = Locked<Set<String>>([])
        func owsFetchSourceList() async throws -> SourceList<TestItem> { [] }
        func owsGetLocalKeys() async throws -> Set<String> { local.value }
        func owsRemoveLocalItems(for keys: Set<String>) async throws { local.withLock { $0.subtract(keys) } }
        func owsShouldUpdateItem(for item: TestItem) async throws -> Bool { true }
        func owsDownloadItem(for item: TestItem) async throws {
            local.withLock { _ = $0.insert(item.owsPrimaryKey) }
        }
    }

    /// Downloads everything again, or refuses to remove what is gone.
    private struct Careless: SyncProcessor {
        var updatesAll = false
        var refusesGoneKeys = false
        let local = Locked<Set<String>>([])

        func owsFetchSourceList() async throws -> SourceList<TestItem> { [] }
        func owsGetLocalKeys() async throws -> Set<String> { local.value }
        func owsShouldUpdateItem(forKey key: String, with item: TestItem) async throws -> Bool { updatesAll }
        func owsDownloadItem(for item: TestItem) async throws {
            local.withLock { _ = $0.insert(item.owsPrimaryKey) }
        }

        func owsRemoveLocalItems(for keys: Set<String>) async throws {
            guard !refusesGoneKeys || keys.isSubset(of: local.value) else { throw TestError("no such item") }
            local.withLock { $0.subtract(keys) }
        }
    }

    /// Stores an item before its download has succeeded.
    private struct Hasty: SyncProcessor {
        let local = Locked<Set<String>>([])
        let isInTheMiddle = Gate()
        let never = Gate()

        func owsFetchSourceList() async throws -> SourceList<TestItem> { [] }
        func owsGetLocalKeys() async throws -> Set<String> { local.value }
        func owsRemoveLocalItems(for keys: Set<String>) async throws { local.withLock { $0.subtract(keys) } }
        func owsDownloadItem(for item: TestItem) async throws {
            local.withLock { _ = $0.insert(item.owsPrimaryKey) }
            if item.owsPrimaryKey == "whole" { return try await isInTheMiddle.pass() }
            isInTheMiddle.open()
            try await never.pass()
        }
    }

    /// Has no local items before a pass has begun.
    private struct Closed: SyncProcessor {
        let local = Locked<Set<String>?>(nil)

        func owsSyncBegin() async throws { local.withLock { $0 = $0 ?? [] } }
        func owsFetchSourceList() async throws -> SourceList<TestItem> { [] }
        func owsRemoveLocalItems(for keys: Set<String>) async throws { local.withLock { $0 = $0?.subtracting(keys) } }
        func owsGetLocalKeys() async throws -> Set<String> {
            guard let keys = local.value else { throw TestError("not open") }
            return keys
        }

        func owsDownloadItem(for item: TestItem) async throws {
            local.withLock { $0 = $0?.union([item.owsPrimaryKey]) }
        }
    }

    @Test func anItemThatIsStoredInHalfIsFoundOut() async throws {
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(
                Hasty(), steps: [.init([TestItem("whole"), TestItem("half")])], options: SyncOptions(concurrency: 2))
        }
        #expect(error?.violations.count == 1)
        #expect(
            error?.description.hasPrefix("step 1: \"half\" is stored although its download failed") == true)
    }

    @Test func aPlanThatNeedsAPassIsFoundOut() async throws {
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(Closed(), steps: [.init([TestItem("a")])])
        }
        #expect(error?.violations.count == 1)
        #expect(error?.description.hasPrefix("step 1: a plan fails: ") == true)
        #expect(error?.description.contains("not open") == true)
    }

    @Test func aSecondPassThatDownloadsAgainIsFoundOut() async throws {
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(Careless(updatesAll: true), steps: [.init([TestItem("a")])])
        }
        #expect(error?.violations.count == 1)
        #expect(
            error?.description.hasPrefix("step 1: a second pass over the same list downloads 1 and removes 0") == true)
    }

    @Test func aRemovalThatCannotBeRepeatedIsFoundOut() async throws {
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(
                Careless(refusesGoneKeys: true),
                steps: [.init([TestItem("a"), TestItem("b")]), .init([TestItem("b")])])
        }
        #expect(error?.violations.map { $0.prefix { $0 != ":" } } == ["step 2", "the empty list"])
        #expect(error?.description.contains("removing keys that are gone already fails: no such item") == true)
    }

    @Test func aMethodThatIsNeverCalledIsFoundOut() async throws {
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(Misspelled(), steps: steps)
        }
        #expect(error?.violations.count == 1)
        #expect(error?.description.contains("owsShouldUpdateItem(forKey:with:)") == true)
    }

    @Test func anErrorOfTheLocalKeysIsOneOfTheViolations() async throws {
        let broken = ScriptedProcessor { call in
            if call == .localKeys { throw TestError("locked") }
        }
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(broken, steps: [.init([TestItem("a")])])
        }
        #expect(error?.description.contains("step 1: owsGetLocalKeys() fails") == true)
        #expect(error?.description.contains("the empty list: owsGetLocalKeys() fails") == true)
    }

    @Test func whatIsNotStoredOrNotRemovedIsFoundOut() async throws {
        let forgetful = ScriptedProcessor { if $0 == .content("b") { throw CancellationError() } }
        let error = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(forgetful, steps: steps)
        }
        #expect(error?.description.contains("\"b\" is not stored") == true)
        let hoarder = ScriptedProcessor { call in
            if case .remove = call { throw TestError("read-only") }
        }
        let other = await #expect(throws: ProcessorConformance.Failure.self) {
            try await ProcessorConformance.check(hoarder, steps: steps)
        }
        #expect(other?.description.contains("the empty list: a pass fails") == true)
        #expect(other?.description.contains("\"a\" is still stored") == true)
    }
}

/// A processor that keeps revisions, and has no other method for updates.
struct RevisionProcessor: SyncProcessor {
    struct Item: SyncItem {
        var owsPrimaryKey: String
        var owsRevision: String?
    }

    var source: [Item] = []
    let local = Locked<[String: String]>([:])
    let downloads = EventLog<String>()

    func owsFetchSourceList() async throws -> SourceList<Item> { SourceList(source) }
    func owsGetLocalKeys() async throws -> Set<String> { Set(local.value.keys) }
    func owsGetLocalRevisions() async throws -> [String: String]? { local.value }

    func owsRemoveLocalItems(for keys: Set<String>) async throws {
        local.withLock { local in
            for key in keys { local[key] = nil }
        }
    }

    func owsDownloadItem(for item: Item) async throws {
        downloads.append(item.owsPrimaryKey)
        local.withLock { $0[item.owsPrimaryKey] = item.owsRevision ?? "none" }
    }
}
