#if Postgres
import COneWayLibpq
package import Foundation
package import SyncStoreSQL

/// A value for a parameter of a statement, in the form in which it is sent.
package struct PostgresParameter: Sendable {
    /// The number of its type in `pg_type`; 0: the server infers it from the statement.
    var type: Oid = 0
    /// Its bytes; nil for null. Text without an end mark.
    var bytes: [UInt8]?
    /// Whether the bytes are the type's binary form, not its text.
    var isBinary = false

    /// A null.
    package static let null = PostgresParameter(bytes: nil)

    /// A value of any type by its text.
    package static func text(_ text: String) -> Self {
        PostgresParameter(bytes: Array(text.utf8))
    }

    /// A whole number, for a parameter of any type that can be written so.
    package static func integer(_ number: Int64) -> Self {
        .text(String(number))
    }

    /// Bytes, as a `bytea`.
    package static func bytes(_ bytes: some Sequence<UInt8>) -> Self {
        PostgresParameter(type: 17, bytes: Array(bytes), isBinary: true)
    }

    /// Whole numbers, as a `bigint[]`.
    package static func integers(_ numbers: some Collection<Int64>) -> Self {
        array(1016, of: 20, numbers, byteCount: 8 * numbers.count) { number, bytes in
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// Blobs, as a `bytea[]`.
    package static func blobs(_ blobs: some Collection<Data>) -> Self {
        array(1001, of: 17, blobs, byteCount: blobs.reduce(0) { $0 + $1.count }) { blob, bytes in
            bytes.append(contentsOf: blob)
        }
    }

    /// Texts, as a `text[]`.
    static func texts(_ texts: some Collection<String>) -> Self {
        array(1009, of: 25, texts, byteCount: texts.reduce(0) { $0 + $1.utf8.count }) { text, bytes in
            bytes.append(contentsOf: text.utf8)
        }
    }

    /// An array in its binary form: dimensions, whether there are nulls, the element's type, then per dimension its length and first
    /// index; then the elements, each after its length (`array_send` in the server's source).
    private static func array<Element>(
        _ type: Oid, of elementType: Int32, _ elements: some Collection<Element>, byteCount: Int,
        _ append: (Element, inout [UInt8]) -> Void
    ) -> Self {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + 4 * elements.count + byteCount)
        for number in [1, 0, elementType, Int32(clamping: elements.count), 1] {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        for element in elements {
            let start = bytes.count
            bytes.append(contentsOf: [0, 0, 0, 0])
            append(element, &bytes)
            let length = UInt32(clamping: bytes.count - start - 4)
            for place in 0..<4 { bytes[start + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(place))) }
        }
        return PostgresParameter(type: type, bytes: bytes, isBinary: true)
    }

    /// A value of SQL text that all stores share.
    package init(_ binding: SQLBinding) {
        switch binding {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .text(number.description)
        case .text(let text): self = .text(text)
        case .blob(let data): self = .bytes(data)
        case .typed(let text, _): self = .text(text)
        case .objects(let objects): self = .integers(objects)
        case .blobs(let blobs): self = .blobs(blobs)
        }
    }

    private init(type: Oid = 0, bytes: [UInt8]?, isBinary: Bool = false) {
        self.type = type
        self.bytes = bytes
        self.isBinary = isBinary
    }

    /// Whether it is a text that PostgreSQL would cut short.
    var hasNUL: Bool {
        !isBinary && bytes?.contains(0) == true
    }
}
#endif
