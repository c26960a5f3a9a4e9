extension RecordBatch {
    /// The kind of content in a cell of a `RecordBatch`.
    public enum CellKind: UInt8, Hashable, Sendable {
        /// Not set. A store keeps the value that it has.
        case absent
        /// No value. A store clears the value that it has.
        case null
        /// A Boolean value.
        case bool
        /// An integer.
        case int
        /// A floating-point number.
        case double
        /// A decimal number, as text.
        case decimal
        /// Text.
        case string
        /// A point in time.
        case date
        /// Bytes.
        case binary
        /// A UUID, as its 16 bytes.
        case uuid
        /// A URI, as text.
        case uri
        /// A JSON value, as canonical text.
        case json
    }
}

/// A cell in 16 bytes: its kind, and either its content or the content's range in the arena.
@frozen
@usableFromInline
struct Cell: Sendable {
    /// The kind in the low byte, and the length of content in the arena above it.
    @usableFromInline let head: UInt64
    @usableFromInline let payload: UInt64

    @inlinable
    init(_ kind: RecordBatch.CellKind, payload: UInt64) {
        head = UInt64(kind.rawValue)
        self.payload = payload
    }

    @inlinable
    init(_ kind: RecordBatch.CellKind, offset: Int, length: Int) {
        head = UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: length) &<< 8
        payload = UInt64(truncatingIfNeeded: offset)
    }

    static let absent = Cell(.absent, payload: 0)

    @inlinable var kind: RecordBatch.CellKind {
        // The initializers write the byte of a kind, which `init(rawValue:)` would compare with the
        // byte of each kind.
        unsafeBitCast(UInt8(truncatingIfNeeded: head), to: RecordBatch.CellKind.self)
    }

    @inlinable var length: Int {
        Int(truncatingIfNeeded: head &>> 8)
    }

    @inlinable var offset: Int {
        Int(truncatingIfNeeded: payload)
    }

    @inlinable var isInArena: Bool {
        switch kind {
        case .decimal, .string, .binary, .uuid, .uri, .json: true
        case .absent, .null, .bool, .int, .double, .date: false
        }
    }
}
