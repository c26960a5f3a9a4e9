/// What a source reports after the last page of a pass.
public struct RemoteEnd: Sendable {
    /// Which objects the pages cover.
    public var coverage: StoreSyncResult.Coverage
    /// Whether all pages are of one moment.
    ///
    /// If not, the source may have changed while its pages were read, and an object can have moved
    /// from an unread page to a page that had been read. Pages that repeat objects of earlier pages
    /// then prove what is absent only with a ``totalElementCount``.
    public var isSnapshot: Bool
    /// How each page shows that it is complete; ``RemoteEnd/Proof/syntax`` by default, nil if it
    /// does not.
    ///
    /// Lines of JSON show no end: a connection that broke off between two lines can look whole. The
    /// pages are then read again before objects are deleted, even if there is only one page.
    public var proof: RemoteEnd.Proof? = .syntax
    /// Why the pages do not prove which objects are absent; nil, the default, if they prove it. An
    /// example is an answer from a cache.
    ///
    /// If there is a doubt, the pages are read again. If the doubt remains, absent objects are
    /// kept.
    public var doubt: String?
    /// The total number of objects according to the source; nil, the default, if unknown or
    /// estimated.
    ///
    /// If the pages had fewer different objects, they do not prove which objects are absent.
    /// Elements with the same identity are one object. Ignored for changes.
    public var totalElementCount: Int?
    /// What a user can change if the pages have fewer objects than the source counts; nil, the
    /// default, if there is no advice.
    package var advice: String?
    /// Whether the pages had fewer objects than ``totalElementCount``.
    var lacksObjects = false
    /// Readable sentences about the pages, such as a key path that no page has; empty by default.
    public var warnings: [String] = []
    /// The bookmark for the next pass.
    public var bookmark: SyncBookmark
    /// The bookmark for the next pass if the pages are not known to be complete.
    ///
    /// If its cursor differs from the cursor of ``bookmark``, the pages are read again until two
    /// readings in a row have the same objects.
    public var cautiousBookmark: SyncBookmark

    /// Creates an end.
    ///
    /// - Parameters:
    ///   - coverage: Which objects the pages cover.
    ///   - isSnapshot: Whether all pages are of one moment.
    ///   - bookmark: The bookmark for the next pass.
    ///   - cautiousBookmark: The bookmark if the pages are not known to be complete. By default,
    ///     ``bookmark`` for changes. For all objects, it is ``bookmark`` without its cursor:
    ///     changes after the cursor would not contain objects that the pages lacked.
    public init(
        _ coverage: StoreSyncResult.Coverage, isSnapshot: Bool, bookmark: SyncBookmark,
        cautiousBookmark: SyncBookmark? = nil
    ) {
        self.coverage = coverage
        self.isSnapshot = isSnapshot
        self.bookmark = bookmark
        var cautious = bookmark
        if coverage == .everything { (cautious.cursor, cautious.lastFullPass) = (nil, nil) }
        self.cautiousBookmark = cautiousBookmark ?? cautious
    }
}
