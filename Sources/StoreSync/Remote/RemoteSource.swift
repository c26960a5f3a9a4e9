/// Where the objects of an entity come from, a run at a time: something remote that has pages, may know what has changed since a bookmark,
/// and may say that nothing has.
///
/// `JSONStore.sync(from:into:)` keeps the bookmark with the data, in the same transaction.
public protocol RemoteSource: Sendable {
    /// Tells it from the other sources of an entity; the same in every process, and free of secrets.
    var name: String { get }

    /// All that decides what its answers mean, such as an address and how pages are asked for. A bookmark that was kept under another
    /// fingerprint does not apply.
    var fingerprint: String { get }

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - bookmark: What was kept at the end of the last run; nil if everything is to be listed.
    ///   - keyPath: The keys that lead to the array of objects in each page, dots between them; empty if it is the document.
    /// - Throws: What keeps the source from being reached or understood, and `CancellationError`.
    func begin(after bookmark: SyncBookmark?, keyPath: String) async throws -> RemoteAnswer
}

/// What a source says at the beginning of a run.
public enum RemoteAnswer: Sendable {
    /// Nothing has changed since the bookmark. What is to be kept from now on, which is often that same bookmark.
    case unchanged(SyncBookmark)
    /// There may be something new.
    case changed(any RemoteRun)
}

/// One run through the pages of a source. Used by one task at a time.
public protocol RemoteRun: Sendable {
    /// The next page; nil after the last.
    ///
    /// - Throws: What keeps the page from being reached, after all attempts; `CancellationError`.
    func next() async throws -> RemotePage?

    /// Decides about a page that could not be read to its end: returns if ``next()`` hands it out again, from its start.
    ///
    /// - Throws: The error, where there is no use in that.
    func recover(from error: any Error) async throws

    /// Begins anew with the first page, in the same run: what is to be deleted is looked for once more.
    func rewind() async throws

    /// Ends the run, after the last page.
    func end() async throws -> RemoteEnd
}

extension RemoteRun {
    /// Throws the error: no page is handed out twice.
    public func recover(from error: any Error) async throws {
        throw error
    }
}

/// A part of what a source has to say.
public struct RemotePage: Sendable {
    /// The objects.
    public var json: JSONSource
    /// How the page names objects that are gone; nil, the default, where it does not.
    public var tombstones: RemoteTombstones?
    /// How many objects all pages have, where the source says so.
    public var totalElementCount: Int?

    /// Makes a page.
    public init(_ json: JSONSource, tombstones: RemoteTombstones? = nil, totalElementCount: Int? = nil) {
        self.json = json
        self.tombstones = tombstones
        self.totalElementCount = totalElementCount
    }
}

/// How a source names objects that are gone.
///
/// What comes later counts: an object that was named as gone and comes again is there.
public enum RemoteTombstones: Hashable, Sendable {
    /// An array beside the objects, of identifiers or of objects that have them; its keys from the document's root, dots between them. An
    /// object that the same page has as well is there.
    case list(keyPath: String)
    /// A field of each object: it is gone where that is true, a number other than 0, or a text that is not empty, such as the date of its
    /// deletion. The keys within the object, dots between them.
    case flag(keyPath: String)
}

/// What there is to know after the last page of a run.
public struct RemoteEnd: Sendable {
    /// What the pages were.
    public enum Coverage: Hashable, Sendable {
        /// Everything: what was absent is gone.
        case everything
        /// What has changed: what was absent is as it was.
        case changes
    }

    /// What the pages were.
    public var coverage: Coverage
    /// Whether all pages are of one moment. If not, the source may have changed between one page and the next, and an object can have moved from
    /// a page that was still to be read to one that had been.
    public var isSnapshot: Bool
    /// What the next run begins after.
    public var bookmark: SyncBookmark
    /// What it begins after where the pages had other objects each time they were read; ``bookmark`` by default.
    public var cautiousBookmark: SyncBookmark

    /// Makes an end.
    public init(
        _ coverage: Coverage, isSnapshot: Bool, bookmark: SyncBookmark, cautiousBookmark: SyncBookmark? = nil
    ) {
        self.coverage = coverage
        self.isSnapshot = isSnapshot
        self.bookmark = bookmark
        self.cautiousBookmark = cautiousBookmark ?? bookmark
    }
}
