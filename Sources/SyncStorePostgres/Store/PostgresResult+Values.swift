#if Postgres
import OneWayPostgresClient
import Foundation
import SyncModel
import SyncStore

extension PostgresResult {
    /// Returns the value of an attribute; null if it does not fit the type, because other programs
    /// write too.
    ///
    /// An infinite date is the last or the first `Timestamp`. An infinite number of type `numeric`
    /// is NaN.
    ///
    /// The column must be in binary form, and selected with `SQLDialect.selected(_:as:)`.
    func value(_ row: Int, _ column: Int, as type: AttributeType) -> AttributeValue {
        withBytes(row, column) { bytes in
            switch type {
            case .bool: .bool(bytes.first == 1)
            case .int16, .int32, .int64: .int(bytes.bigEndianInteger)
            case .double, .float: .double(Double(bitPattern: UInt64(bitPattern: bytes.bigEndianInteger)))
            case .decimal: Self.decimal(String(decoding: bytes, as: UTF8.self))
            case .string: .string(PostgresText.text(bytes.bindMemory(to: UInt8.self)))
            case .uri: .uri(PostgresText.text(bytes.bindMemory(to: UInt8.self)))
            case .uuid: .uuid(bytes.loadUnaligned(as: UUID.self))
            case .json: PostgresText.json(bytes.bindMemory(to: UInt8.self))?.value ?? .null
            case .binary, .transformable: .binary(Data(bytes))
            case .date: .date(PostgresText.moment(bytes.bigEndianInteger))
            }
        } ?? .null
    }

    /// The texts of a column, without null.
    func texts(_ column: Int) -> [String] {
        (0..<rowCount).compactMap { text($0, column) }
    }

    /// The pairs that the statement of `SQLQueries.links` selects.
    var links: [LinkBatch.Link] {
        (0..<rowCount).compactMap { row in
            guard let source = integer(row, 0), let target = integer(row, 1) else { return nil }
            return LinkBatch.Link(source: source, target: target)
        }
    }

    /// The objects that the statement of `SQLQueries.existing` selects.
    var objects: Set<ObjectID> {
        Set((0..<rowCount).compactMap { integer($0, 0) })
    }

    /// The elements of a `bigint[]` in a text result; empty for null.
    func integers(_ row: Int, _ column: Int) -> [Int64] {
        withBytes(row, column) { bytes in
            var numbers: [Int64] = []
            var number: Int64 = 0
            // Such as `{12,3,0}`. No element is negative.
            for byte in bytes.dropFirst() {
                if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                    number = number &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
                } else {
                    numbers.append(number)
                    number = 0
                }
            }
            return numbers
        } ?? []
    }

    /// A decimal number from its text; NaN for infinity.
    private static func decimal(_ text: String) -> AttributeValue {
        // Foundation reads `-Infinity` as zero.
        guard text.last?.isNumber == true else { return .decimal(.nan) }
        return Decimal(string: text).map(AttributeValue.decimal) ?? .null
    }
}

extension UnsafeRawBufferPointer {
    /// Eight big-endian bytes as an integer; 0 for any other number of bytes.
    fileprivate var bigEndianInteger: Int64 {
        count == 8 ? Int64(bigEndian: loadUnaligned(as: Int64.self)) : 0
    }
}
#endif
