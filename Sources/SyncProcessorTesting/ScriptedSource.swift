import OneWaySynchronizer
import SyncBase

/// A processor with a scripted source list that forwards all other calls to the processor under
/// test.
final class ScriptedSource<Base: SyncProcessor>: SyncProcessor {
    typealias Item = Base.Item

    private struct State {
        var items: [Item] = []
        var downloads: [Item] = []
        var failedKeys: Set<Item.Key> = []
        var onDownload: (@Sendable () -> Void)?
    }

    private let base: Base
    private let state = Locked(State())

    init(_ base: Base) {
        self.base = base
    }

    /// The items downloaded since the step began.
    var downloads: [Item] { state.withLock(\.downloads) }

    /// The keys of the downloads that failed since the step began.
    var failedKeys: Set<Item.Key> { state.withLock(\.failedKeys) }

    /// Begins a step with new items of the source.
    func begin(_ items: [Item]) {
        state.withLock { state in
            state.items = items
            state.downloads = []
            state.failedKeys = []
            state.onDownload = nil
        }
    }

    /// Sets a function that is called once, after the next download.
    func cancelAfterFirstDownload(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.onDownload = cancel }
    }

    private func note(_ item: Item) {
        let onDownload = state.withLock { state in
            state.downloads.append(item)
            defer { state.onDownload = nil }
            return state.onDownload
        }
        onDownload?()
    }

    func owsSyncBegin() async throws { try await base.owsSyncBegin() }
    func owsFetchSourceList() async throws -> SourceList<Item> { SourceList(state.withLock(\.items)) }
    func owsGetLocalKeys() async throws -> Set<Item.Key> { try await base.owsGetLocalKeys() }
    func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws { try await base.owsRemoveLocalItems(for: keys) }
    func owsGetLocalRevisions() async throws -> [Item.Key: String]? { try await base.owsGetLocalRevisions() }

    func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool {
        try await base.owsShouldUpdateItem(forKey: key, with: item)
    }

    func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? {
        try await base.owsShouldUpdateItems(items)
    }

    func owsPrepareDownload(of items: [Item]) async throws -> [Item] { try await base.owsPrepareDownload(of: items) }
    func owsDownloadItemPreview(for item: Item) async throws { try await base.owsDownloadItemPreview(for: item) }

    func owsDownloadItem(for item: Item) async throws {
        do {
            try await base.owsDownloadItem(for: item)
        } catch {
            state.withLock { _ = $0.failedKeys.insert(item.owsPrimaryKey) }
            throw error
        }
        note(item)
    }

    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws { try await base.owsSyncEnd(result) }
}
