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
        print(report)  // 120 listed: 3 inserted, 1 updated, 116 unchanged, 2 removed
        #expect(report.inserted == 1)
    }
}
