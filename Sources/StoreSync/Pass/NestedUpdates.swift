import JSONMapper
import SyncModel
import SyncStore

/// Updates by nested objects to objects of entities that the payload's list has.
///
/// They wait for the end of the pass, because an object of the list takes precedence over a nested
/// one. Memory grows with the number of such nested objects.
struct NestedUpdates {
    /// The updates of the objects of one entity, in the order of the payload.
    struct Updates {
        let layout: EntityLayout
        var records: RecordBatch
        /// The object of each record.
        var objects: [ObjectID] = []
        /// The index of the element of the payload's list that contains each record.
        var elementIndices: [Int] = []
    }

    /// The updates by entity, in the order in which the pass met the entities.
    private(set) var updates: [Updates] = []

    /// Holds the records that a merge without updates matched with stored objects.
    mutating func add(
        _ records: RecordBatch, _ result: MergeRequest.Result, _ layout: EntityLayout, _ elementIndex: (Int) -> Int
    ) {
        let index =
            updates.firstIndex { $0.layout.index == layout.index }
            ?? {
                updates.append(Updates(layout: layout, records: RecordBatch(of: layout)))
                return updates.count - 1
            }()
        for (row, merged) in result.rows.enumerated() {
            guard let merged, merged.change == .unchanged else { continue }
            updates[index].records.append(row: row, of: records)
            updates[index].objects.append(merged.object)
            updates[index].elementIndices.append(elementIndex(row))
        }
    }
}

extension SyncPass {
    /// Applies the values of nested objects that the list does not have, and reports those that
    /// differ from the list.
    func applyNestedUpdates() async throws {
        for updates in nestedUpdates.updates {
            var rowsOfObjects: [ObjectID: [Int]] = [:]
            var order: [ObjectID] = []
            for (row, object) in updates.objects.enumerated() {
                if rowsOfObjects[object] == nil { order.append(object) }
                rowsOfObjects[object, default: []].append(row)
            }
            var records = RecordBatch(of: updates.layout)
            var applied: [ObjectID] = []
            for object in order {
                let rows = rowsOfObjects[object] ?? []
                if !listed.contains(object) {
                    records.append(combining: rows, of: updates.records)
                } else if !appendLacking(object, rows, of: updates, to: &records) {
                    continue
                }
                applied.append(object)
            }
            if !applied.isEmpty {
                let result = try await merge(MergeRequest(records, matches: applied.map { .object($0) })) {
                    (rowsOfObjects[applied[$0]] ?? []).last.map { updates.elementIndices[$0] } ?? 0
                }
                _ = tally.count(result, of: updates.layout)
            }
            try await compare(updates, order.filter { listed.contains($0) }, rowsOfObjects)
        }
        nestedUpdates = NestedUpdates()
    }

    /// Appends the values that the list lacks for one of its objects.
    ///
    /// - Returns: Whether there are any.
    private func appendLacking(
        _ object: ObjectID, _ rows: [Int], of updates: NestedUpdates.Updates, to records: inout RecordBatch
    ) -> Bool {
        guard !lacking.isEmpty else { return false }
        let values = (0..<records.columnCount).compactMap { slot -> (slot: Int, value: AttributeValue)? in
            let place = AttributePlace(entity: updates.layout.index, slot: slot)
            guard lacking[place]?.contains(object) == true else { return nil }
            return rows.lazy.reversed().compactMap { updates.records.value(row: $0, slot: slot) }.first.map {
                (slot, $0)
            }
        }
        guard !values.isEmpty else { return false }
        records.beginRecord()
        for (slot, value) in values { records.setValue(value, at: slot) }
        records.endRecord()
        return true
    }

    /// Reports values of nested objects that differ from the objects of the list.
    private func compare(
        _ updates: NestedUpdates.Updates, _ objects: [ObjectID], _ rowsOfObjects: [ObjectID: [Int]]
    ) async throws {
        guard !objects.isEmpty else { return }
        let keys = try mapper.mapping(of: updates.layout.name).keys
        let query = StoreQuery(updates.layout.name, objects: .only(objects))
        try await transaction.fetch(query, batchRowCount: 1000) { stored in
            updates.records.withReader { reader in
                for object in stored {
                    for row in rowsOfObjects[object.object] ?? [] {
                        for slot in 0..<reader.columnCount {
                            guard let value = reader.value(row: row, slot: slot), value != object.record[slot: slot]
                            else { continue }
                            tally.drift.add(
                                .conflict, entity: updates.layout.name,
                                keyPath: keys.attributes[slot].path()?.joined(separator: ".") ?? "",
                                index: updates.elementIndices[row])
                        }
                    }
                }
            }
        }
    }
}
