import JSONMapper
import SyncModel
import SyncStore

/// The records of a group. Rows of the same identity are combined into one record.
struct CombinedRows {
    /// The records, in the order of their first rows.
    private(set) var records: RecordBatch
    /// The ordinal of the first row of each record.
    private(set) var ordinals: [Int]
    /// The rows with the identity of an earlier row.
    private(set) var repeatedRows: [Int] = []
    /// The record of each row; nil if all rows have a record of their own.
    private var recordOfRow: [Int]?

    /// Combines rows.
    ///
    /// - Parameters:
    ///   - laterCounts: Whether the last of several values for a column counts, not the first.
    ///   - report: Receives the key path and the row of each value that differs from an earlier row
    ///     of the same identity.
    init(
        _ group: MappedBatch.Group, _ origin: Origin, laterCounts: Bool,
        _ report: (_ keyPath: String, _ row: Int) -> Void
    ) {
        (records, ordinals) = (group.records, group.elementIndices)
        let (layout, parents) = (group.mapping.layout, origin.parents)
        let columns = parents == nil ? layout.identityColumns : layout.scopedIdentityColumns
        guard !columns.isEmpty, group.records.count > 1 else { return }
        let isPlain = columns.count == 1 && parents == nil
        var firstRows: [Int] = []
        var recordOfRow: [Int] = []
        // For each record, its first row and the rows that add or change a value.
        var several: [Int: [Int]] = [:]
        group.records.withReader { reader in
            // Ascending numbers differ, alone and within a parent. But rows without a parent may be
            // known to be one object.
            let mayBeOne = parents.map { parents in
                group.elementIndices.contains { parents($0) == nil && origin.reused[$0] != nil }
            }
            guard mayBeOne == true || !reader.isAscending(column: columns[0]) else { return }
            var integers: [Int64: Int] = [:]
            var others: [[AttributeValue]: Int] = [:]
            recordOfRow.reserveCapacity(reader.count)
            for row in 0..<reader.count {
                var known: Int?
                if isPlain, reader.kind(row: row, column: columns[0]) == .int {
                    known = integers.index(of: reader.int(row: row, column: columns[0]), new: firstRows.count)
                } else if reader.isIdentified(row, by: columns) {
                    var identity = columns.compactMap { reader.value(row: row, column: $0) }
                    let ordinal = group.elementIndices[row]
                    if let parents {
                        // Without its parent, a scoped identity is not unique, but its object may
                        // be known.
                        let object = origin.reused[ordinal].map { [AttributeValue.int($0)] }
                        identity = object ?? parents(ordinal).map { identity + [.int($0)] } ?? []
                    }
                    if !identity.isEmpty { known = others.index(of: identity, new: firstRows.count) }
                }
                guard let known else {
                    recordOfRow.append(firstRows.count)
                    firstRows.append(row)
                    continue
                }
                recordOfRow.append(known)
                repeatedRows.append(row)
                let first = firstRows[known]
                let others = several.isEmpty ? nil : several[known]
                var isNews = false
                for column in 0..<reader.columnCount where reader.kind(row: row, column: column) != .absent {
                    let isPresent = { reader.kind(row: $0, column: column) != .absent }
                    let other =
                        others.map { laterCounts ? $0.last(where: isPresent) : $0.first(where: isPresent) }
                        ?? (isPresent(first) ? first : nil)
                    guard let other else {
                        isNews = true
                        continue
                    }
                    guard !reader.isEqual(row: row, column: column, to: reader, row: other, column: column) else {
                        continue
                    }
                    isNews = true
                    report(group.mapping.keyPath(of: column), row)
                }
                if isNews { several[known] = (others ?? [first]) + [row] }
            }
        }
        guard !repeatedRows.isEmpty else { return }
        records = RecordBatch(of: layout)
        for (record, row) in firstRows.enumerated() {
            if let rows = several[record] {
                records.append(combining: laterCounts ? rows : rows.reversed(), of: group.records)
            } else {
                records.append(row: row, of: group.records)
            }
        }
        self.recordOfRow = recordOfRow
        ordinals = firstRows.map { group.elementIndices[$0] }
    }

    /// The record of a row.
    func record(of row: Int) -> Int {
        recordOfRow?[row] ?? row
    }

    /// The result of each row, from the result of the records.
    func expanded(_ result: MergeRequest.Result) -> MergeRequest.Result {
        guard let recordOfRow else { return result }
        var rows = recordOfRow.map { result.rows[$0] }
        // Only the first row of a new object counts as an insertion.
        for row in repeatedRows where rows[row]?.change == .inserted { rows[row]?.change = .unchanged }
        return MergeRequest.Result(rows)
    }
}

extension Dictionary where Value == Int {
    /// The index of a key; nil for a new key, which is added with index `new`.
    fileprivate mutating func index(of key: Key, new: Int) -> Int? {
        if let known = self[key] { return known }
        self[key] = new
        return nil
    }
}
