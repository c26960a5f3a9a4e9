public import HTTPTransfer
public import StoreSync

/// How a server is asked for its changes only.
///
/// The cursor is that of the latest change that was seen, no later than the server's clock, less an
/// overlap. The server is expected to return all changes since then, including those of that very
/// moment. If a server of several pages does not send its clock (the field `Date`), the first page
/// bounds the cursor, because an object of it may have changed while the others were read. So no
/// change is lost that has the timestamp of another one, or that was committed late with an earlier
/// timestamp, within the overlap.
public struct HTTPDelta: Sendable {
    /// Where the cursor is.
    public enum Cursor: Hashable, Sendable {
        /// In a field of each object: a date, a number or a text. The latest one counts. The key
        /// path starts at the object.
        case element(keyPath: String)
        /// Beside the objects of a page. The key path starts at the document's root.
        case document(keyPath: String)
        /// Beside the objects of a page, as the address of the next changes. A query parameter
        /// `token` of it is a cursor, and no credential. The parameter is not used.
        case address(keyPath: String)

        /// The parameter of addresses that is a cursor, although its name is that of a credential.
        var addressParameter: String? {
            if case .address = self { "token" } else { nil }
        }

        /// The key path of a value beside the objects; nil for fields of the objects.
        var pageKeyPath: String? {
            switch self {
            case .element: nil
            case .document(let keyPath), .address(let keyPath): keyPath
            }
        }
    }

    /// Where the cursor is.
    public var cursor: Cursor
    /// The query parameter that receives the cursor.
    public var parameter: String
    /// How far before the latest change the server is asked from, if the cursors of objects are
    /// times; 60 s by default.
    public var overlap: Duration
    /// How objects that are gone are named. Nil, the default, if only a full pass finds them.
    public var tombstones: RemoteTombstones?
    /// How long after the beginning of a full pass the next one is due; a day by default, nil for
    /// never.
    public var fullPassInterval: Duration?
    /// Whether an error means that the cursor is too old, so that everything is read; by default
    /// status 410.
    public var isTooOld: @Sendable (HTTPError) -> Bool

    /// Creates a description of changes.
    public init(
        cursor: Cursor, parameter: String = "", overlap: Duration = .seconds(60), tombstones: RemoteTombstones? = nil,
        fullPassInterval: Duration? = .seconds(86_400),
        isTooOld: @escaping @Sendable (HTTPError) -> Bool = { error in
            if case .status(410, _, _) = error.problem { true } else { false }
        }
    ) {
        self.cursor = cursor
        self.parameter = parameter
        self.overlap = overlap
        self.tombstones = tombstones
        self.fullPassInterval = fullPassInterval
        self.isTooOld = isTooOld
    }

    var fingerprint: String {
        "\(cursor) \(parameter) \(overlap) \(tombstones.map { "\($0)" } ?? "")"
    }
}
