import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import Testing

/// The flow of a pass.
@Suite(.endsInTime) struct SynchronizerTests {
    @Test func callsComeInTheOrderOfTheFlow() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b", revision: 2), TestItem("c")], local: ["b": 1, "c": 1, "d": 1])
        let synchronizer = Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 1, downloadPreview: true))

        let report = try await synchronizer.sync()

        #expect(
            processor.calls == [
                .begin, .list, .localKeys, .remove(["d"]), .shouldUpdate("b"), .shouldUpdate("c"),
                .prepare(["a", "b"]), .preview("a"), .preview("b"), .content("a"), .content("b"), .end,
            ])
        #expect(processor.local == ["a": 1, "b": 2, "c": 1])
        #expect(report.listed == 3)
        #expect(report.local == 3)
        #expect(report.inserted == 1)
        #expect(report.updated == 1)
        #expect(report.unchanged == 1)
        #expect(report.deleted == 1)
        #expect(report.planned == 2)
        #expect(report.remaining == 0)
        #expect(report.errorCount == 0)
        #expect(!synchronizer.isSyncing)
    }

    @Test func aProcessorOfTheFourRequiredMethodsSyncs() async throws {
        struct Minimal: SyncProcessor {
            struct Item: SyncItem {
                var owsPrimaryKey: Int
            }
            let downloaded = EventLog<Int>()
            func owsFetchSourceList() async throws -> SourceList<Item> {
                [Item(owsPrimaryKey: 1), Item(owsPrimaryKey: 2)]
            }
            func owsGetLocalKeys() async throws -> Set<Int> { [2] }
            func owsRemoveLocalItems(for keys: Set<Int>) async throws {}
            func owsDownloadItem(for item: Item) async throws { downloaded.append(item.owsPrimaryKey) }
        }
        let processor = Minimal()
        let report = try await Synchronizer(processor: processor).sync()
        #expect(processor.downloaded.events == [1])
        #expect(report.unchanged == 1)
    }

    @Test func theSecondPassRightAfterASuccessDecidesNothing() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b", revision: 3)], local: ["b": 1, "x": 1])
        let synchronizer = Synchronizer(processor: processor)
        try await synchronizer.sync()
        let firstCallCount = processor.calls.count
        let report = try await synchronizer.sync()
        #expect(
            Array(processor.calls[firstCallCount...]) == [
                .begin, .list, .localKeys, .shouldUpdate("a"), .shouldUpdate("b"), .prepare([]), .end,
            ])
        #expect(report.inserted == 0 && report.updated == 0 && report.deleted == 0 && report.unchanged == 2)
    }

    @Test func anEmptyListRemovesEverything() async throws {
        let processor = ScriptedProcessor(local: ["a": 1, "b": 1])
        try await Synchronizer(processor: processor).sync()
        #expect(processor.local.isEmpty)
    }

    @Test func aPartialListRemovesNothing() async throws {
        let processor = ScriptedProcessor(local: ["a": 1])
        processor.change { $0.source = SourceList([TestItem("b")], isPartial: true) }
        let report = try await Synchronizer(processor: processor).sync()
        #expect(processor.local == ["a": 1, "b": 1])
        #expect(report.isListPartial)
        #expect(report.deleted == 0)
        #expect(report.kept?.count == 1)
        #expect(report.kept?.reason == .partialList)
    }

    @Test func duplicateKeysEndThePassBeforeAnythingIsRemoved() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("a")], local: ["b": 1])
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
        #expect(processor.calls == [.begin, .list, .localKeys, .end])
        #expect(failure?.errors.first?.stage == .compare)
        #expect(
            failure?.errors.first?.underlying as? SyncError.Reason == .duplicateKeys(keys: ["\"a\""], count: 1))
        #expect(failure?.isCancelled == false)
    }

    @Test func itemsAreDownloadedInTheirOrderAndTiesInTheSources() async throws {
        let processor = ScriptedProcessor(
            source: [
                TestItem("a", order: 1), TestItem("b", order: 0), TestItem("c", order: 1), TestItem("d", order: -5),
            ])
        try await Synchronizer(processor: processor, options: SyncOptions(concurrency: 1)).sync()
        #expect(processor.calls.suffix(5) == [.content("d"), .content("b"), .content("a"), .content("c"), .end])
    }

    @Test func aReorderedListKeepsWhatIsNew() async throws {
        let processor = ScriptedProcessor(source: [TestItem("new"), TestItem("old", revision: 2)], local: ["old": 1])
        processor.change { state in state.prepare = { $0.reversed() } }
        let report = try await Synchronizer(processor: processor, options: SyncOptions().with { $0.reportsKeys = true })
            .sync()
        #expect(report.keys(.inserted, as: String.self) == ["new"])
        #expect(report.keys(.updated, as: String.self) == ["old"])
    }

    @Test func whereAllItemsAreStoredTheyAreUpdated() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a", revision: 2), TestItem("b", revision: 2)], local: ["a": 1, "b": 1])
        let report = try await Synchronizer(processor: processor).sync()
        #expect(report.updated == 2 && report.inserted == 0)
    }

    @Test func whatPrepareReturnsIsTakenAsItIs() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a", order: 1), TestItem("b"), TestItem("c")], local: ["z": 1])
        processor.change { state in
            state.prepare = { items in [items[2], items[0], TestItem("z", revision: 9), TestItem("new")] }
        }
        let report = try await Synchronizer(processor: processor, options: SyncOptions(concurrency: 1)).sync()
        #expect(
            processor.calls.suffix(6) == [
                .prepare(["b", "c", "a"]), .content("a"), .content("b"), .content("z"), .content("new"), .end,
            ])
        #expect(report.planned == 4)
        #expect(report.inserted == 3)
        #expect(report.updated == 1)
    }

    @Test func everyPreviewPrecedesEveryContent() async throws {
        let items = (0..<50).map { TestItem("\($0)") }
        let processor = ScriptedProcessor(source: items)
        try await Synchronizer(
            processor: processor, options: SyncOptions(concurrency: 8, downloadPreview: true)
        ).sync()
        let calls = processor.calls
        let lastPreview = calls.lastIndex { if case .preview = $0 { true } else { false } }
        let firstContent = calls.firstIndex { if case .content = $0 { true } else { false } }
        #expect(try #require(lastPreview) < #require(firstContent))
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func previewsAndContentsAreDownloadedAsAskedFor(previews: Bool, contents: Bool) async throws {
        let processor = ScriptedProcessor(source: [TestItem("a"), TestItem("b")], local: ["b": 0])
        let report = try await Synchronizer(
            processor: processor,
            options: SyncOptions(concurrency: 1, downloadPreview: previews, downloadContent: contents)
        ).sync()
        #expect(processor.calls.contains(.preview("a")) == previews)
        #expect(processor.calls.contains(.content("a")) == contents)
        #expect(report.inserted == (previews || contents ? 1 : 0))
        #expect(report.updated == (previews || contents ? 1 : 0))
        #expect(report.remaining == 0)
        #expect(report.planned == (previews || contents ? 2 : 0))
    }

    @Test func aProcessorCanAnswerAllUpdateChecksAtOnce() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b", revision: 2), TestItem("c")], local: ["b": 1, "c": 1])
        processor.change { $0.answersUpdatesInBatch = true }
        let report = try await Synchronizer(processor: processor, options: SyncOptions(concurrency: 1)).sync()
        #expect(processor.calls[3...4] == [.shouldUpdateAll(["b", "c"]), .prepare(["a", "b"])])
        #expect(report.updated == 1)
        #expect(processor.local == processor.sourceRevisions)
    }

    @Test func updateChecksKeepTheSourcesOrderWhenTheyRunSideBySide() async throws {
        let items = (0..<100).map { TestItem("\($0)", revision: $0 % 3) }
        let processor = ScriptedProcessor(
            source: items, local: Dictionary(uniqueKeysWithValues: items.map { ($0.owsPrimaryKey, 0) }))
        let options = SyncOptions(concurrency: 4).with { $0.concurrentUpdateChecks = true }
        let report = try await Synchronizer(processor: processor, options: options).sync()
        let changed = items.filter { $0.revision != 0 }.map(\.owsPrimaryKey)
        #expect(processor.calls.contains(.prepare(changed)))
        #expect(report.updated == changed.count)
        #expect(processor.local == processor.sourceRevisions)
    }

    @Test func aPassUsesTheOptionsItBeganWith() async throws {
        let gate = Gate()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { if $0 == .list { try await gate.pass() } }
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions(downloadContent: true))
        async let report = synchronizer.sync()
        try await gate.waitForArrivals()
        synchronizer.options.downloadContent = false
        gate.open()
        #expect(try await report.inserted == 1)
        #expect(!synchronizer.options.downloadContent)
    }

    @Test func theProcessorIsToldHowThePassEnded() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        try await Synchronizer(processor: processor).sync()
        let result = try #require(processor.current.results.first)
        #expect(try result.get().inserted == 1)
    }

    @Test func theReportListsKeysOnRequest() async throws {
        let processor = ScriptedProcessor(
            source: [TestItem("a"), TestItem("b"), TestItem("c", revision: 2)], local: ["c": 1, "d": 1, "e": 1])
        let synchronizer = Synchronizer(processor: processor, options: SyncOptions().with { $0.reportsKeys = true })
        let report = try await synchronizer.sync()
        #expect(report.keys(.inserted, as: String.self).sorted() == ["a", "b"])
        #expect(report.keys(.updated, as: String.self) == ["c"])
        #expect(report.keys(.deleted, as: String.self).sorted() == ["d", "e"])
        #expect(report.keys(.kept, as: String.self).isEmpty)
        #expect(report.keys(.inserted, as: Int.self).isEmpty)
        synchronizer.options.reportsKeys = false
        #expect(try await synchronizer.sync().keys(.deleted, as: String.self).isEmpty)
    }

    @Test func durationsAreThoseOfTheClock() async throws {
        let clock = ManualClock()
        let processor = ScriptedProcessor(source: [TestItem("a")]) { call in
            if call == .list { clock.advance(by: .seconds(3)) }
            if call == .content("a") { clock.advance(by: .seconds(5)) }
        }
        let report = try await Synchronizer(processor: processor, clock: clock).sync()
        #expect(report.durations[.list] == .seconds(3))
        #expect(report.durations[.content] == .seconds(5))
        #expect(report.durations[.localKeys] == .zero)
        #expect(report.durations[.preview] == nil)
    }

    @Test func callersWithoutAsyncAreAnswered() async throws {
        let processor = ScriptedProcessor(source: [TestItem("a")])
        let synchronizer = Synchronizer(processor: processor)
        let result = await withCheckedContinuation { continuation in
            synchronizer.sync { continuation.resume(returning: $0) }
        }
        #expect(try result.get().inserted == 1)
    }

    @Test func keysThatLookAlikeAreKeptApart() async throws {
        let keys = [
            "", "0", "00", "1", "1.0", "9007199254740993", "9007199254740992", "id", "ID",
            String(repeating: "k", count: 10_000),
        ]
        let processor = ScriptedProcessor(source: keys.map { TestItem($0) })
        let report = try await Synchronizer(processor: processor).sync()
        #expect(report.inserted == keys.count)
        #expect(processor.local == processor.sourceRevisions)
    }

    @Test func canonicallyEquivalentStringsAreOneKey() async throws {
        let processor = ScriptedProcessor(source: [TestItem("\u{E9}"), TestItem("e\u{301}")])
        let failure = await #expect(throws: SyncFailure.self) { try await Synchronizer(processor: processor).sync() }
        #expect(failure?.errors.map(\.stage) == [.compare])
    }
}
