import SyncBase
package import SyncModel

/// Objects or identifiers of one relationship in a compact form. They are read in parts.
///
/// An object can have a list of a million others, which as records take several times the memory.
package struct NestedRecords: Sendable {
    /// The mapping of the objects.
    package let mapping: EntityMapping
    /// Whether these are identifiers in place of objects.
    private let areIdentifiers: Bool
    /// The differences between identifiers and the model, and the rejected identifiers.
    var findings = MappedBatch(groups: [], rejected: [], toleratedCount: 0)
    private var records: PackedRecords
    /// The ordinals of the rows. Those of a run follow each other.
    private var runs: [(ordinal: Int, row: Int)] = []
    /// Whether each row has an identity.
    private(set) package var isIdentified = true

    init(_ mapping: EntityMapping, areIdentifiers: Bool) {
        (self.mapping, self.areIdentifiers) = (mapping, areIdentifiers)
        let layout = mapping.layout
        records = PackedRecords(columns: areIdentifiers ? layout.identityColumns : Array(layout.attributes.indices))
    }

    /// The column of an identifier in a record.
    private var column: Int { mapping.layout.identityColumns.first ?? 0 }

    package var count: Int { records.count }
    var byteCount: Int { records.byteCount }

    /// Adds records without other content, whose element indices are ordinals.
    mutating func append(_ group: MappedBatch.Group) {
        let identityColumns = mapping.layout.identityColumns
        group.records.withReader { reader in
            for (row, ordinal) in group.elementIndices.enumerated() {
                add(reader, row: row, ordinal: ordinal)
                if isIdentified, !areIdentifiers { isIdentified = reader.isIdentified(row, by: identityColumns) }
            }
        }
    }

    /// Whether a group has only records that can be added.
    func accepts(_ group: MappedBatch.Group) -> Bool {
        group.mapping.layout.index == mapping.layout.index && !group.hasNested && group.undetermined.isEmpty
    }

    private mutating func add(_ reader: RecordBatch.Reader, row: Int, ordinal: Int) {
        if runs.last.map({ $0.ordinal + count - $0.row }) != ordinal { runs.append((ordinal, count)) }
        records.append(reader, row: row)
    }

    /// Removes the records from an ordinal on.
    mutating func truncate(from ordinal: Int) {
        records.truncate(to: firstRow(from: ordinal))
        while let last = runs.last, last.row >= count { runs.removeLast() }
    }

    /// Returns only some records.
    ///
    /// - Parameter isKept: Whether the record of an ordinal is kept.
    func restricted(_ isKept: (Int) -> Bool) -> NestedRecords {
        var copy = NestedRecords(mapping, areIdentifiers: areIdentifiers)
        copy.findings = findings.restricted(isKept) ?? copy.findings
        copy.isIdentified = isIdentified
        for rows in parts(of: Self.copiedCount) {
            records(rows).withReader { reader in
                for (row, ordinal) in ordinals(of: rows).enumerated() where isKept(ordinal) {
                    copy.add(reader, row: row, ordinal: ordinal)
                }
            }
        }
        return copy
    }

    /// The number of records that are read at a time where their number does not matter.
    private static let copiedCount = 1024

    // MARK: Identifiers

    /// The identifiers of a range of ordinals, each with its ordinal.
    package func values(in ordinals: Range<Int>) -> [(ordinal: Int, value: AttributeValue?)] {
        let rows = firstRow(from: ordinals.lowerBound)..<firstRow(from: ordinals.upperBound)
        return records(rows).withReader { reader in
            self.ordinals(of: rows).enumerated().map { ($1, reader.value(row: $0, column: column)) }
        }
    }

    /// The values of the record that an identifier represents: all of them, or only the identity.
    package func record(of value: AttributeValue?, isWhole: Bool) -> [AttributeValue?] {
        isWhole ? mapping.layout.attributes.indices.map { $0 == column ? value : nil } : [value]
    }

    // MARK: Parts

    /// The first row with an ordinal or a higher one.
    private func firstRow(from ordinal: Int) -> Int {
        let run = runs.partitionIndex { $0.ordinal > ordinal } - 1
        guard run >= 0 else { return 0 }
        let end = run + 1 < runs.count ? runs[run + 1].row : count
        return min(runs[run].row + ordinal - runs[run].ordinal, end)
    }

    private func ordinals(of rows: Range<Int>) -> [Int] {
        var run = runs.partitionIndex { $0.row > rows.lowerBound } - 1
        return rows.map { row in
            if run + 1 < runs.count, runs[run + 1].row == row { run += 1 }
            return runs[run].ordinal + row - runs[run].row
        }
    }

    private func records(_ rows: Range<Int>) -> RecordBatch {
        var batch = RecordBatch(of: mapping.layout)
        batch.reserveCapacity(rowCount: rows.count, byteCount: 0)
        records.append(rows, to: &batch)
        return batch
    }

    /// The rows in ranges of at most `rowCount`.
    private func parts(of rowCount: Int) -> some Sequence<Range<Int>> {
        stride(from: 0, to: count, by: rowCount).lazy.map { $0..<min($0 + rowCount, count) }
    }

    /// The records as batches of at most `rowCount`. The first batch has the findings.
    package func batches(of rowCount: Int) -> some Sequence<MappedBatch> {
        let none = MappedBatch(groups: [], rejected: [], toleratedCount: 0)
        let starts = stride(from: 0, to: max(count, 1), by: rowCount)
        return starts.lazy.map { start in
            var batch = start == 0 ? findings : none
            if start < count { batch.groups = [group(start..<min(start + rowCount, count))] }
            return batch
        }
    }

    /// The records in groups of at most `rowCount`.
    package func groups(of rowCount: Int) -> some Sequence<MappedBatch.Group> {
        parts(of: rowCount).lazy.map(group)
    }

    private func group(_ rows: Range<Int>) -> MappedBatch.Group {
        var group = MappedBatch.Group(mapping: mapping, records: records(rows))
        if areIdentifiers { group.stubRows = Array(0..<rows.count) }
        group.elementIndices = ordinals(of: rows)
        return group
    }
}
