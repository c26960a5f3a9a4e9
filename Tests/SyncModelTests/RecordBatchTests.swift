import Foundation
import OneWayTestLimits
import SyncBase
import SyncModel
import Testing

@Suite(.endsInTime) struct RecordBatchTests {
    static let kinds: [AttributeValue] = [
        .null, .bool(true), .bool(false), .int(.min), .int(.max), .double(0.1), .double(-.infinity),
        .decimal(Decimal(string: "-12.345") ?? 0), .string(""), .string("Ünïcode 😀"),
        .date(Timestamp(microseconds: -1)), .binary(Data()), .binary(Data([0, 255, 0])),
        .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .uri("https://a.b/c"),
    ]

    private func bytes<R>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        var text = text
        return text.withUTF8(body)
    }

    @Test func everyKindOfValueIsGivenBack() {
        var batch = RecordBatch(columnCount: Self.kinds.count + 1)
        for shift in 0..<3 {
            batch.beginRecord()
            for (column, value) in Self.kinds.enumerated() {
                batch.setValue(value, at: (column + shift) % Self.kinds.count)
            }
            batch.endRecord()
        }
        #expect(batch.count == 3)
        for shift in 0..<3 {
            for (column, value) in Self.kinds.enumerated() {
                #expect(batch.value(row: shift, column: (column + shift) % Self.kinds.count) == value)
            }
            #expect(batch.value(row: shift, column: Self.kinds.count) == nil)
        }
    }

    @Test func settersOfAKindAndReadersOfAKindAgree() {
        var batch = RecordBatch(columnCount: 9)
        let uuid = UUID()
        batch.beginRecord()
        batch.setBool(true, at: 0)
        batch.setInt(-7, at: 1)
        batch.setDouble(1.5, at: 2)
        batch.setDate(Timestamp(microseconds: 5), at: 3)
        bytes("text") { batch.setString($0, at: 4) }
        bytes("u:ri") { batch.setURI($0, at: 5) }
        bytes("bin") { batch.setBinary($0, at: 6) }
        batch.setUUID(uuid, at: 7)
        #expect(bytes("1.0e2") { batch.setDecimal($0, at: 8) })
        batch.endRecord()
        batch.withReader { reader in
            #expect(reader.count == 1 && reader.columnCount == 9)
            #expect(
                (0..<9).map { reader.kind(row: 0, column: $0) } == [
                    .bool, .int, .double, .date, .string, .uri, .binary, .uuid, .decimal,
                ])
            #expect(reader.bool(row: 0, column: 0))
            #expect(reader.int(row: 0, column: 1) == -7)
            #expect(reader.double(row: 0, column: 2) == 1.5)
            #expect(reader.date(row: 0, column: 3).microseconds == 5)
            let texts = [4, 5, 6, 8].map { String(decoding: reader.bytes(row: 0, column: $0), as: UTF8.self) }
            #expect(texts == ["text", "u:ri", "bin", "100"])
            #expect(reader.bytes(row: 0, column: 7).elementsEqual(withUnsafeBytes(of: uuid.uuid, Array.init)))
            #expect(reader.bytes(row: 0, column: 1).isEmpty)
        }
    }

    @Test func absentIsNotNullAndTheLaterValueCounts() {
        var batch = RecordBatch(columnCount: 3)
        batch.beginRecord()
        bytes("first") { batch.setString($0, at: 0) }
        bytes("second") { batch.setString($0, at: 0) }
        batch.setNull(at: 1)
        #expect((0..<3).map { batch.openKind(at: $0) } == [.string, .null, .absent])
        batch.endRecord()
        #expect(batch.value(row: 0, column: 0) == "second")
        #expect(batch.value(row: 0, column: 1) == .null)
        #expect(batch.value(row: 0, column: 2) == nil)
    }

    @Test func aDiscardedRowLeavesNothing() {
        var batch = RecordBatch(columnCount: 1)
        batch.discardRecord()
        batch.beginRecord()
        bytes("kept") { batch.setString($0, at: 0) }
        batch.endRecord()
        let size = batch.byteCount
        batch.beginRecord()
        bytes("dropped") { batch.setString($0, at: 0) }
        #expect(batch.count == 1)
        batch.discardRecord()
        #expect(batch.byteCount == size)
        batch.beginRecord()
        bytes("dropped too") { batch.setString($0, at: 0) }
        batch.beginRecord()
        bytes("last") { batch.setString($0, at: 0) }
        batch.endRecord()
        #expect((0..<batch.count).map { batch.value(row: $0, column: 0) } == ["kept", "last"])
        #expect(batch.byteCount == size + 16 + 4)
    }

    @Test func rowsCanBeTakenOffTheEnd() {
        var batch = RecordBatch(columnCount: 2)
        for row in 0..<4 {
            batch.beginRecord()
            batch.setInt(Int64(row), at: 0)
            if row != 2 {
                bytes("row \(row)") { batch.setString($0, at: 1) }
            }
            batch.endRecord()
        }
        batch.beginRecord()
        batch.truncate(to: 4)
        #expect(batch.count == 4)
        batch.truncate(to: 2)
        #expect(batch.byteCount == 2 * 2 * 16 + 2 * 5)
        bytes("new") { text in
            batch.beginRecord()
            batch.setString(text, at: 1)
            batch.endRecord()
        }
        #expect((0..<3).map { batch.value(row: $0, column: 1) } == ["row 0", "row 1", "new"])
        batch.removeAll(keepingCapacity: true)
        #expect(batch.isEmpty && batch.byteCount == 0)
        batch.truncate(to: 0)
        #expect(batch.isEmpty)
    }

    @Test func rowsAreCopiedBetweenBatches() {
        var one = RecordBatch(columnCount: Self.kinds.count)
        var other = RecordBatch(columnCount: Self.kinds.count)
        one.beginRecord()
        one.endRecord()
        one.beginRecord()
        for (column, value) in Self.kinds.enumerated() {
            one.setValue(value, at: column)
        }
        one.endRecord()
        other.append(row: 1, of: one)
        other.append(row: 0, of: one)
        other.append(row: 1, of: one)
        for (column, value) in Self.kinds.enumerated() {
            #expect((0..<3).map { other.value(row: $0, column: column) } == [value, nil, value])
        }
    }

    @Test func cellsAreEqualWhenTheirValuesAre() {
        let values: [AttributeValue] =
            Self.kinds + [
                .double(0), .double(-0.0), .double(.nan), .double(-.nan), .int(0), .string("abc"), .uri("abc"),
                .binary(Data("abc".utf8)), .decimal(Decimal(string: "1.50") ?? 0),
                .decimal(Decimal(string: "1.5") ?? 0),
            ]
        var batch = RecordBatch(columnCount: values.count + 1)
        batch.beginRecord()
        for (column, value) in values.enumerated() {
            batch.setValue(value, at: column)
        }
        batch.endRecord()
        let read: [AttributeValue?] = values + [nil]
        batch.withReader { reader in
            for (column, value) in read.enumerated() {
                for (place, other) in read.enumerated() {
                    let isEqual = reader.isEqual(row: 0, column: column, to: reader, row: 0, column: place)
                    #expect(isEqual == (value == other), "\(String(describing: value)), \(String(describing: other))")
                }
            }
        }
    }

    private func batch(_ rows: [[AttributeValue?]]) -> RecordBatch {
        var batch = RecordBatch(columnCount: rows.first?.count ?? 1)
        for row in rows {
            batch.beginRecord()
            for (column, value) in row.enumerated() { if let value { batch.setValue(value, at: column) } }
            batch.endRecord()
        }
        return batch
    }

    @Test func theContentOfABatchIsThatOfItsRows() {
        func content(_ rows: [[AttributeValue?]]) -> UInt64 {
            var fingerprint = Fingerprint()
            batch(rows).combineContent(into: &fingerprint)
            return fingerprint.value
        }
        let cells: [AttributeValue?] = [nil, .null, 1, 2, .double(1), "abc", "abd", .uri("abc")]
        var contents: [UInt64] = [content([])]
        for (index, cell) in cells.enumerated() {
            contents.append(content([[cell, nil]]))
            if index > 0 { contents.append(content([[nil, cell]])) }
            contents.append(content([[nil, nil], [cell, nil]]))
        }
        contents.append(content([["ab", "c"]]))
        contents.append(content([["a", "bc"]]))
        #expect(Set(contents).count == contents.count)
        #expect(content([[1, "abc"]]) == content([[1, "abc"]]))
    }

    @Test func aRowIsIdentifiedByValuesInAllColumns() {
        let cells: [AttributeValue?] = [nil, .null, 1, "", false, .double(0)]
        batch([cells, cells.reversed()]).withReader { reader in
            for (row, expected) in [[2, 3, 4, 5], [0, 1, 2, 3]].enumerated() {
                let identified = cells.indices.filter { reader.isIdentified(row, by: [$0]) }
                #expect(identified == expected)
                #expect(reader.isIdentified(row, by: identified) && !reader.isIdentified(row, by: []))
                for column in cells.indices where !identified.contains(column) {
                    #expect(!reader.isIdentified(row, by: identified + [column]))
                    #expect(!reader.isIdentified(row, by: [column] + identified))
                }
            }
        }
    }

    @Test(
        arguments: [
            ([], true), ([1], true), ([1, 2, 5], true), ([.min, .max], true), ([1, 1], false), ([2, 1], false),
            ([1, 3, 2], false), ([.min, .min], false),
        ] as [([Int64], Bool)])
    func aColumnOfIntegersMayAscend(numbers: [Int64], isAscending: Bool) {
        let integers = numbers.map { AttributeValue.int($0) }
        func ascends(_ values: [AttributeValue?]) -> Bool {
            batch(values.map { [$0] }).withReader { $0.isAscending(column: 0) }
        }
        #expect(ascends(integers) == isAscending)
        for other in [nil, .null, "9", .double(9), .date(Timestamp(microseconds: 9))] as [AttributeValue?] {
            #expect(!ascends(integers + [other]) && !ascends([other] + integers))
        }
    }

    @Test func rowsOfEqualCellsHaveEqualHashes() {
        let values: [AttributeValue?] = [nil, .null, 1, 2, true, "a", "b", .uri("a"), .double(1)]
        batch(values.map { [$0, "x", $0] } + values.map { [$0, "y", $0] }).withReader { reader in
            let hashes = (0..<reader.count).map { reader.hash(row: $0, columns: [0, 2]) }
            #expect(Array(hashes.prefix(values.count)) == Array(hashes.suffix(values.count)))
            #expect(Set(hashes).count == values.count)
        }
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("+0.000", "0"), ("1", "1"), ("-1", "-1"), ("007", "7"), ("1.50", "1.5"),
        ("10", "10"), ("1e3", "1000"), ("1.25E+1", "12.5"), ("125e-2", "1.25"), ("125e-5", "0.00125"), ("0.1e1", "1"),
        ("100.010", "100.01"), ("1000e-3", "1"), ("0e99999999999", "0"), ("00.00120e2", "0.12"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("1e127", "1" + String(repeating: "0", count: 127)),
        ("1e-127", "0." + String(repeating: "0", count: 126) + "1"),
    ])
    func decimalsHaveOneForm(text: String, canonical: String) {
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        #expect(bytes(text) { batch.setDecimal($0, at: 0) })
        batch.endRecord()
        let found = batch.withReader { String(decoding: $0.bytes(row: 0, column: 0), as: UTF8.self) }
        #expect(found == canonical)
        #expect(batch.value(row: 0, column: 0) == .decimal(Decimal(string: canonical) ?? .nan))
    }

    @Test(arguments: [
        "", "-", "+", ".", ".5", "5.", "1.2.3", "1e", "1e+", "e5", "1e5x", "0x10", " 1", "1 ", "NaN", "1,5", "--1",
        "1.e5",
        "1e128", "1e-128", "1e99999999999999999999", "123456789012345678901234567890123456789", "1\u{0}",
    ])
    func whatIsNoDecimalIsNotTaken(text: String) {
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        batch.setInt(1, at: 0)
        let size = batch.byteCount
        #expect(!bytes(text) { batch.setDecimal($0, at: 0) })
        #expect(batch.byteCount == size)
        batch.endRecord()
        #expect(batch.value(row: 0, column: 0) == 1)
    }

    @Test func decimalsOfFoundationAgreeWithTheirText() {
        var numbers: [Decimal] = [.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude]
        for exponent in [-128, -127, 127] + Array(-40...40) {
            for significand in [1, 7, 10, 125, 1_000_001] {
                numbers.append(Decimal(sign: .minus, exponent: exponent, significand: Decimal(significand)))
            }
        }
        for number in numbers where number.isFinite {
            var batch = RecordBatch(columnCount: 1)
            batch.beginRecord()
            batch.setValue(.decimal(number), at: 0)
            batch.endRecord()
            #expect(batch.value(row: 0, column: 0) == .decimal(number))
        }
        var batch = RecordBatch(columnCount: 1)
        batch.beginRecord()
        batch.setValue(.decimal(.nan), at: 0)
        batch.endRecord()
        #expect(batch.value(row: 0, column: 0) == .null)
    }

    @Test func errorsOfTheReadersCallerComeThrough() {
        struct Stop: Error {}
        let batch = RecordBatch(columnCount: 1)
        #expect(throws: Stop.self) { try batch.withReader { (_) throws(Stop) in throw Stop() } }
    }

    @Test func aColumnThatDoesNotExistStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            var batch = RecordBatch(columnCount: 1)
            batch.beginRecord()
            batch.setInt(1, at: 1)
        }
        // The cell before is one of another row.
        await #expect(processExitsWith: .failure) {
            var batch = RecordBatch(columnCount: 1)
            batch.beginRecord()
            batch.endRecord()
            batch.beginRecord()
            _ = batch.openKind(at: -1)
        }
    }

    @Test func aRowOfABatchWithOtherColumnsStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            var (batch, other) = (RecordBatch(columnCount: 1), RecordBatch(columnCount: 2))
            other.beginRecord()
            other.endRecord()
            batch.append(row: 0, of: other)
        }
        await #expect(processExitsWith: .failure) {
            var (batch, other) = (RecordBatch(columnCount: 1), RecordBatch(columnCount: 2))
            other.beginRecord()
            other.endRecord()
            batch.append(combining: [0], of: other)
        }
    }
}
