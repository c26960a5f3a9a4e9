#if Postgres
import CPostgres
import Foundation
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
        // Dimensions, whether there are nulls, the element's type, then per dimension its length and first index; then the elements,
        // each after its length (`array_send` in the server's source).
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + 12 * numbers.count)
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        append(Int32(1))
        append(Int32(0))
        append(Int32(20))
        append(Int32(clamping: numbers.count))
        append(Int32(1))
        for number in numbers {
            append(Int32(8))
            append(number)
        }
        return PostgresParameter(type: 1016, bytes: bytes, isBinary: true)
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
        case .rows(let rows): self = .integers(rows)
        case .blobs(let blobs): self = .text(Self.array(of: blobs))
        }
    }

    /// The text of a `bytea[]`.
    private static func array(of blobs: [Data]) -> String {
        let elements = blobs.map { blob in
            "\"\\\\x" + blob.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
        }
        return "{" + elements.joined(separator: ",") + "}"
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
