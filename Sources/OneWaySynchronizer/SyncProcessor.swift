/// What a ``Synchronizer`` drives: knows the source, the local collection, and how to bring an item from one to the other.
///
/// Four methods are required: list, local keys, remove, download. The others have defaults that do nothing.
///
/// A pass calls them in this order, each at most once except the per-item ones:
///
///     owsSyncBegin → owsFetchSourceList → owsGetLocalKeys → owsRemoveLocalItems → owsShouldUpdateItems
///       (→ owsShouldUpdateItem …) → owsPrepareDownload → owsDownloadItemPreview … → owsDownloadItem … → owsSyncEnd
///
/// Calls are made off the synchronizer's and the main actor, in a task that is cancelled when the pass is. A call that
/// throws ends the pass, except for an item's preview or content under `stopOnError == false`. A call that is running
/// when the pass is cancelled is awaited; what it throws then is not an error.
public protocol SyncProcessor<Item>: Sendable {
    /// What the source lists.
    associatedtype Item: SyncItem

    /// Called first in every pass, once, also when the pass was cancelled before it could start.
    func owsSyncBegin() async throws

    /// Lists the source.
    ///
    /// - Returns: The items with unique keys; an empty list means that the source is empty. A list that may be incomplete
    ///   must say so (``SourceList/isPartial``), otherwise what it lacks is removed.
    func owsFetchSourceList() async throws -> SourceList<Item>

    /// The keys of what is stored locally, in whatever state a previous pass left it.
    func owsGetLocalKeys() async throws -> Set<Item.Key>

    /// Removes what is no longer in the source.
    ///
    /// Not called when there is nothing to remove. A key may be gone already; that is not an error.
    ///
    /// - Parameter keys: Never empty, a subset of what ``owsGetLocalKeys()`` returned.
    func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws

    /// Whether an item that is stored already should be downloaded again, for example because its revision differs.
    ///
    /// Called for each item of the source whose key is stored locally, unless ``owsShouldUpdateItems(_:)`` answers; one
    /// call at a time in the source's order, or several under ``SyncOptions/concurrentUpdateChecks``.
    func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool

    /// The same question for all stored items at once, for processors that can answer it in one query.
    ///
    /// Not called when no item of the source is stored.
    ///
    /// - Parameter items: Every item of the source whose key is stored locally, in the source's order; never empty.
    /// - Returns: The keys of those to download again; keys that are not among `items` are ignored. `nil`, the default,
    ///   means: ask ``owsShouldUpdateItem(forKey:with:)`` for each.
    func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>?

    /// The last word on what is downloaded, and in which order: reorder, filter or add.
    ///
    /// - Parameter items: New and changed items, by ``SyncItem/owsDownloadOrder``, ties in the source's order; may be empty.
    /// - Returns: What to download, taken as it is.
    func owsPrepareDownload(of items: [Item]) async throws -> [Item]

    /// Downloads something small that stands for the item until its content is there.
    ///
    /// Called only under ``SyncOptions/downloadPreview``, for several items at a time; every preview call has returned
    /// before the first content is asked for.
    func owsDownloadItemPreview(for item: Item) async throws

    /// Downloads an item's content and stores it, so that ``owsGetLocalKeys()`` of a later pass contains its key.
    ///
    /// Called for several items at a time, never twice at a time for the same position of the download list. Should store
    /// all or nothing: it can be cancelled, time out, and be tried again.
    func owsDownloadItem(for item: Item) async throws

    /// Called last in every pass, exactly once, also after an error and after a cancel, in a task that is not cancelled.
    ///
    /// - Parameter result: How the pass ended so far. What this method throws is added to the pass's errors.
    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws
}

extension SyncProcessor {
    /// Does nothing.
    public func owsSyncBegin() async throws {}

    /// `false`: what is stored stays as it is.
    public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool { false }

    /// `nil`: ask for each item.
    public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? { nil }

    /// Downloads everything, in the order given.
    public func owsPrepareDownload(of items: [Item]) async throws -> [Item] { items }

    /// Does nothing.
    public func owsDownloadItemPreview(for item: Item) async throws {}

    /// Does nothing.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {}
}
