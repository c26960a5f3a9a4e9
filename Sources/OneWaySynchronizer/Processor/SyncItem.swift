/// One entry of the source list: its key, its place in the download order, and its revision if it has one.
///
/// An item is what the source says *about* something (key, revision, address …), not the thing itself;
/// ``SyncProcessor/owsDownloadItem(for:)`` fetches that.
public protocol SyncItem: Sendable {
    /// The type of keys, which identify items in the source and in the local collection. Usually `String`.
    ///
    /// Keys are compared with `==`. For `String`, canonically equivalent texts are equal, such as `é` as one and as two
    /// scalars; if bytes decide, use a key type that compares bytes. Many different keys with the same hash value end a
    /// pass with ``SyncError/Reason/collidingKeys(type:)``.
    associatedtype Key: Hashable & Sendable

    /// The key of the item. Unique within a source list: a key that occurs twice ends the pass with an error.
    var owsPrimaryKey: Key { get }

    /// The place in the download order: lower ones are downloaded first, ties in the source's order. Default 0.
    var owsDownloadOrder: Int { get }

    /// What changes whenever the item changes: an entity tag, a date or a number, as text. Default `nil`: not known.
    ///
    /// With a processor that implements ``SyncProcessor/owsGetLocalRevisions()``, a stored item is downloaded again when
    /// its revision differs from the stored one.
    var owsRevision: String? { get }
}

extension SyncItem {
    /// 0: in the source's order.
    public var owsDownloadOrder: Int { 0 }

    /// `nil`: the item has no revision.
    public var owsRevision: String? { nil }
}
