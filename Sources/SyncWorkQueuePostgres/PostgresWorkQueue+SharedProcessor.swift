#if Postgres
import Foundation
public import OneWaySynchronizer
import SyncBase

extension PostgresWorkQueue {
    /// A processor whose items are downloaded by the workers of a ``PostgresWorkQueue``; created by
    /// `sharing(_:)`.
    ///
    /// A new pass takes the queue over. Items from an earlier pass, for example one whose host
    /// died, are removed first.
    public final class SharedProcessor<Base: SyncProcessor>: SyncProcessor where Base.Item: Codable {
        /// The type of the items that the processor lists.
        public typealias Item = Base.Item

        /// The processor that lists, compares and removes items.
        public let base: Base
        private let queue: PostgresWorkQueue
        /// The passes whose `owsSyncBegin` has begun, and their offers once it has succeeded. One
        /// that begins takes the queue over from the others.
        private let passes = Locked<[ObjectIdentifier?: WorkOffers?]>([:])

        init(_ base: Base, queue: PostgresWorkQueue) {
            self.base = base
            self.queue = queue
        }

        /// Takes the queue over, and begins the pass of the base processor.
        ///
        /// - Throws: `PostgresError`; ``PostgresWorkQueue/Failure/takenOver``; the errors of the
        ///   base processor.
        public func owsSyncBegin() async throws {
            let offers = try await WorkOffers(queue)
            let pass = PassScope.id
            passes.withLock { $0[pass] = .some(nil) }
            do {
                try await PostgresWorkQueue.$generation.withValue(offers.generation) { try await base.owsSyncBegin() }
            } catch {
                await offers.close()
                throw error
            }
            passes.withLock { $0[pass] = offers }
        }

        /// Lists the source with the base processor.
        public func owsFetchSourceList() async throws -> SourceList<Item> {
            try await inPass { try await base.owsFetchSourceList() }
        }

        /// Lists the local keys with the base processor.
        public func owsGetLocalKeys() async throws -> Set<Item.Key> {
            try await inPass { try await base.owsGetLocalKeys() }
        }

        /// Removes items with the base processor.
        public func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws {
            try await inPass { try await base.owsRemoveLocalItems(for: keys) }
        }

        /// Returns the local revisions of the base processor.
        public func owsGetLocalRevisions() async throws -> [Item.Key: String]? {
            try await inPass { try await base.owsGetLocalRevisions() }
        }

        /// Asks the base processor whether an item must be updated.
        public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool {
            try await inPass { try await base.owsShouldUpdateItem(forKey: key, with: item) }
        }

        /// Asks the base processor which items must be updated.
        public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? {
            try await inPass { try await base.owsShouldUpdateItems(items) }
        }

        /// Prepares the download with the base processor.
        public func owsPrepareDownload(of items: [Item]) async throws -> [Item] {
            try await inPass { try await base.owsPrepareDownload(of: items) }
        }

        /// Waits until a worker has downloaded the preview.
        ///
        /// - Throws: ``PostgresWorkQueue/Failure``; `PostgresError` if the server was out of reach
        ///   for the visibility timeout; `CancellationError`.
        public func owsDownloadItemPreview(for item: Item) async throws {
            try await download(item, .preview)
        }

        /// Waits until a worker has downloaded the content.
        ///
        /// - Throws: ``PostgresWorkQueue/Failure``; `PostgresError` if the server was out of reach
        ///   for the visibility timeout; `CancellationError`.
        public func owsDownloadItem(for item: Item) async throws {
            try await download(item, .content)
        }

        /// Leaves the queue, and ends the pass of the base processor if it has begun.
        public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {
            guard let offers = passes.withLock({ $0.removeValue(forKey: PassScope.id) }) else { return }
            await offers?.close()
            try await PostgresWorkQueue.$generation.withValue(offers?.generation) { try await base.owsSyncEnd(result) }
        }

        private var offers: WorkOffers? { passes.withLock { $0[PassScope.id] ?? nil } }

        /// Runs a call of the base processor with the generation of the pass.
        private func inPass<Value>(_ body: () async throws -> Value) async throws -> Value {
            let generation = offers?.generation
            return try await PostgresWorkQueue.$generation.withValue(generation) { try await body() }
        }

        private func download(_ item: Item, _ stage: WorkStage) async throws {
            guard let offers else { throw PostgresWorkQueue.Failure.noPass }
            let encoder = JSONEncoder()
            // The same item must always have the same text, because items set aside are compared
            // with it.
            encoder.outputFormatting = .sortedKeys
            let text = String(decoding: try encoder.encode(item), as: UTF8.self)
            // A PostgreSQL text cannot contain NUL. JSON escapes it.
            let key = "\(item.owsPrimaryKey)".replacing(byte: 0, with: "\\0")
            try await offers.download(text, key: key, stage)
        }
    }
}
#endif
