#if Postgres
import OneWayPostgresClient
import Foundation
import SyncModel
import SyncStoreSQL

extension PostgresResult {
    /// The value of an attribute, from a column that `SQLDialect.selected(_:as:)` has written, in a
    /// binary result; null for one that does not fit the type, since other programs write as well.
    func value(_ row: Int, _ column: Int, as type: AttributeType) -> AttributeValue {
        withBytes(row, column) { bytes in
            switch type {
            case .bool: .bool(bytes.first == 1)
            case .int16, .int32, .int64: .int(bytes.bigEndianInteger)
            case .double, .float: .double(Double(bitPattern: UInt64(bitPattern: bytes.bigEndianInteger)))
            case .decimal: Decimal(string: String(decoding: bytes, as: UTF8.self)).map { .decimal($0) } ?? .null
            case .string: .string(PostgresText.text(bytes.bindMemory(to: UInt8.self)))
            case .uri: .uri(PostgresText.text(bytes.bindMemory(to: UInt8.self)))
            case .uuid: .uuid(bytes.loadUnaligned(as: UUID.self))
            case .binary, .transformable: .binary(Data(bytes))
            case .date: Self.moment(bytes.bigEndianInteger)
            }
        } ?? .null
    }

    /// The elements of a `bigint[]`, in a text result; none where it is null.
    func integers(_ row: Int, _ column: Int) -> [Int64] {
        withBytes(row, column) { bytes in
            var numbers: [Int64] = []
            var number: Int64 = 0
            // Such as `{12,3,0}`; none of them is below zero.
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

    /// A moment of microseconds from 2000; null for one that is infinite.
    private static func moment(_ sinceEpoch: Int64) -> AttributeValue {
        let (microseconds, overflow) = sinceEpoch.addingReportingOverflow(PostgresText.epoch)
        return overflow || sinceEpoch == .min ? .null : .date(Timestamp(microseconds: microseconds))
    }
}

extension UnsafeRawBufferPointer {
    /// Eight bytes as a whole number, the highest first; 0 where they are not as many.
    fileprivate var bigEndianInteger: Int64 {
        count == 8 ? Int64(bigEndian: loadUnaligned(as: Int64.self)) : 0
    }
}
#endif
