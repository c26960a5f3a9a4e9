import JSONMapper
import SyncModel
import SyncStore

/// Updates of stored objects that wait until the pass writes something or ends.
///
/// A payload may contradict itself. The first of two contradicting values then differs from the
/// stored one in every sync, although the second one restores it. Until a pass has written
/// something, it previews merges and holds their updates. A payload that changes nothing in total
/// thus writes nothing.
struct HeldRows {
    /// The number of held rows from which a pass stops holding, to bound memory.
    static let limit = 8192

    /// The held updates of the objects of one entity, in the order of the payload.
    struct Rows {
        let layout: EntityLayout
        var records: RecordBatch
        /// The match of each record.
        var matches: [MergeRequest.Match] = []
        /// The object of each record.
        var objects: [ObjectID] = []
        /// The index in the payload of each record's element.
        var elementIndices: [Int] = []
    }

    /// The updates by entity, in the order in which the pass met the entities.
    private(set) var rows: [Rows] = []
    /// For each object, the index in `rows` and its records there.
    private var places: [ObjectPlace: (rows: Int, records: [Int])] = [:]
    /// The number of held rows.
    private(set) var count = 0

    private struct ObjectPlace: Hashable {
        let root: Int
        let object: ObjectID
    }

    /// Adds the rows of a preview that update an object, or that follow such a row of the same
    /// object.
    ///
    /// - Parameters:
    ///   - match: Returns the match of a row.
    ///   - index: Returns the index in the payload of a row's element.
    ///   - report: Receives the slot and the row of each value that differs from an earlier one.
    /// - Returns: False if an object is already held as one of another entity.
    mutating func add(
        _ records: RecordBatch, _ result: MergeRequest.Result, _ layout: EntityLayout,
        match: (Int) -> MergeRequest.Match, index: (Int) -> Int, _ report: (_ slot: Int, _ row: Int) -> Void
    ) -> Bool {
        var place: Int?
        for (row, merged) in result.rows.enumerated() {
            guard let merged, merged.change != .inserted else { continue }
            let objectPlace = ObjectPlace(root: layout.root, object: merged.object)
            let known = places[objectPlace]
            guard merged.change == .updated || known != nil else { continue }
            let own = place ?? rows.firstIndex { $0.layout.index == layout.index } ?? appendRows(of: layout)
            place = own
            if let known {
                guard known.rows == own else { return false }
                compare(records, row, with: known, report)
            }
            rows[own].records.append(row: row, of: records)
            rows[own].matches.append(match(row))
            rows[own].objects.append(merged.object)
            rows[own].elementIndices.append(index(row))
            places[objectPlace, default: (own, [])].records.append(rows[own].objects.count - 1)
            count += 1
        }
        return true
    }

    private mutating func appendRows(of layout: EntityLayout) -> Int {
        rows.append(Rows(layout: layout, records: RecordBatch(of: layout)))
        return rows.count - 1
    }

    private func compare(
        _ records: RecordBatch, _ row: Int, with known: (rows: Int, records: [Int]), _ report: (Int, Int) -> Void
    ) {
        records.withReader { reader in
            rows[known.rows].records.withReader { earlier in
                for slot in 0..<reader.columnCount where reader.kind(row: row, slot: slot) != .absent {
                    let last = known.records.last { earlier.kind(row: $0, slot: slot) != .absent }
                    if let last, !reader.isEqual(row: row, slot: slot, to: earlier, row: last, slot: slot) {
                        report(slot, row)
                    }
                }
            }
        }
    }

    /// The updates of an entity with the rows of each object combined. The last value of a slot
    /// counts.
    ///
    /// - Returns: The request, and the index in the payload of the last element of each row.
    static func combined(_ rows: Rows) -> (request: MergeRequest, elementIndices: [Int]) {
        var indices: [ObjectID: [Int]] = [:]
        for (index, object) in rows.objects.enumerated() { indices[object, default: []].append(index) }
        var records = RecordBatch(of: rows.layout)
        var matches: [MergeRequest.Match] = []
        var elementIndices: [Int] = []
        for (index, object) in rows.objects.enumerated() {
            guard let all = indices[object], all[0] == index else { continue }
            records.append(combining: all, of: rows.records)
            matches.append(rows.matches[index])
            elementIndices.append(rows.elementIndices[all.last ?? index])
        }
        return (MergeRequest(records, matches: matches, policy: MergeRequest.Policy(inserts: false)), elementIndices)
    }
}

extension SyncPass {
    /// Holds the updates that a preview found, and reports contradictions.
    ///
    /// - Parameters:
    ///   - request: The previewed request.
    ///   - index: Returns the index in the payload of a row's element.
    /// - Returns: The result with held updates as unchanged.
    func hold(
        _ request: MergeRequest, _ result: MergeRequest.Result, _ layout: EntityLayout, index: (Int) -> Int
    ) async throws -> MergeRequest.Result {
        for (row, merged) in result.rows.enumerated() {
            guard let merged, merged.change == .updated, !heldRows.contains(merged.object, of: layout),
                tally.isSeen(merged.object, of: layout)
            else { continue }
            let kind = tally.kindOfConflict(merged.object, of: layout)
            tally.drift.add(kind, entity: layout.name, keyPath: "", index: index(row))
        }
        let keys = try mapper.mapping(of: layout.name).keys
        let isHeld = heldRows.add(request.records, result, layout) {
            request.matches?[$0] ?? .identity
        } index: {
            index($0)
        } _: {
            let kind = result.rows[$1].map { tally.kindOfConflict($0.object, of: layout) } ?? .conflict
            tally.drift.add(
                kind, entity: layout.name, keyPath: keys.attributes[$0].path()?.joined(separator: ".") ?? "",
                index: index($1))
        }
        var held = result
        for (row, merged) in result.rows.enumerated() where merged?.change == .updated {
            held.rows[row]?.change = .unchanged
        }
        guard isHeld else {
            try await writeHeld()
            // Rows that could not be held are written after the held ones.
            var again = request
            again.policy = MergeRequest.Policy(inserts: false)
            held.rows = try await merge(again, elementIndex: index).rows
            for (row, merged) in result.rows.enumerated() where merged?.change == .inserted { held.rows[row] = merged }
            return held
        }
        if heldRows.count > HeldRows.limit || result.rows.contains(where: { $0?.change == .inserted }) {
            try await writeHeld()
        }
        return held
    }

    /// Writes the held updates and links. The pass holds nothing from then on.
    func writeHeld() async throws {
        guard isHolding else { return }
        isHolding = false
        for rows in heldRows.rows {
            let (request, elementIndices) = HeldRows.combined(rows)
            let result = try await merge(request) { elementIndices[$0] }
            _ = tally.count(result, of: rows.layout)
        }
        heldRows = HeldRows()
        try await writeHeldLinks()
    }
}

extension HeldRows {
    /// Whether an update of an object is held.
    func contains(_ object: ObjectID, of layout: EntityLayout) -> Bool {
        !places.isEmpty && places[ObjectPlace(root: layout.root, object: object)] != nil
    }
}
