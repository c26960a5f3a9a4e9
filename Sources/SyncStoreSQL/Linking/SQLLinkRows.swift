import SyncBase
package import SyncModel

/// The rows that a link plan writes: objects, each with the object at the other end of a link.
///
/// Most rows have the same other object as the row before, and the next position or none. A row
/// therefore takes little more than the eight bytes of its object, and nothing in a long list of
/// targets, which is shared with the batch.
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

    /// Adjacent rows with the same other object, whose positions are equal or follow each other.
    private struct Run {
        let other: ObjectID?
        let start: Int
        let position: Int64
        /// The distance between two positions, 0 or 1; nil for a single row.
        var step: Int8?

        func position(at index: Int) -> Int64 {
            position + Int64(step ?? 0) * Int64(index - start)
        }

        /// Adds a row, if it continues the run.
        mutating func append(_ row: Element, at index: Int) -> Bool {
            guard row.other == other else { return false }
            let next = row.position - position(at: index - 1)
            guard step.map({ next == $0 }) ?? (0...1).contains(next) else { return false }
            step = Int8(next)
            return true
        }
    }

    /// Adjacent objects: a long list, or those of any other rows.
    private struct Part {
        let start: Int
        var objects: [ObjectID]
        let isList: Bool

        var end: Int { start + objects.count }
    }

    /// Reads the rows in order.
    package struct Iterator: IteratorProtocol {
        fileprivate let rows: SQLLinkRows
        fileprivate var index: Int
        fileprivate var part: Int
        fileprivate var run: Int

        package mutating func next() -> Element? {
            guard index < rows.count else { return nil }
            defer { index += 1 }
            while rows.parts[part].end <= index { part += 1 }
            if run + 1 < rows.runs.count, rows.runs[run + 1].start == index { run += 1 }
            let (objects, found) = (rows.parts[part], rows.runs[run])
            return Element(
                object: objects.objects[index - objects.start], other: found.other, position: found.position(at: index))
        }
    }

    /// The number of targets from which on a list is shared.
    private static let sharedCount = 1024

    private var parts: [Part] = []
    private var runs: [Run] = []
    package private(set) var count = 0

    /// Creates a collection without rows.
    ///
    /// - Parameter capacity: The number of rows to reserve memory for.
    package init(capacity: Int = 0) {
        guard capacity > 0 else { return }
        parts.append(Part(start: 0, objects: [], isList: false))
        parts[0].objects.reserveCapacity(capacity)
    }

    package init(_ rows: some Sequence<Element>) {
        for row in rows { append(row) }
    }

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ row: Element) {
        if runs.isEmpty || !runs[runs.count - 1].append(row, at: count) {
            runs.append(Run(other: row.other, start: count, position: row.position))
        }
        if parts.last?.isList ?? true { parts.append(Part(start: count, objects: [], isList: false)) }
        parts[parts.count - 1].objects.append(row.object)
        count += 1
    }

    /// Adds a row for each target of a source.
    ///
    /// - Parameter isOrdered: Whether the positions are those of the targets in the list.
    package mutating func append(_ targets: [ObjectID], of source: ObjectID, isOrdered: Bool) {
        guard !targets.isEmpty else { return }
        runs.append(Run(other: source, start: count, position: 0, step: isOrdered ? 1 : 0))
        if targets.count >= Self.sharedCount {
            parts.append(Part(start: count, objects: targets, isList: true))
        } else {
            if parts.last?.isList ?? true { parts.append(Part(start: count, objects: [], isList: false)) }
            parts[parts.count - 1].objects += targets
        }
        count += targets.count
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
        Iterator(
            rows: self, index: index, part: parts.partitionIndex { $0.end > index },
            run: Swift.max(runs.partitionIndex { $0.start > index } - 1, 0))
    }
}

extension SQLLinkRows.Iterator: Sequence {}
