import OneWaySynchronizer
import OneWayTestLimits
import OneWayTestSupport
import SyncProcessorTesting
import Testing

private struct Page: SyncItem {
    var owsPrimaryKey: String
    var revision = 1

    init(_ key: String, revision: Int = 1) {
        owsPrimaryKey = key
        self.revision = revision
    }
}

/// Keeps pages in memory.
private actor Mirror: SyncProcessor {
    private var pages: [String: Page] = [:]

    func owsFetchSourceList() -> SourceList<Page> { [Page("a")] }
    func owsGetLocalKeys() -> Set<String> { Set(pages.keys) }
    func owsRemoveLocalItems(for keys: Set<String>) { for key in keys { pages[key] = nil } }
    func owsShouldUpdateItem(forKey key: String, with item: Page) -> Bool { pages[key]?.revision != item.revision }
    func owsDownloadItem(for item: Page) { pages[item.owsPrimaryKey] = item }
}

func showProgress(
    of events: SyncEvents<SyncEvent>, on show: @Sendable (String) -> Void = { print($0, terminator: "") }
) async {
    for await event in events {
        switch event {
        case .progress(let progress):
            let total = progress.total ?? progress.done
            let width = total > 0 ? 40 * progress.done / total : 40
            let bar = String(repeating: "#", count: width) + String(repeating: ".", count: 40 - width)
            show("\r\(bar) \(progress.done) of \(total) \(progress.stage.rawValue)\u{1B}[K")
        case .passEnded(.success(let report)): show("\r\(report)\u{1B}[K\n")
        case .passEnded(.failure(let failure)): show("\r\(failure)\u{1B}[K\n")
        default: break
        }
    }
}

/// The documentation of processors.
@Suite(.endsInTime) struct SynchronizerExamples {
    @Test func mirrorConforms() async throws {
        try await ProcessorConformance.check(
            Mirror(),
            steps: [
                .init([Page("a"), Page("b")]),
                .init([Page("a", revision: 2), Page("c")], changedKeys: ["a"]),
            ])
    }

    @Test func aPassRuns() async throws {
        let mirror = Mirror()
        let synchronizer = Synchronizer(processor: mirror)
        let report = try await synchronizer.sync()
        print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 deleted
        #expect(report.inserted == 1)

        var larger = SyncReport()
        (larger.listed, larger.inserted, larger.updated, larger.unchanged, larger.deleted) = (120, 3, 1, 116, 2)
        #expect("\(larger)" == "120 listed: 3 inserted, 1 updated, 116 unchanged, 2 deleted")
    }

    private struct Nothing: SyncProcessor {
        func owsFetchSourceList() -> SourceList<Page> { [] }
        func owsGetLocalKeys() -> Set<String> { [] }
        func owsRemoveLocalItems(for keys: Set<String>) {}
        func owsShouldUpdateItem(forKey key: String, with item: Page) -> Bool { false }
        func owsDownloadItem(for item: Page) {}
    }

    /// The lines of one pass.
    private func lines(of processor: some SyncProcessor) async throws -> [String] {
        let synchronizer = Synchronizer(processor: processor)
        let events = synchronizer.events
        try await synchronizer.sync()
        let (lines, output) = AsyncStream.makeStream(of: String.self)
        let showing = Task { await showProgress(of: events) { output.yield($0) } }
        var texts: [String] = []
        for await line in lines {
            texts.append(line)
            if line.hasSuffix("\n") { break }
        }
        showing.cancel()
        await showing.value
        return texts
    }

    @Test func aTerminalShowsTheProgress() async throws {
        let texts = try await lines(of: Mirror())
        #expect(texts.contains("\r\(String(repeating: "#", count: 40)) 1 of 1 content\u{1B}[K"))
        #expect(texts.last?.hasPrefix("\r1 listed: 1 inserted") == true)
    }

    @Test func aTerminalShowsThatNothingIsToBeDone() async throws {
        let texts = try await lines(of: Nothing())
        #expect(!texts.contains { $0.contains("of 1") }, "\(texts)")
        #expect(texts.last?.hasPrefix("\r0 listed: 0 inserted") == true)
    }
}
