import Foundation
package import SyncModel

/// The rows of a batch in the ascending order of their identities, as in an index.
///
///     identities   3  1  4  1  5      // of the rows 0, 1, 2, 3, 4
///     rows         1  3  0  2  4
///     repeated     3                  // has the identity of row 1
package struct BatchIdentities {
    /// The rows with an identity, in its order. Rows of one identity are in the order of the batch.
    package private(set) var rows: [Int] = []
    /// A row with the identity of an earlier row; nil if all identities differ.
    package private(set) var repeated: Int?
    /// The rows without an identity.
    package private(set) var nameless: [Int] = []

    /// Sorts rows by identity.
    ///
    /// - Parameters:
    ///   - columns: The columns of the identity; empty for an entity without an identity.
    ///   - rows: The rows, in ascending order.
    package init(_ reader: RecordBatch.Reader, columns: [Int], rows: some Sequence<Int>) {
        guard !columns.isEmpty else {
            nameless = Array(rows)
            return
        }
        if columns.count == 1, reader.isAscending(column: columns[0]) {
            self.rows = Array(rows)
            return
        }
        var isAscending = true
        for row in rows {
            guard columns.allSatisfy({ reader.isIdentifying(row: row, column: $0) }) else {
                nameless.append(row)
                continue
            }
            if isAscending, let last = self.rows.last { isAscending = reader.order(last, row, columns) < 0 }
            self.rows.append(row)
        }
        if !isAscending { sort(reader, columns) }
    }

    private mutating func sort(_ reader: RecordBatch.Reader, _ columns: [Int]) {
        rows.sort { one, other in
            let order = reader.order(one, other, columns)
            return order < 0 || (order == 0 && one < other)
        }
        for (row, next) in zip(rows, rows.dropFirst()) where reader.order(row, next, columns) == 0 {
            repeated = next
            return
        }
    }
}

extension RecordBatch.Reader {
    /// Whether a cell's value can identify an object.
    fileprivate func isIdentifying(row: Int, column: Int) -> Bool {
        switch kind(row: row, column: column) {
        case .absent, .null: false
        case .double: !double(row: row, column: column).isNaN
        default: true
        }
    }

    /// Compares the identities of two rows: below 0 if the first sorts first, 0 if they are equal.
    fileprivate func order(_ one: Int, _ other: Int, _ columns: [Int]) -> Int {
        for column in columns {
            let order = order(one, other, column)
            if order != 0 { return order }
        }
        return 0
    }

    private func order(_ one: Int, _ other: Int, _ column: Int) -> Int {
        let kind = kind(row: one, column: column)
        let otherKind = self.kind(row: other, column: column)
        guard kind == otherKind else { return kind.rawValue < otherKind.rawValue ? -1 : 1 }
        switch kind {
        case .absent, .null: return 0
        case .bool: return order(bool(row: one, column: column) ? 1 : 0, bool(row: other, column: column) ? 1 : 0)
        case .int: return order(int(row: one, column: column), int(row: other, column: column))
        case .date:
            return order(date(row: one, column: column).microseconds, date(row: other, column: column).microseconds)
        case .double: return order(double(row: one, column: column), double(row: other, column: column))
        case .decimal, .string, .binary, .uuid, .uri, .json:
            // Texts are stored as these bytes. UUIDs are stored as text that sorts like their
            // bytes.
            let bytes = bytes(row: one, column: column)
            let otherBytes = self.bytes(row: other, column: column)
            if let start = bytes.baseAddress, let otherStart = otherBytes.baseAddress {
                let order = memcmp(start, otherStart, min(bytes.count, otherBytes.count))
                if order != 0 { return Int(order) }
            }
            return order(bytes.count, otherBytes.count)
        }
    }

    private func order<Number: Comparable>(_ one: Number, _ other: Number) -> Int {
        one < other ? -1 : one == other ? 0 : 1
    }
}
