public import HTTPTransfer
public import StoreSync

extension HTTPAPI {
    /// How to request only the changes of a list.
    ///
    /// The next request asks for changes since the latest change that was seen, limited to the
    /// server's clock, less an overlap. The server must return all changes since then, including
    /// changes at exactly that time. If a server with several pages does not send its clock (the
    /// field `Date`), the first page limits the cursor, because an object on it may have changed
    /// while the other pages were read. Within the overlap, no change is lost that has the same
    /// timestamp as another one, or that was committed late with an earlier timestamp.
    public struct Delta: Sendable {
        /// The place of the cursor.
        public enum Cursor: Hashable, Sendable {
            /// A field of each object: a date, a number or a text. The latest one counts, of the
            /// kind that most objects have; a text does not count beside dates. The key path starts
            /// at the object.
            case element(keyPath: String)
            /// A value outside the objects of a page. The key path starts at the document's root.
            case document(keyPath: String)
            /// A value outside the objects of a page: the address of the next changes. Its query
            /// parameter `token` is a cursor, as if it were one of
            /// ``HTTPAPI/positionParameters``. ``HTTPAPI/Delta/parameter`` is not used.
            case address(keyPath: String)

            /// The key path of a value outside the objects; nil for fields of the objects.
            var pageKeyPath: String? {
                switch self {
                case .element: nil
                case .document(let keyPath), .address(let keyPath): keyPath
                }
            }
        }

        /// The place of the cursor.
        public var cursor: Cursor
        /// The query parameter that receives the cursor. Empty, the default, if the cursor of the
        /// last page requests changes in the same way as it requests a next page.
        public var parameter: String
        /// The time before the latest change from which changes are requested; 60 s by default.
        ///
        /// It applies if the objects' cursors are times.
        public var overlap: Duration
        /// How deleted objects are reported; nil, the default, if only a full pass finds them.
        public var tombstones: RemotePage.Tombstones?
        /// How deleted objects are reported if the key path of the list leads into its elements, as
        /// in `results[].doc`; nil if in the same way.
        var innerTombstones: RemotePage.Tombstones?
        /// Whether the changes after a full pass include what changed while its pages were read;
        /// false by default.
        ///
        /// Some servers promise this of the cursor that they return with the last page. Otherwise,
        /// a cursor is kept only if the pages are known to be complete: a list of several pages is
        /// read again until two readings have the same objects.
        public var coversFullPass = false
        /// The time from the beginning of a full pass until the next; a day by default, nil for
        /// never.
        public var fullPassInterval: Duration?
        /// Whether an error means that the cursor is too old, so that everything is read; by
        /// default, status 410.
        public var isTooOld: @Sendable (HTTPError) -> Bool

        /// Creates a description of a server's changes.
        public init(
            cursor: Cursor, parameter: String = "", overlap: Duration = .seconds(60),
            tombstones: RemotePage.Tombstones? = nil,
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

        /// Whether changes are requested as the page after the last one.
        var continuesPages: Bool {
            if case .document = cursor { parameter.isEmpty } else { false }
        }

        var fingerprint: String {
            "\(cursor) \(parameter) \(overlap) \(tombstones.map { "\($0)" } ?? "")"
        }
    }
}
