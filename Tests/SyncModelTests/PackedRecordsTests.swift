import Foundation
import OneWayTestLimits
import OneWayTestSupport
import SyncModel
import Testing

@Suite(.endsInTime) struct PackedRecordsTests {
    private static let values: [AttributeValue?] = [
        nil, .null, .bool(true), .bool(false), .int(0), .int(.min), .int(.max), .int(-3), .double(-0.5),
        .double(.greatestFiniteMagnitude), .string(""), .string("Grüße"), .string(String(repeating: "x", count: 300)),
        .date(Timestamp(microseconds: 1_700_000_000_000_000)), .binary(Data([0, 255])), .uri("a:b"), .uuid(UUID()),
    ]

    private static func batch(rowCount: Int, columnCount: Int, seed: UInt64) -> RecordBatch {
        var random = SeededRandom(seed: seed)
        var batch = RecordBatch(columnCount: columnCount)
        for row in 0..<rowCount {
            batch.beginRecord()
            for column in 0..<columnCount {
                // Mostly ascending numbers, as the rows of a list have.
                let isUsual = Int.random(in: 0..<4, using: &random) > 0
                let value = isUsual ? .int(Int64(row)) : values.randomElement(using: &random) ?? nil
                if let value { batch.setValue(value, at: column) }
            }
            batch.endRecord()
        }
        return batch
    }

    private static func packed(_ batch: RecordBatch, columns: [Int]) -> PackedRecords {
        var packed = PackedRecords(columns: columns)
        batch.withReader { reader in for row in 0..<reader.count { packed.append(reader, row: row) } }
        return packed
    }

    private static func values(_ batch: RecordBatch) -> [[AttributeValue?]] {
        (0..<batch.count).map { row in (0..<batch.columnCount).map { batch.value(row: row, column: $0) } }
    }

    private static func values(_ packed: PackedRecords, _ rows: Range<Int>, columnCount: Int) -> [[AttributeValue?]] {
        var batch = RecordBatch(columnCount: columnCount)
        packed.append(rows, to: &batch)
        return values(batch)
    }

    @Test(arguments: seeds(5, thorough: 50)) func anyPartIsReadAsItWasWritten(seed: UInt64) {
        let batch = Self.batch(rowCount: 2500, columnCount: 3, seed: seed)
        var packed = Self.packed(batch, columns: [0, 1, 2])
        let expected = Self.values(batch)
        for rows in [0..<2500, 0..<0, 0..<1, 1023..<1025, 1024..<2048, 1500..<2500, 2500..<2500] {
            #expect(Self.values(packed, rows, columnCount: 3) == Array(expected[rows]))
        }
        for count in [2400, 2048, 1030, 1024, 1023, 0] {
            packed.truncate(to: count)
            #expect(packed.count == count)
            #expect(Self.values(packed, 0..<count, columnCount: 3) == Array(expected[..<count]))
        }
        #expect(packed.byteCount == 0)
    }

    @Test func rowsCanBeAddedAfterTheLastOnesAreRemoved() {
        let batch = Self.batch(rowCount: 1500, columnCount: 2, seed: 3)
        var packed = Self.packed(batch, columns: [0, 1])
        packed.truncate(to: 1100)
        batch.withReader { reader in for row in 1100..<1500 { packed.append(reader, row: row) } }
        #expect(Self.values(packed, 0..<1500, columnCount: 2) == Self.values(batch))
        #expect(packed.byteCount == Self.packed(batch, columns: [0, 1]).byteCount)
    }

    @Test func otherColumnsAreAbsent() {
        let batch = Self.batch(rowCount: 10, columnCount: 3, seed: 4)
        let expected = Self.values(batch).map { [nil, $0[1], nil] }
        #expect(Self.values(Self.packed(batch, columns: [1]), 0..<10, columnCount: 3) == expected)
    }

    @Test func ascendingNumbersTakeTwoBytes() {
        var batch = RecordBatch(columnCount: 1)
        for number in 0..<Int64(10_000) {
            batch.beginRecord()
            batch.setInt(number, at: 0)
            batch.endRecord()
        }
        #expect(Self.packed(batch, columns: [0]).byteCount < 20_100)
    }
}
