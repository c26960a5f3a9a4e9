import SyncBase
package import SyncModel

/// The rows that a link plan writes: objects, each with the object at the other end of a link.
///
/// Most rows have the same other object as the row before, and most have no position. A row
/// therefore takes little more than the eight bytes of its object.
package struct SQLLinkRows: Sequence, Sendable {
    /// A row.
    package struct Element: Sendable {
        /// The object with the column, or the target of a pair.
        package let object: ObjectID
        /// The object that the column refers to, nil for none; or the source of a pair.
        package let other: ObjectID?
        /// The position among the source's targets; 0 if the relationship has no order.
        package let position: Int64

        package init(object: ObjectID, other: ObjectID?, position: Int64) {
            (self.object, self.other, self.position) = (object, other, position)
        }
    }

    /// Reads the rows in order.
    package struct Iterator: IteratorProtocol {
        fileprivate let rows: SQLLinkRows
        fileprivate var index: Int
        fileprivate var run: Int

        package mutating func next() -> Element? {
            guard index < rows.count else { return nil }
            defer { index += 1 }
            if rows.runs[run].end == index { run += 1 }
            let position = index < rows.positions.count ? rows.positions[index] : 0
            return Element(object: rows.objects[index], other: rows.runs[run].other, position: position)
        }
    }

    private var objects: [ObjectID] = []
    /// The other object of adjacent rows, with the index after the last of these rows.
    private var runs: [(other: ObjectID?, end: Int)] = []
    /// The positions of the first rows; those of the rest are 0.
    private var positions: [Int64] = []

    /// - Parameter capacity: The number of rows to reserve memory for.
    package init(capacity: Int = 0) {
        objects.reserveCapacity(capacity)
    }

    package init(_ rows: some Sequence<Element>) {
        for row in rows { append(row) }
    }

    package var count: Int { objects.count }
    package var isEmpty: Bool { objects.isEmpty }

    package mutating func append(_ row: Element) {
        if row.position != 0 {
            positions += repeatElement(0, count: count - positions.count)
            positions.append(row.position)
        }
        objects.append(row.object)
        if let last = runs.last, last.other == row.other {
            runs[runs.count - 1].end = count
        } else {
            runs.append((row.other, count))
        }
    }

    /// Leaves out all rows but the first ones.
    package mutating func truncate(to count: Int) {
        self = SQLLinkRows(prefix(count))
    }

    package func makeIterator() -> Iterator {
        rows(from: 0)
    }

    /// The rows from an index on.
    package func rows(from index: Int) -> Iterator {
        Iterator(rows: self, index: index, run: runs.partitionIndex { $0.end > index })
    }
}

extension SQLLinkRows.Iterator: Sequence {}
