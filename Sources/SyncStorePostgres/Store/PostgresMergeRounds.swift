#if Postgres
import SyncModel
import SyncStore
import SyncStoreSQL

/// The order in which to merge the rows of a batch. In each round, an object occurs at most once,
/// because a statement does not see its own changes.
struct PostgresMergeRounds {
    /// Rows that one statement merges.
    struct Round {
        var rows: [Int]
        /// Whether the rows name their objects by number. If not, they match by identity.
        var isByObject = false
        /// Whether the identities of the rows are long; see `SQLLongKeys`.
        var isLong = false
        /// Whether a row may give an object the identity of another one.
        var mayTakeIdentity = false
        /// Whether the results of the rows are known in advance.
        var isSettled = false
    }

    /// A row with the identity and the same present cells as an earlier row.
    struct Repeat {
        let row: Int
        let first: Int
        /// Whether the previous row of the object has different values.
        let differs: Bool
    }

    /// The object that each row names by number; nil for none. Empty if no row names one.
    private(set) var objects: [ObjectID?] = []
    /// The rounds, in order.
    private(set) var rounds: [Round] = []
    /// The rows whose results follow from an earlier row.
    private(set) var repeats: [Repeat] = []

    /// Plans the rounds.
    ///
    /// - Parameters:
    ///   - matches: The match of each row; nil if every row matches by identity.
    ///   - writes: Whether rows may be written. If not, one round finds all of them.
    ///   - longSlots: The slots of the identity that can have long values.
    ///   - longLimit: The maximum number of bytes of these values in a short identity.
    init(
        _ reader: RecordBatch.Reader, _ layout: EntityLayout, matches: [MergeRequest.Match]?, writes: Bool,
        longSlots: [Int] = [], longLimit: Int = .max
    ) {
        add(reader, layout, matches, writes: writes)
        guard !longSlots.isEmpty else { return }
        rounds = rounds.flatMap { round -> [Round] in
            guard !round.isByObject else { return [round] }
            let long = Set(round.rows.filter { reader.storedByteCount(row: $0, slots: longSlots) > longLimit })
            guard !long.isEmpty else { return [round] }
            var (shortRound, longRound) = (round, round)
            shortRound.rows.removeAll(where: long.contains)
            longRound.rows.removeAll { !long.contains($0) }
            longRound.isLong = true
            return [shortRound, longRound]
        }
    }

    private mutating func add(
        _ reader: RecordBatch.Reader, _ layout: EntityLayout, _ matches: [MergeRequest.Match]?, writes: Bool
    ) {
        guard let matches else {
            addByIdentity(reader, layout, 0..<reader.count, writes: writes)
            return
        }
        objects = matches.map { match in if case .object(let object) = match { object } else { nil } }
        // The same object may be found by identity and named by number, so rows of both kinds
        // alternate.
        var pending: [Int] = []
        var isByObject = false
        func flush(_ rounds: inout PostgresMergeRounds) {
            guard !pending.isEmpty else { return }
            if isByObject {
                rounds.addByObject(pending)
            } else {
                rounds.addByIdentity(reader, layout, pending, writes: writes)
            }
            pending = []
        }
        for row in 0..<reader.count where matches[row] != .skipped {
            let isGiven = objects[row] != nil
            let takesIdentity =
                isGiven && layout.identitySlots.contains { reader.kind(row: row, slot: $0) != .absent }
            if isGiven != isByObject || takesIdentity { flush(&self) }
            isByObject = isGiven
            if takesIdentity {
                rounds.append(Round(rows: [row], isByObject: true, mayTakeIdentity: true))
            } else {
                pending.append(row)
            }
        }
        flush(&self)
    }

    private mutating func addByObject(_ rows: [Int]) {
        var occurrences: [ObjectID?: Int] = [:]
        var later: [Round] = []
        for row in rows {
            let occurrence = occurrences[objects[row], default: 0]
            occurrences[objects[row]] = occurrence + 1
            if occurrence == later.count { later.append(Round(rows: [], isByObject: true)) }
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
    /// The total number of bytes that the texts and blobs of slots take when stored.
    fileprivate func storedByteCount(row: Int, slots: [Int]) -> Int {
        slots.reduce(0) { sum, slot in
            switch kind(row: row, slot: slot) {
            case .string, .uri:
                let bytes = bytes(row: row, slot: slot)
                return sum + bytes.count + bytes.count(where: PostgresText.isSpecial)
            case .binary: return sum + bytes(row: row, slot: slot).count
            default: return sum
            }
        }
    }

    /// Whether two rows have the same absent cells.
    fileprivate func hasSameCells(_ one: Int, _ other: Int) -> Bool {
        (0..<columnCount).allSatisfy { slot in
            (kind(row: one, slot: slot) == .absent) == (kind(row: other, slot: slot) == .absent)
        }
    }

    /// Whether two rows have equal cells.
    fileprivate func isEqual(_ one: Int, _ other: Int) -> Bool {
        (0..<columnCount).allSatisfy { isEqual(row: one, slot: $0, to: self, row: other, slot: $0) }
    }
}
#endif
