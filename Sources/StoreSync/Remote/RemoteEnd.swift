/// What a source reports after the last page of a pass.
public struct RemoteEnd: Sendable {
    /// Which objects the pages cover.
    public enum Coverage: Hashable, Sendable {
        /// All objects: an absent object is gone.
        case everything
        /// The changes: an absent object is unchanged.
        case changes
    }

    /// Which objects the pages cover.
    public var coverage: Coverage
    /// Whether all pages are of one moment.
    ///
    /// If not, the source may have changed between two pages, and an object can have moved from a
    /// page that was still to be read to a page that had been read.
    public var isSnapshot: Bool
    /// Why the pages do not prove what is absent, such as an answer from a cache; nil, the default,
    /// if they do.
    ///
    /// With a doubt the pages are read again. If it remains, absent objects are kept.
    public var doubt: String?
    /// The number of all objects according to the source; nil, the default, if it is unknown or an
    /// estimate.
    ///
    /// If the pages had fewer objects, they do not prove what is absent. Ignored for changes.
    public var totalElementCount: Int?
    /// Sentences for people about the pages, such as a key path that was on none; empty by default.
    public var warnings: [String] = []
    /// The bookmark that the next pass begins after.
    public var bookmark: SyncBookmark
    /// The bookmark to use if the pages differed each time they were read; ``bookmark`` by default.
    public var cautiousBookmark: SyncBookmark

    /// Creates an end.
    public init(
        _ coverage: Coverage, isSnapshot: Bool, bookmark: SyncBookmark, cautiousBookmark: SyncBookmark? = nil
    ) {
        self.coverage = coverage
        self.isSnapshot = isSnapshot
        self.bookmark = bookmark
        self.cautiousBookmark = cautiousBookmark ?? bookmark
    }
}
