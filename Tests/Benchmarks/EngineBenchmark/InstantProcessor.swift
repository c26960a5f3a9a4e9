import OneWaySynchronizer

/// An item of a source in memory.
struct BenchmarkItem: SyncItem {
    var owsPrimaryKey: String
    var revision: Int
}

/// What a pass finds to do.
enum Workload: String, CaseIterable {
    case new = "all new"
    case unchanged = "all unchanged"
    case updated = "all updated"
}

/// A processor whose calls return at once, so that what is measured is the engine alone.
struct InstantProcessor: SyncProcessor {
    let items: [BenchmarkItem]
    let localKeys: Set<String>
    let wantsUpdates: Bool

    init(_ workload: Workload, count: Int) {
        items = (0..<count).map { BenchmarkItem(owsPrimaryKey: "item-\($0)", revision: $0) }
        localKeys = workload == .new ? [] : Set(items.lazy.map(\.owsPrimaryKey))
        wantsUpdates = workload == .updated
    }

    func owsFetchSourceList() async throws -> SourceList<BenchmarkItem> { SourceList(items) }
    func owsGetLocalKeys() async throws -> Set<String> { localKeys }
    func owsRemoveLocalItems(for keys: Set<String>) async throws {}
    func owsShouldUpdateItem(forKey key: String, with item: BenchmarkItem) async throws -> Bool { wantsUpdates }
    func owsDownloadItem(for item: BenchmarkItem) async throws {}
}

/// A processor whose downloads take a fixed time, as over a network.
struct SlowProcessor: SyncProcessor {
    let items: [BenchmarkItem]
    let latency: Duration

    init(count: Int, latency: Duration) {
        items = (0..<count).map { BenchmarkItem(owsPrimaryKey: "item-\($0)", revision: $0) }
        self.latency = latency
    }

    func owsFetchSourceList() async throws -> SourceList<BenchmarkItem> { SourceList(items) }
    func owsGetLocalKeys() async throws -> Set<String> { [] }
    func owsRemoveLocalItems(for keys: Set<String>) async throws {}
    func owsDownloadItem(for item: BenchmarkItem) async throws { try await Task.sleep(for: latency) }
}
