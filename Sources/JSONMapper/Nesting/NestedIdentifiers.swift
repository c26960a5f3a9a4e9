import SyncBase
package import SyncModel

/// The identifiers that a relationship's values have in place of objects.
///
/// An object can have a list of a million identifiers, so only these are kept, and not whole
/// records of their entity.
package struct NestedIdentifiers: Sendable {
    /// The mapping of the objects that the identifiers name.
    package let mapping: EntityMapping
    /// The differences between the identifiers and the model, and the rejected identifiers.
    var findings = MappedBatch(groups: [], rejected: [], toleratedCount: 0)
    /// The first identifiers, as long as all of them are integers.
    private var integers: [Int64] = []
    /// The other identifiers, one row with one cell for each.
    private var values = RecordBatch(columnCount: 1)
    /// The ordinals of the rows. Those of a run follow each other.
    private var runs: [(ordinal: Int, row: Int)] = []

    init(_ mapping: EntityMapping) {
        self.mapping = mapping
    }

    /// The slot of the identifier in a record.
    private var slot: Int { mapping.layout.identitySlots.first ?? 0 }

    var count: Int { integers.count + values.count }
    var byteCount: Int { integers.count * MemoryLayout<Int64>.stride + values.byteCount }

    /// Adds the identifiers of records, whose element indices are ordinals.
    mutating func append(_ group: MappedBatch.Group) {
        group.records.withReader { reader in
            for (row, ordinal) in group.elementIndices.enumerated() {
                noteRun(ordinal)
                if values.isEmpty, reader.kind(row: row, slot: slot) == .int {
                    integers.append(reader.int(row: row, slot: slot))
                } else {
                    values.append(row: row, slot: slot, of: group.records, at: 0)
                }
            }
        }
    }

    private mutating func noteRun(_ ordinal: Int) {
        if runs.last.map({ $0.ordinal + count - $0.row }) != ordinal { runs.append((ordinal, count)) }
    }

    /// Removes the identifiers from an ordinal on.
    mutating func truncate(from ordinal: Int) {
        let newCount = firstRow(from: ordinal)
        values.truncate(to: max(newCount - integers.count, 0))
        integers.removeLast(max(integers.count - newCount, 0))
        while let last = runs.last, last.row >= count { runs.removeLast() }
    }

    /// Returns only some identifiers.
    ///
    /// - Parameter isKept: Whether the identifier of an ordinal is kept.
    func restricted(_ isKept: (Int) -> Bool) -> NestedIdentifiers {
        var copy = NestedIdentifiers(mapping)
        copy.findings = findings.restricted(isKept) ?? copy.findings
        for (row, ordinal) in ordinals(of: 0..<count).enumerated() where isKept(ordinal) {
            copy.noteRun(ordinal)
            if row < integers.count {
                copy.integers.append(integers[row])
            } else {
                copy.values.append(row: row - integers.count, slot: 0, of: values, at: 0)
            }
        }
        return copy
    }

    /// The identifiers of a range of ordinals, each with its ordinal.
    package func values(in ordinals: Range<Int>) -> [(ordinal: Int, value: AttributeValue?)] {
        let rows = firstRow(from: ordinals.lowerBound)..<firstRow(from: ordinals.upperBound)
        return zip(self.ordinals(of: rows), rows).map { ($0, value($1)) }
    }

    private func value(_ row: Int) -> AttributeValue? {
        row < integers.count ? .int(integers[row]) : values.value(row: row - integers.count, slot: 0)
    }

    /// The values of the record that an identifier represents: all of them, or only the identity.
    package func record(of value: AttributeValue?, isWhole: Bool) -> [AttributeValue?] {
        isWhole ? mapping.layout.attributes.indices.map { $0 == slot ? value : nil } : [value]
    }

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

    /// The identifiers as batches of records without other values. The first batch has the
    /// rejected identifiers.
    ///
    /// - Parameter rowCount: The maximum number of identifiers in a batch.
    package func batches(of rowCount: Int) -> some Sequence<MappedBatch> {
        stride(from: 0, to: max(count, 1), by: rowCount).lazy.map { start in
            var batch = start == 0 ? findings : MappedBatch(groups: [], rejected: [], toleratedCount: 0)
            if start < count { batch.groups = [group(start..<min(start + rowCount, count))] }
            return batch
        }
    }

    private func group(_ rows: Range<Int>) -> MappedBatch.Group {
        var group = MappedBatch.Group(mapping: mapping, records: RecordBatch(of: mapping.layout))
        group.records.reserveCapacity(rowCount: rows.count, byteCount: 0)
        for row in rows where row < integers.count {
            group.records.beginRecord()
            group.records.setInt(integers[row], at: slot)
            group.records.endRecord()
        }
        for row in rows where row >= integers.count {
            group.records.append(row: row - integers.count, slot: 0, of: values, at: slot)
        }
        group.stubRows = Array(0..<rows.count)
        group.elementIndices = ordinals(of: rows)
        return group
    }
}
