#if Postgres
import Foundation
public import OneWaySynchronizer
import SyncBase

extension PostgresWorkQueue {
    /// A processor whose items the workers of a ``PostgresWorkQueue`` download; created by
    /// `sharing(_:)`.
    ///
    /// A pass that begins takes the queue over: items that an earlier pass left, for example
    /// because its host died, are removed first.
    public final class SharedProcessor<Base: SyncProcessor>: SyncProcessor where Base.Item: Codable {
        /// The type of the items that the processor lists.
        public typealias Item = Base.Item

        /// The processor that lists, compares and removes.
        public let base: Base
        private let queue: PostgresWorkQueue
        private let offers = Locked<WorkOffers?>(nil)

        init(_ base: Base, queue: PostgresWorkQueue) {
            self.base = base
            self.queue = queue
        }

        /// Takes the queue over, and begins the pass of the base.
        public func owsSyncBegin() async throws {
            let offers = try await WorkOffers(queue)
            do {
                try await PostgresWorkQueue.$generation.withValue(offers.generation) { try await base.owsSyncBegin() }
            } catch {
                await offers.close()
                throw error
            }
            self.offers.withLock { $0 = offers }
        }

        /// Lists the source of the base.
        public func owsFetchSourceList() async throws -> SourceList<Item> {
            try await inPass { try await base.owsFetchSourceList() }
        }

        /// Lists the local keys of the base.
        public func owsGetLocalKeys() async throws -> Set<Item.Key> {
            try await inPass { try await base.owsGetLocalKeys() }
        }

        /// Removes items through the base.
        public func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws {
            try await inPass { try await base.owsRemoveLocalItems(for: keys) }
        }

        /// Forwards to the wrapped processor.
        public func owsGetLocalRevisions() async throws -> [Item.Key: String]? {
            try await inPass { try await base.owsGetLocalRevisions() }
        }

        /// Asks the base.
        public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool {
            try await inPass { try await base.owsShouldUpdateItem(forKey: key, with: item) }
        }

        /// Asks the base.
        public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? {
            try await inPass { try await base.owsShouldUpdateItems(items) }
        }

        /// Prepares the download through the base.
        public func owsPrepareDownload(of items: [Item]) async throws -> [Item] {
            try await inPass { try await base.owsPrepareDownload(of: items) }
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
            try await PostgresWorkQueue.$generation.withValue(offers?.generation) { try await base.owsSyncEnd(result) }
        }

        /// Runs a call of the base with the generation of the pass.
        private func inPass<Value>(_ body: () async throws -> Value) async throws -> Value {
            let generation = offers.withLock { $0?.generation }
            return try await PostgresWorkQueue.$generation.withValue(generation) { try await body() }
        }

        private func download(_ item: Item, _ stage: WorkStage) async throws {
            guard let offers = offers.withLock(\.self) else { throw PostgresWorkQueue.Failure.noPass }
            let encoder = JSONEncoder()
            // The same item always has the same text, which an item set aside is compared with.
            encoder.outputFormatting = .sortedKeys
            let text = String(decoding: try encoder.encode(item), as: UTF8.self)
            // PostgreSQL has no texts with NUL; JSON escapes it.
            let key = "\(item.owsPrimaryKey)".replacing(byte: 0, with: "\\0")
            try await offers.download(text, key: key, stage)
        }
    }
}
#endif
