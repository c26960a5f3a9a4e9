/// A remote source of an entity's objects, read page by page.
///
/// A source may report that nothing has changed, or only its changes since a bookmark.
/// `store.sync(User.self, from:)` keeps the bookmark with the data, in the same transaction.
public protocol RemoteSource: Sendable {
    /// A name that is unique among the sources of an entity, stable across processes, and free of
    /// secrets.
    var name: String { get }

    /// A text that identifies everything that determines the contents of the pages, such as the
    /// address and the paging.
    ///
    /// A bookmark that was stored with another fingerprint is not used.
    var fingerprint: String { get async throws }

    /// The key path of the objects in each page, used unless the sync's options have one. Empty,
    /// the default, if the page is the array.
    var keyPath: String { get }

    /// The meaning of a key that an object lacks, used if the sync's options say `automatic`, which
    /// is the default here, too. Sources that omit empty values say `clear`.
    var absentKeys: StoreSyncOptions.AbsentKeys { get }

    /// Begins a pass.
    ///
    /// - Parameters:
    ///   - bookmark: The bookmark of the last pass; nil to list everything.
    ///   - keyPath: The keys that lead to the array of objects in each page, separated by dots.
    ///     Empty if the page is the array.
    /// - Throws: An error if the source cannot be reached or understood; `CancellationError`.
    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer
}

extension RemoteSource {
    /// Empty: the page is the array.
    public var keyPath: String { "" }

    /// `automatic`: the source has no rule.
    public var absentKeys: StoreSyncOptions.AbsentKeys { .automatic }
}

/// The answer of a source at the beginning of a pass.
public enum RemoteAnswer: Sendable {
    /// Nothing has changed since the bookmark. The payload is the bookmark to keep from now on.
    case unchanged(SyncBookmark)
    /// There may be changes.
    case changed(any RemotePass)
}
