import Foundation
import OneWayTestLimits
import SyncModel
import SyncStoreSQL
import Testing

/// The order of a batch's rows by their identities.
@Suite(.endsInTime) struct BatchIdentitiesTests {
    /// The rows in order, those without an identity, and a repeated one.
    private func identities(_ rows: [[AttributeValue?]], columns: [Int] = [0], of chosen: [Int]? = nil)
        -> BatchIdentities
    {
        var batch = RecordBatch(columnCount: rows.first?.count ?? 1)
        for row in rows {
            batch.beginRecord()
            for (column, value) in row.enumerated() {
                if let value { batch.setValue(value, at: column) }
            }
            batch.endRecord()
        }
        return batch.withReader { reader in
            BatchIdentities(reader, columns: columns, rows: chosen ?? Array(0..<reader.count))
        }
    }

    @Test func rowsAreInTheOrderOfTheirIdentities() {
        let found = identities([3, 1, 4, 1, 5].map { [.int($0)] })
        #expect(found.rows == [1, 3, 0, 2, 4])
        #expect(found.repeated == 3)
        #expect(found.nameless == [])
    }

    @Test func rowsInOrderStayAsTheyAre() {
        let ascending = identities([1, 2, 9].map { [.int($0)] })
        #expect(ascending.rows == [0, 1, 2])
        #expect(ascending.repeated == nil)
        let equal = identities([1, 1].map { [.int($0)] })
        #expect(equal.rows == [0, 1])
        #expect(equal.repeated == 1)
        let some = identities([5, 1, 3, 2].map { [.int($0)] }, of: [1, 3])
        #expect(some.rows == [1, 3])
    }

    @Test func rowsWithoutAnIdentityAreApart() {
        let found = identities([[.int(2)], [.null], [nil], [.double(.nan)], [.int(1)]])
        #expect(found.rows == [4, 0])
        #expect(found.nameless == [1, 2, 3])
        let none = identities([[.int(2)], [.int(1)]], columns: [])
        #expect(none.rows == [])
        #expect(none.nameless == [0, 1])
        let partial = identities([[.int(1), .null], [.int(1), .int(2)], [nil, .int(2)]], columns: [0, 1])
        #expect(partial.rows == [1])
        #expect(partial.nameless == [0, 2])
    }

    @Test func laterValuesDecideBetweenEqualFirstOnes() {
        let found = identities(
            [[.int(1), .string("b")], [.int(1), .string("a")], [.int(0), .string("z")], [.int(1), .string("b")]],
            columns: [0, 1])
        #expect(found.rows == [2, 1, 0, 3])
        #expect(found.repeated == 3)
    }

    @Test(
        arguments: [
            [.bool(false), .bool(true)], [.int(-3), .int(0), .int(7)], [.double(-2.5), .double(0), .double(1e9)],
            [.date(Timestamp(microseconds: -1)), .date(Timestamp(microseconds: 5))],
            [.string(""), .string("A"), .string("Aa"), .string("B"), .string("a"), .string("é")],
            [.binary(Data()), .binary(Data([0])), .binary(Data([0, 1])), .binary(Data([255]))],
            [
                .uuid(UUID(uuidString: "00000000-0000-0000-0000-0000000000FF")!),
                .uuid(UUID(uuidString: "01000000-0000-0000-0000-000000000000")!),
            ],
            [.uri("a:"), .uri("b:")],
        ] as [[AttributeValue]])
    func valuesSortAsAnIndexHasThem(values: [AttributeValue]) {
        let count = values.count
        let found = identities(values.reversed().map { [$0] })
        #expect(found.rows == (0..<count).reversed())
        #expect(found.repeated == nil)
        #expect(identities((values.reversed() + values).map { [$0] }).repeated == count)
    }

    @Test func prefixesSortBeforeLongerTexts() {
        let found = identities(["A", "z", "Aa", "Aaa", "b", "Az"].map { [.string($0)] })
        #expect(found.rows == [0, 2, 3, 5, 4, 1])
    }

    @Test func valuesOfDifferentTypesAreDifferent() {
        let found = identities([[.string("1")], [.int(1)]])
        #expect(found.rows.count == 2)
        #expect(found.repeated == nil)
    }
}
