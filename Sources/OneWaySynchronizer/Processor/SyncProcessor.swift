/// The operations through which a ``Synchronizer`` compares a source with a local collection and
/// downloads items.
///
/// Four methods are required: list, local keys, remove and download. The others have defaults.
///
/// A pass makes the calls in this order, each once except the per-item ones, unless
/// ``SyncOptions/retry`` repeats a failed one:
///
///     owsSyncBegin → owsFetchSourceList → owsGetLocalKeys → owsRemoveLocalItems
///       → owsGetLocalRevisions → owsShouldUpdateItems (→ owsShouldUpdateItem …)
///       → owsPrepareDownload → owsDownloadItemPreview … → owsDownloadItem … → owsSyncEnd
///
/// Calls run off the synchronizer and the main actor, in a task that is cancelled with the pass. A
/// call that throws ends the pass, except for previews and contents if `stopOnError` is `false`. A
/// call that runs when the pass is cancelled is awaited: if it succeeds it counts, and an error
/// that it throws is not reported.
///
/// A method with a misspelled signature is never called. `ProcessorConformance.check` of the module
/// `SyncProcessorTesting` runs a processor against a scripted source and reports the rules that it
/// breaks.
public protocol SyncProcessor<Item>: Sendable {
    /// The type of the source's entries.
    associatedtype Item: SyncItem

    /// Called first, once in every pass, even if the pass was cancelled before it could start. Not
    /// called by ``Synchronizer/plan()``.
    func owsSyncBegin() async throws

    /// Lists the source.
    ///
    /// - Returns: Items with unique keys; an empty list means that the source is empty. A list that
    ///   may be incomplete must say so (``SourceList/isPartial``), otherwise local items that it
    ///   does not contain are removed.
    func owsFetchSourceList() async throws -> SourceList<Item>

    /// Returns the keys of the stored items, in any state that a previous pass left them in.
    ///
    /// ``Synchronizer/plan()`` calls it without ``owsSyncBegin()``, also before the first pass.
    func owsGetLocalKeys() async throws -> Set<Item.Key>

    /// Removes items that are no longer in the source.
    ///
    /// Not called if there is nothing to remove. A key that is already gone is not an error.
    ///
    /// - Parameter keys: A subset of the keys that ``owsGetLocalKeys()`` returned; never empty.
    func owsRemoveLocalItems(for keys: Set<Item.Key>) async throws

    /// Returns the revisions of the stored items, for processors that store them.
    ///
    /// Called if at least one item of the source is already stored. A stored item is downloaded
    /// again if its revision (``SyncItem/owsRevision``) differs from the returned one, or if none
    /// is returned for its key. The other update methods are called only for items without a
    /// revision.
    ///
    /// - Returns: Revisions by key. `nil`, the default, if revisions are not stored; the other
    ///   update methods then decide.
    func owsGetLocalRevisions() async throws -> [Item.Key: String]?

    /// Returns whether a stored item should be downloaded again, for example because it changed.
    ///
    /// Called for each item of the source whose key is stored, unless revisions or
    /// ``owsShouldUpdateItems(_:)`` decide. Calls are made one at a time in the source's order, or
    /// several at a time under ``SyncOptions/concurrentUpdateChecks``.
    func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool

    /// Returns which stored items should be downloaded again, for processors that need only one
    /// query.
    ///
    /// Not called if there is no item to ask for.
    ///
    /// - Parameter items: The items of the source whose keys are stored, in the source's order;
    ///   never empty.
    /// - Returns: The keys of the items to download again; keys of other items are ignored. `nil`,
    ///   the default, to have ``owsShouldUpdateItem(forKey:with:)`` called for each item.
    func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>?

    /// Reorders, filters or extends the list of items to download.
    ///
    /// - Parameter items: New and changed items by ``SyncItem/owsDownloadOrder``, ties in the
    ///   source's order; may be empty.
    /// - Returns: The items to download, used without further changes.
    func owsPrepareDownload(of items: [Item]) async throws -> [Item]

    /// Downloads a preview: a small stand-in for an item until its content is available.
    ///
    /// Called only if ``SyncOptions/downloadPreview`` is set, for several items at a time. All
    /// preview calls return before the first content is requested. ``RetryPolicy/Attempt/current``
    /// describes the call.
    func owsDownloadItemPreview(for item: Item) async throws

    /// Downloads an item's content and stores it, so that later calls of ``owsGetLocalKeys()``
    /// return its key.
    ///
    /// Called for several items at a time, but never twice at a time for the same position of the
    /// download list. It should store everything or nothing, because it can be cancelled, time out,
    /// and be retried. ``RetryPolicy/Attempt/current`` describes the call.
    func owsDownloadItem(for item: Item) async throws

    /// Called last, exactly once in every pass, even after an error or a cancel. Only a time limit
    /// for this stage (``SyncOptions/stageTimeouts``) cancels its task. Not called by
    /// ``Synchronizer/plan()``.
    ///
    /// A call of ``Synchronizer/cancel()`` while it runs does not change the result of the pass.
    /// Only the callers of `sync()` get a failure with ``SyncFailure/isCancelled``.
    ///
    /// - Parameter result: The result of the pass so far. An error that this method throws is added
    ///   to the errors of the pass.
    func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws
}

extension SyncProcessor {
    /// Does nothing.
    public func owsSyncBegin() async throws {}

    /// Returns `nil`: revisions are not stored.
    public func owsGetLocalRevisions() async throws -> [Item.Key: String]? { nil }

    /// Returns `false`: stored items are not downloaded again.
    public func owsShouldUpdateItem(forKey key: Item.Key, with item: Item) async throws -> Bool { false }

    /// Returns `nil`: ``owsShouldUpdateItem(forKey:with:)`` decides for each item.
    public func owsShouldUpdateItems(_ items: [Item]) async throws -> Set<Item.Key>? { nil }

    /// Returns all items in the given order.
    public func owsPrepareDownload(of items: [Item]) async throws -> [Item] { items }

    /// Does nothing.
    public func owsDownloadItemPreview(for item: Item) async throws {}

    /// Does nothing.
    public func owsSyncEnd(_ result: Result<SyncReport, SyncFailure>) async throws {}
}
