/// An entry of the source list: a key, a place in the download order, and an optional revision.
///
/// An item is what the source lists *about* something (key, revision, address …), not its content;
/// ``SyncProcessor/owsDownloadItem(for:)`` fetches that.
public protocol SyncItem: Sendable {
    /// The type of keys, which identify items in the source and in the local collection; usually
    /// `String`.
    ///
    /// Keys are compared with `==`. Canonically equivalent `String` keys are equal, such as `é` as
    /// one and as two scalars. To distinguish them, use ``SyncKey``. Many different
    /// keys with the same hash value end a pass with ``SyncError/Reason/collidingKeys(type:)``.
    associatedtype Key: Hashable & Sendable

    /// The key of the item, unique within a source list. A key that occurs twice ends the pass with
    /// an error.
    var owsPrimaryKey: Key { get }

    /// The place in the download order: lower numbers first, ties in the source's order. Default 0.
    var owsDownloadOrder: Int { get }

    /// A text that changes whenever the item changes: an entity tag, a date or a number. Default
    /// `nil`: not known.
    ///
    /// If the processor implements ``SyncProcessor/owsGetLocalRevisions()``, a stored item is
    /// downloaded again when its revision differs from the stored one.
    var owsRevision: String? { get }
}

extension SyncItem {
    /// 0: in the source's order.
    public var owsDownloadOrder: Int { 0 }

    /// `nil`: the item has no revision.
    public var owsRevision: String? { nil }
}
