/// One entry of the source list: a key that identifies it and the order in which it is downloaded.
///
/// An item is what the source says *about* something (key, revision, address …), not the thing itself; the thing is
/// fetched by ``SyncProcessor/owsDownloadItem(for:)``.
public protocol SyncItem: Sendable {
    /// What identifies an item in the source and in the local collection; `String` is the usual one.
    ///
    /// Keys are compared by their `==`. That of `String` takes canonically equivalent texts for one, such as `é` in one and
    /// in two scalars; where bytes decide, use a key type that compares bytes.
    associatedtype Key: Hashable & Sendable

    /// Identifies the item. Unique within a source list: a key that occurs twice ends the pass with an error.
    var owsPrimaryKey: Key { get }

    /// Items with a lower order are downloaded first; ties keep the source's order. Any `Int`; 0 unless implemented.
    var owsDownloadOrder: Int { get }
}

extension SyncItem {
    /// 0: in the source's order.
    public var owsDownloadOrder: Int { 0 }
}
