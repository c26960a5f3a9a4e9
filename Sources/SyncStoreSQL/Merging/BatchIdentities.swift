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
    ///   - slots: The slots of the identity; empty for an entity without an identity.
    ///   - rows: The rows, in ascending order.
    package init(_ reader: RecordBatch.Reader, slots: [Int], rows: some Sequence<Int>) {
        guard !slots.isEmpty else {
            nameless = Array(rows)
            return
        }
        var isAscending = true
        for row in rows {
            guard slots.allSatisfy({ reader.isIdentifying(row: row, slot: $0) }) else {
                nameless.append(row)
                continue
            }
            if isAscending, let last = self.rows.last { isAscending = reader.order(last, row, slots) < 0 }
            self.rows.append(row)
        }
        if !isAscending { sort(reader, slots) }
    }

    private mutating func sort(_ reader: RecordBatch.Reader, _ slots: [Int]) {
        rows.sort { one, other in
            let order = reader.order(one, other, slots)
            return order < 0 || (order == 0 && one < other)
        }
        for (row, next) in zip(rows, rows.dropFirst()) where reader.order(row, next, slots) == 0 {
            repeated = next
            return
        }
    }
}

extension RecordBatch.Reader {
    /// Whether a cell's value can identify an object.
    fileprivate func isIdentifying(row: Int, slot: Int) -> Bool {
        switch kind(row: row, slot: slot) {
        case .absent, .null: false
        case .double: !double(row: row, slot: slot).isNaN
        default: true
        }
    }

    /// Compares the identities of two rows: below 0 if the first sorts first, 0 if they are equal.
    fileprivate func order(_ one: Int, _ other: Int, _ slots: [Int]) -> Int {
        for slot in slots {
            let order = order(one, other, slot)
            if order != 0 { return order }
        }
        return 0
    }

    private func order(_ one: Int, _ other: Int, _ slot: Int) -> Int {
        let kind = kind(row: one, slot: slot)
        let otherKind = self.kind(row: other, slot: slot)
        guard kind == otherKind else { return kind.rawValue < otherKind.rawValue ? -1 : 1 }
        switch kind {
        case .absent, .null: return 0
        case .bool: return order(bool(row: one, slot: slot) ? 1 : 0, bool(row: other, slot: slot) ? 1 : 0)
        case .int: return order(int(row: one, slot: slot), int(row: other, slot: slot))
        case .date:
            return order(date(row: one, slot: slot).microseconds, date(row: other, slot: slot).microseconds)
        case .double: return order(double(row: one, slot: slot), double(row: other, slot: slot))
        case .decimal, .string, .binary, .uuid, .uri, .json:
            // Texts are stored as these bytes. UUIDs are stored as text that sorts like their
            // bytes.
            let bytes = bytes(row: one, slot: slot)
            let otherBytes = self.bytes(row: other, slot: slot)
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
