import JSONMapper
import SyncModel
import SyncStore

/// The rows of a group with those of one identity combined: the later ones count where they say
/// something.
struct CombinedRows {
    /// The combined records.
    let records: RecordBatch
    /// The ordinal of the first row of each combined record.
    let ordinals: [Int]
    /// The rows whose identity an earlier row has.
    let repeatedRows: [Int]
    /// The combined record of each row.
    private let recordOfRow: [Int]

    /// Combines rows; nil if all identities differ.
    ///
    /// - Parameters:
    ///   - parents: The objects within which scoped identities are unique, by ordinal.
    ///   - report: Receives the key path and the row of each value that differs from that of an
    ///     earlier row of the same identity.
    init?(_ group: MappedBatch.Group, parents: [ObjectID?]?, _ report: (_ keyPath: String, _ row: Int) -> Void) {
        let layout = group.mapping.layout
        let slots = parents == nil ? layout.identitySlots : layout.scopedIdentitySlots
        guard !slots.isEmpty, group.records.count > 1 else { return nil }
        var rowsOfRecords: [[Int]] = []
        var recordOfRow: [Int] = []
        var repeatedRows: [Int] = []
        group.records.withReader { reader in
            var integers: [Int64: Int] = [:]
            var others: [[AttributeValue]: Int] = [:]
            for row in 0..<reader.count {
                var known: Int?
                if slots.count == 1, parents == nil, reader.kind(row: row, slot: slots[0]) == .int {
                    let integer = reader.int(row: row, slot: slots[0])
                    known = integers[integer]
                    if known == nil { integers[integer] = rowsOfRecords.count }
                } else if reader.isIdentified(row, by: slots) {
                    var identity = slots.compactMap { reader.value(row: row, slot: $0) }
                    if let parents { identity.append(.int(parents[group.elementIndices[row]] ?? 0)) }
                    known = others[identity]
                    if known == nil { others[identity] = rowsOfRecords.count }
                }
                if let known {
                    recordOfRow.append(known)
                    repeatedRows.append(row)
                    rowsOfRecords[known].append(row)
                } else {
                    recordOfRow.append(rowsOfRecords.count)
                    rowsOfRecords.append([row])
                }
            }
            for rows in rowsOfRecords where rows.count > 1 {
                for slot in 0..<reader.columnCount {
                    var earlier: Int?
                    for row in rows where reader.kind(row: row, slot: slot) != .absent {
                        if let earlier, !reader.isEqual(row: row, slot: slot, to: reader, row: earlier, slot: slot) {
                            let path = group.mapping.keys.attributes[slot].path() ?? []
                            report(path.joined(separator: "."), row)
                        }
                        earlier = row
                    }
                }
            }
        }
        guard !repeatedRows.isEmpty else { return nil }
        var records = RecordBatch(of: layout)
        for rows in rowsOfRecords {
            if rows.count == 1 {
                records.append(row: rows[0], of: group.records)
            } else {
                records.append(combining: rows, of: group.records)
            }
        }
        self.records = records
        self.recordOfRow = recordOfRow
        self.repeatedRows = repeatedRows
        ordinals = rowsOfRecords.map { group.elementIndices[$0[0]] }
    }

    /// The combined record of a row.
    func record(of row: Int) -> Int {
        recordOfRow[row]
    }

    /// The result of each row, from that of the combined records.
    func expanded(_ result: MergeResult) -> MergeResult {
        var rows = recordOfRow.map { result.rows[$0] }
        // Only the first row of a new object inserted it.
        for row in repeatedRows where rows[row]?.change == .inserted { rows[row]?.change = .unchanged }
        return MergeResult(rows)
    }
}
