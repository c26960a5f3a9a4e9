/// A page of a source.
public struct RemotePage: Sendable {
    /// The objects.
    public var json: JSONSource
    /// How the page names objects that are gone; nil, the default, if it does not.
    public var tombstones: RemoteTombstones?
    /// The number of objects of all pages, if the source reports it.
    public var totalElementCount: Int?
    /// The key path of the objects, or of a single object; nil, the default, for that of the sync.
    package var keyPath: String?
    /// Whether all objects of the page are gone; false by default.
    package var areGone = false
    /// Whether the page ends where its body ends, as lines do, so that an error in the middle can
    /// only be reported by its last element; false by default.
    package var isOpenEnded = false

    /// Creates a page.
    public init(_ json: JSONSource, tombstones: RemoteTombstones? = nil, totalElementCount: Int? = nil) {
        self.json = json
        self.tombstones = tombstones
        self.totalElementCount = totalElementCount
    }
}

/// How a source names objects that are gone.
///
/// The latest page wins: an object that was named as gone and comes again is there.
public enum RemoteTombstones: Hashable, Sendable {
    /// An array beside the objects, of identifiers or of objects that have them.
    ///
    /// The key path starts at the document's root, with dots between its keys. An object that the
    /// same page also has is there.
    case list(keyPath: String)
    /// A field of each object.
    ///
    /// The object is gone if the field is true, a number other than 0, or a text that is not empty,
    /// such as the date of its deletion. The key path starts at the object.
    case flag(keyPath: String)
    /// A field of each object that has a certain text or number if the object is gone.
    case field(keyPath: String, equals: String)
}
