#if Postgres
import SyncBase
import Foundation
public import OneWaySynchronizer

/// A processor whose items are downloaded by the workers of a ``PostgresWorkQueue``; made by `sharing(_:)`.
///
/// A pass that begins takes the queue over: what an earlier one left, for example because its host died, is taken out first.
public final class SharedProcessor<Base: SyncProcessor>: SyncProcessor where Base.Item: Codable {
    /// What the processor lists.
    public typealias Item = Base.Item

    /// What lists, compares and removes.
    public let base: Base
    private let queue: PostgresWorkQueue
    private let offers = Locked<WorkOffers?>(nil)

    init(_ base: Base, queue: PostgresWorkQueue) {
        self.base = base
        self.queue = queue
    }

    /// Begins the pass of the base, and takes the queue over.
    public func owsSyncBegin() async throws {
        try await base.owsSyncBegin()
        let offers = try await WorkOffers(queue)
        self.offers.withLock { $0 = offers }
    }

    /// What the base lists.
    public func owsFetchSourceList() async throws -> SourceList<Item> {
        try await base.owsFetchSourceList()
    }

    /// What the base has.
    public func owsGetLocalKeys() async throws -> Set<Item.Key> {
        try await base.owsGetLocalKeys()
    }

    /// Has the base remove.
    public func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws {
        try await base.owsRemoveLocalItems(for: keys)
    }

    /// What the base says.
    public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool {
        try await base.owsShouldUpdateItem(forKey: key, with: item)
    }

    /// What the base says.
    public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? {
        try await base.owsShouldUpdateItems(items)
    }

    /// What the base says.
    public func owsPrepareDownload(of items: [Item]) async throws -> [Item] {
        try await base.owsPrepareDownload(of: items)
    }

    /// Has a worker download the preview.
    public func owsDownloadItemPreview(for item: Item) async throws {
        try await download(item, .preview)
    }

    /// Has a worker download the content.
    public func owsDownloadItem(for item: Item) async throws {
        try await download(item, .content)
    }

    /// Leaves the queue, and ends the pass of the base.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
        let offers = offers.withLock { offers in
            defer { offers = nil }
            return offers
        }
        await offers?.close()
        try await base.owsSyncEnd(result)
    }

    private func download(_ item: Item, _ stage: WorkStage) async throws {
        guard let offers = offers.withLock(\.self) else { throw PostgresWorkError.noPass }
        let encoder = JSONEncoder()
        // The same item has the same text, by which it is known whether it was set aside.
        encoder.outputFormatting = .sortedKeys
        try await offers.download(String(decoding: try encoder.encode(item), as: UTF8.self), stage)
    }
}
#endif
