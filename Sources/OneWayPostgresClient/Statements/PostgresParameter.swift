#if Postgres
import COneWayLibpq
package import Foundation

/// The value of a statement's parameter, in the form in which it is sent.
package struct PostgresParameter: Sendable {
    /// The number of the type in `pg_type`; 0 if the server infers it from the statement.
    var type: Oid = 0
    /// The bytes, without a terminating zero; nil for null.
    var bytes: [UInt8]?
    /// Whether the bytes are the binary form of the type instead of its text form.
    var isBinary = false

    /// A null.
    package static let null = PostgresParameter(bytes: nil)

    /// A value of any type, as text.
    package static func text(_ text: String) -> Self {
        PostgresParameter(bytes: Array(text.utf8))
    }

    /// An integer as text, for a parameter of any type.
    package static func integer(_ number: Int64) -> Self {
        .text(String(number))
    }

    /// A duration in seconds, as for `make_interval`.
    package static func seconds(_ duration: Duration) -> Self {
        .text("\(Double(duration.wholeMilliseconds) / 1000)")
    }

    /// A `bytea`.
    package static func bytes(_ bytes: some Sequence<UInt8>) -> Self {
        PostgresParameter(type: 17, bytes: Array(bytes), isBinary: true)
    }

    /// A `bigint[]`.
    package static func integers(_ numbers: some Collection<Int64>) -> Self {
        array(1016, of: 20, numbers, byteCount: 8 * numbers.count) { number, bytes in
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// A `bytea[]`.
    package static func blobs(_ blobs: some Collection<Data>) -> Self {
        array(1001, of: 17, blobs, byteCount: blobs.reduce(0) { $0 + $1.count }) { blob, bytes in
            bytes.append(contentsOf: blob)
        }
    }

    /// A `text[]`.
    package static func texts(_ texts: some Collection<String>) -> Self {
        array(1009, of: 25, texts, byteCount: texts.reduce(0) { $0 + $1.utf8.count }) { text, bytes in
            bytes.append(contentsOf: text.utf8)
        }
    }

    /// An array in the binary form that the server's `array_send` writes.
    ///
    /// The form is: dimensions, whether there are nulls, the element type; for each dimension its
    /// length and first index; then the elements, each after its length.
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

    private init(type: Oid = 0, bytes: [UInt8]?, isBinary: Bool = false) {
        self.type = type
        self.bytes = bytes
        self.isBinary = isBinary
    }

    /// Whether the value is a text with a zero byte, at which PostgreSQL would cut it.
    var hasNUL: Bool {
        !isBinary && bytes?.contains(0) == true
    }
}

/// Calls a function with parameters in libpq's form: number, types, values, lengths and formats.
func withPointers<Result>(
    to parameters: [PostgresParameter],
    _ body: (Int32, [Oid], [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
) -> Result {
    // One block for all values. Each ends with a zero, because libpq reads texts up to a zero.
    var block: [UInt8] = []
    var offsets: [Int?] = []
    for parameter in parameters {
        offsets.append(parameter.bytes == nil ? nil : block.count)
        guard let bytes = parameter.bytes else { continue }
        block.append(contentsOf: bytes)
        block.append(0)
    }
    return block.withUnsafeBytes { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return body(
            Int32(parameters.count), parameters.map(\.type),
            offsets.map { offset in offset.flatMap { start?.advanced(by: $0) } },
            parameters.map { Int32(clamping: $0.bytes?.count ?? 0) }, parameters.map { $0.isBinary ? 1 : 0 })
    }
}
#endif
