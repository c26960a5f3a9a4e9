/// The calls that a ``Synchronizer`` makes to compare a source with a local collection and to bring
/// items over.
///
/// Four methods are required: list, local keys, remove, download. The others have defaults that do
/// nothing.
///
/// A pass makes the calls in this order, each at most once except the per-item ones:
///
///     owsSyncBegin → owsFetchSourceList → owsGetLocalKeys → owsRemoveLocalItems
///       → owsGetLocalRevisions → owsShouldUpdateItems (→ owsShouldUpdateItem …)
///       → owsPrepareDownload → owsDownloadItemPreview … → owsDownloadItem … → owsSyncEnd
///
/// Calls are made off the synchronizer and the main actor, in a task that is cancelled with the
/// pass. A call that throws ends the pass, except for an item's preview or content under
/// `stopOnError == false`. A call that runs when the pass is cancelled is awaited: if it succeeds
/// it counts, and an error it throws then is not reported.
///
/// A method with a misspelled signature is never called. `ProcessorConformance.check` of the module
/// `SyncProcessorTesting` runs a processor against a scripted source and reports what it breaks.
public protocol SyncProcessor<Item>: Sendable {
    /// The type of the source's entries.
    associatedtype Item: SyncItem

    /// Called first in every pass, once, also when the pass was cancelled before it could start.
    func owsSyncBegin() async throws

    /// Lists the source.
    ///
    /// - Returns: Items with unique keys; an empty list means that the source is empty. A list that
    ///   may be incomplete must say so (``SourceList/isPartial``), otherwise local items that it
    ///   lacks are removed.
    func owsFetchSourceList() async throws -> SourceList<Item>

    /// Returns the keys of the stored items, in whatever state a previous pass left them.
    func owsGetLocalKeys() async throws -> Set<Item.Key>

    /// Removes items that are no longer in the source.
    ///
    /// Not called when there is nothing to remove. A key may be gone already; that is not an error.
    ///
    /// - Parameter keys: Never empty, a subset of the keys that ``owsGetLocalKeys()`` returned.
    func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws

    /// Returns the revisions of the stored items, for processors that keep them.
    ///
    /// Called if at least one item of the source is stored already. A stored item is downloaded
    /// again if its revision (``SyncItem/owsRevision``) differs from the returned one, or if none
    /// is returned for its key. The other methods are asked only for items without a revision.
    ///
    /// - Returns: Revisions by key. `nil`, the default: revisions are not kept, and the other
    ///   methods decide.
    func owsGetLocalRevisions() async throws -> [Item.Key: String]?

    /// Returns whether a stored item should be downloaded again, for example because it changed.
    ///
    /// Called for each item of the source whose key is stored, unless revisions or
    /// ``owsShouldUpdateItems(_:)`` decide: one call at a time in the source's order, or several
    /// under ``SyncOptions/concurrentUpdateChecks``.
    func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool

    /// Returns which of the stored items should be downloaded again, for processors that find out
    /// in one query.
    ///
    /// Not called when there is no item to ask for.
    ///
    /// - Parameter items: The items of the source whose key is stored, in the source's order; never
    ///   empty.
    /// - Returns: The keys of the items to download again; keys of other items are ignored. `nil`,
    ///   the default: ``owsShouldUpdateItem(forKey:with:)`` is asked for each.
    func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>?

    /// Reorders, filters or extends the list of items to download.
    ///
    /// - Parameter items: New and changed items by ``SyncItem/owsDownloadOrder``, ties in the
    ///   source's order; may be empty.
    /// - Returns: The items to download, used as they are.
    func owsPrepareDownload(of items: [Item]) async throws -> [Item]

    /// Downloads a small stand-in for an item, shown until its content is there.
    ///
    /// Called only under ``SyncOptions/downloadPreview``, for several items at a time. Every
    /// preview call has returned before the first content is requested. ``SyncAttempt/current``
    /// describes the call.
    func owsDownloadItemPreview(for item: Item) async throws

    /// Downloads an item's content and stores it, so that ``owsGetLocalKeys()`` of a later pass
    /// returns its key.
    ///
    /// Called for several items at a time, never twice at a time for the same position of the
    /// download list. Should store all or nothing: it can be cancelled, time out, and be tried
    /// again. ``SyncAttempt/current`` describes the call.
    func owsDownloadItem(for item: Item) async throws

    /// Called last in every pass, exactly once, also after an error and after a cancel, in a task
    /// that is not cancelled.
    ///
    /// - Parameter result: How the pass ended so far. An error that this method throws is added to
    ///   the pass's errors.
    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws
}

extension SyncProcessor {
    /// Does nothing.
    public func owsSyncBegin() async throws {}

    /// `nil`: revisions are not kept.
    public func owsGetLocalRevisions() async throws -> [Item.Key: String]? { nil }

    /// `false`: stored items stay as they are.
    public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool { false }

    /// `nil`: each item is asked for.
    public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? { nil }

    /// Downloads all items, in the order given.
    public func owsPrepareDownload(of items: [Item]) async throws -> [Item] { items }

    /// Does nothing.
    public func owsDownloadItemPreview(for item: Item) async throws {}

    /// Does nothing.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {}
}
