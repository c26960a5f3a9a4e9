extension RecordBatch {
    /// What a cell of a `RecordBatch` holds.
    public enum CellKind: UInt8, Hashable, Sendable {
        /// Nothing was said about it; what a store holds stays.
        case absent
        /// No value.
        case null
        /// True or false.
        case bool
        /// A whole number.
        case int
        /// A floating point number.
        case double
        /// A decimal number, as text.
        case decimal
        /// Text.
        case string
        /// A moment.
        case date
        /// Bytes.
        case binary
        /// A UUID, as its 16 bytes.
        case uuid
        /// A URI, as text.
        case uri
    }
}

/// 16 bytes: the kind and, for what is in the arena, the length; then the content or its place in
/// the arena.
@frozen
@usableFromInline
struct Cell: Sendable {
    /// The length above the low byte, the kind in it.
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
        RecordBatch.CellKind(rawValue: UInt8(truncatingIfNeeded: head)) ?? .absent
    }

    @inlinable var length: Int {
        Int(truncatingIfNeeded: head &>> 8)
    }

    @inlinable var offset: Int {
        Int(truncatingIfNeeded: payload)
    }

    @inlinable var isInArena: Bool {
        switch kind {
        case .decimal, .string, .binary, .uuid, .uri: true
        case .absent, .null, .bool, .int, .double, .date: false
        }
    }
}
