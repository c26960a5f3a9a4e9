#if Postgres
import SyncModel
import SyncStoreSQL

/// The rows of a batch in the order in which they are merged: in sets that hold every object at most once, since a statement sees none of
/// its own changes.
struct PostgresMergeRounds {
    /// Rows that are merged together.
    struct Round {
        var rows: [Int]
        /// Whether the rows name their objects; if not, they are found by identity.
        var isByHandle = false
        /// Whether it may give an object an identity that another one has.
        var mayTakeIdentity = false
        /// Whether what becomes of its rows is known before.
        var isSettled = false
    }

    /// A row that repeats the identity of another, all cells of which it has.
    struct Repeat {
        let row: Int
        let first: Int
        /// Whether the row before it of the same object has other values.
        let differs: Bool
    }

    /// The rounds, in order.
    private(set) var rounds: [Round] = []
    /// The rows of which is known what becomes of them as soon as that of another one is.
    private(set) var repeats: [Repeat] = []

    /// Puts rows in order.
    ///
    /// - Parameters:
    ///   - handles: The objects of the rows, 0 for one that is to be found; nil where all are.
    ///   - writes: Whether anything may be written; if not, all rows can be looked for together.
    init(_ reader: RecordBatch.Reader, _ layout: EntityLayout, handles: [Int64]?, writes: Bool) {
        guard let handles else {
            addByIdentity(reader, layout, 0..<reader.count, writes: writes)
            return
        }
        // An object may be found by its identity and named by a handle as well: rows of either kind take turns.
        var pending: [Int] = []
        var isByHandle = false
        func flush(_ rounds: inout PostgresMergeRounds) {
            guard !pending.isEmpty else { return }
            if isByHandle {
                rounds.addByHandle(pending, handles)
            } else {
                rounds.addByIdentity(reader, layout, pending, writes: writes)
            }
            pending = []
        }
        // No object has a number below 1, so its rows are left out.
        for row in 0..<reader.count where handles[row] >= 0 {
            let hasHandle = handles[row] > 0
            let takesIdentity =
                hasHandle && layout.identitySlots.contains { reader.kind(row: row, slot: $0) != .absent }
            if hasHandle != isByHandle || takesIdentity { flush(&self) }
            isByHandle = hasHandle
            if takesIdentity {
                rounds.append(Round(rows: [row], isByHandle: true, mayTakeIdentity: true))
            } else {
                pending.append(row)
            }
        }
        flush(&self)
    }

    private mutating func addByHandle(_ rows: [Int], _ handles: [Int64]) {
        var occurrences: [Int64: Int] = [:]
        var later: [Round] = []
        for row in rows {
            let occurrence = occurrences[handles[row], default: 0]
            occurrences[handles[row]] = occurrence + 1
            if occurrence == later.count { later.append(Round(rows: [], isByHandle: true)) }
            later[occurrence].rows.append(row)
        }
        rounds += later
    }

    private mutating func addByIdentity(
        _ reader: RecordBatch.Reader, _ layout: EntityLayout, _ rows: some Collection<Int>, writes: Bool
    ) {
        guard writes else {
            rounds.append(Round(rows: Array(rows)))
            return
        }
        let identities = BatchIdentities(reader, slots: layout.identitySlots, rows: rows)
        rounds.append(Round(rows: identities.first + identities.nameless))
        guard !identities.repeats.isEmpty else { return }
        var last: [Int] = []
        var later: [Round] = []
        for (first, rows) in identities.repeats {
            if rows.allSatisfy({ reader.hasSameCells($0, first) }) {
                var previous = first
                for row in rows {
                    repeats.append(Repeat(row: row, first: first, differs: !reader.isEqual(row, previous)))
                    previous = row
                }
                if !reader.isEqual(previous, first) { last.append(previous) }
            } else {
                for (place, row) in rows.enumerated() {
                    if place == later.count { later.append(Round(rows: [])) }
                    later[place].rows.append(row)
                }
            }
        }
        if !last.isEmpty { rounds.append(Round(rows: last, isSettled: true)) }
        rounds += later
    }
}

extension RecordBatch.Reader {
    /// Whether the same cells of two rows are absent.
    fileprivate func hasSameCells(_ one: Int, _ other: Int) -> Bool {
        (0..<columnCount).allSatisfy { slot in
            (kind(row: one, slot: slot) == .absent) == (kind(row: other, slot: slot) == .absent)
        }
    }

    /// Whether two rows hold the same.
    fileprivate func isEqual(_ one: Int, _ other: Int) -> Bool {
        (0..<columnCount).allSatisfy { isEqual(row: one, slot: $0, to: self, row: other, slot: $0) }
    }
}
#endif
