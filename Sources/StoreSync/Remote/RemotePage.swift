/// A page of a source.
public struct RemotePage: Sendable {
    /// The objects.
    public var json: JSONSource
    /// How the page names objects that are gone; nil, the default, if it names none.
    public var tombstones: RemotePage.Tombstones?
    /// The number of objects of all pages; nil if the source does not report it.
    public var totalElementCount: Int?
    /// The key path of the objects, or of a single object; nil, the default, for the sync's key
    /// path.
    package var keyPath: String?
    /// Whether the page names all its objects as gone; false by default.
    package var areGone = false
    /// Whether the page has an object on each line, and no closing syntax; false by default. A
    /// server can then report an error only as the last element.
    package var isOpenEnded = false
    /// The number of changes that the page joins, each with one object; 1 by default, for any page.
    var changeCount = 1

    /// Creates a page.
    public init(_ json: JSONSource, tombstones: RemotePage.Tombstones? = nil, totalElementCount: Int? = nil) {
        self.json = json
        self.tombstones = tombstones
        self.totalElementCount = totalElementCount
    }
}

extension RemotePage {
    /// How a source names objects that are gone.
    ///
    /// The latest page takes precedence: an object that was named as gone and is listed later
    /// exists.
    public enum Tombstones: Hashable, Sendable {
        /// An array of identifiers, or of objects with identifiers, besides the objects.
        ///
        /// The key path starts at the root of the document. Its keys are separated by dots. An
        /// object that the same page also lists exists.
        case list(keyPath: String)
        /// A field of each object.
        ///
        /// The object is gone if the field is true, a number other than 0, or a text that is not
        /// empty, such as the date of its deletion. The key path starts at the object.
        case flag(keyPath: String)
        /// A field of each object. The object is gone if the field has the given text or number.
        case field(keyPath: String, equals: String)
    }
}
