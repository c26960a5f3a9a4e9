public import HTTPTransfer
public import StoreSync

/// How a server is asked for what has changed alone.
///
/// The cursor is that of the latest change that was seen, no later than the server's own clock,
/// less an overlap; the server is expected to say all that has changed since then, that very moment
/// included. Of several pages of a server that does not tell its clock (the field `Date`), the
/// first one bounds the cursor, since an object of it may have changed while the others were read.
/// So nothing is lost of changes with equal timestamps, nor of rows that were committed late, with
/// an earlier timestamp than others, within the overlap.
public struct HTTPDelta: Sendable {
    /// Where the cursor is.
    public enum Cursor: Hashable, Sendable {
        /// In a field of each object, of which the latest counts: a date, a number or a text. The
        /// keys within the object, dots between them.
        case element(keyPath: String)
        /// Beside the objects of the first page that has it. The keys from the document's root,
        /// dots between them.
        case document(keyPath: String)
    }

    /// Where the cursor is.
    public var cursor: Cursor
    /// The query parameter that has the cursor.
    public var parameter: String
    /// How far before the latest change the server is asked from, where the cursors of objects are
    /// times; 60 s by default.
    public var overlap: Duration
    /// How objects that are gone are named; nil, the default, where only a run over everything
    /// finds them.
    public var tombstones: RemoteTombstones?
    /// How long after the begin of a run over everything the next one is due; a day by default, nil
    /// for never.
    public var fullPassInterval: Duration?
    /// Whether an error says that the cursor is too old, and everything must be read; by default
    /// status 410.
    public var isTooOld: @Sendable (HTTPError) -> Bool

    /// Makes a way to ask; what is left out keeps its default.
    public init(
        cursor: Cursor, parameter: String, overlap: Duration = .seconds(60), tombstones: RemoteTombstones? = nil,
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
