import JSONMapper
import SyncModel
import SyncStore

/// What nested objects state about objects of the entities that the payload's list has.
///
/// It waits until the whole list has been read, because an object of the list takes precedence over
/// a nested one. If more waits than ``SyncRules/waitingLimit``, it is applied at once, so that
/// memory is bounded: what the list states later replaces it.
struct NestedStatements {
    /// The values of the objects of one entity, in the order of the payload.
    struct Values {
        let layout: EntityLayout
        var records: RecordBatch
        /// The object of each record.
        var objects: [ObjectID] = []
        /// The index of the element of the payload's list that contains each record.
        var elementIndices: [Int] = []
    }

    /// The values of one relationship of a group's objects.
    struct Links {
        let group: MappedBatch.Group
        let result: MergeRequest.Result
        let origin: SyncPass.Origin
        /// The index of the relationship.
        let index: Int
        /// The value of `relatings` before the group was merged.
        let relatingsBefore: [EntityLayout.Relationship: Int]
    }

    /// The values by entity, in the order in which the pass met the entities.
    fileprivate var values: [Values] = []
    /// The relationships, in the order in which the pass met them.
    fileprivate var links: [Links] = []
    /// The number of records that wait.
    private(set) var count = 0

    /// Adds the records that a merge without updates matched with stored objects.
    mutating func add(
        _ records: RecordBatch, _ result: MergeRequest.Result, _ layout: EntityLayout, _ elementIndex: (Int) -> Int
    ) {
        let index =
            values.firstIndex { $0.layout.index == layout.index }
            ?? {
                values.append(Values(layout: layout, records: RecordBatch(of: layout)))
                return values.count - 1
            }()
        for (row, merged) in result.rows.enumerated() {
            guard let merged, merged.change == .unchanged else { continue }
            values[index].records.append(row: row, of: records)
            values[index].objects.append(merged.object)
            values[index].elementIndices.append(elementIndex(row))
            count += 1
        }
    }

    mutating func add(_ statement: Links) {
        links.append(statement)
        count += statement.group.records.count
    }
}

extension SyncPass {
    /// Ends a reading of the list. Moves what the list has moved, and applies what waits.
    func endReading() async throws {
        try await linkMoved()
        try await applyNested()
    }

    /// Applies what nested objects state about the list's entities and the list does not.
    func applyNested() async throws {
        isListRead = true
        defer { isListRead = false }
        repeat {
            let waiting = nested
            nested = NestedStatements()
            for values in waiting.values { try await apply(values) }
            for links in waiting.links {
                try await relate(
                    links.group, links.result, links.origin, by: links.index, since: links.relatingsBefore)
            }
        } while !nested.values.isEmpty || !nested.links.isEmpty
    }

    /// Applies the values that neither the list nor an earlier nested object has stated, and
    /// reports those that differ.
    private func apply(_ values: NestedStatements.Values) async throws {
        var records = RecordBatch(of: values.layout)
        var rowsOfObjects: [ObjectID: [Int]] = [:]
        var order: [ObjectID] = []
        var restated: [(row: Int, object: ObjectID)] = []
        // The objects are known, and keep their identities.
        let keySlots = values.layout.identitySlots + values.layout.scopedIdentitySlots
        for (row, object) in values.objects.enumerated() {
            var single = RecordBatch(of: values.layout)
            single.append(row: row, of: values.records)
            let rest = statements.rest(of: single, [object], of: values.layout)
            statements.insert(single, [object], of: values.layout)
            if rest?.restated.isEmpty == false { restated.append((row, object)) }
            guard rest?.complete.isEmpty != false else { continue }
            if rowsOfObjects[object] == nil { order.append(object) }
            rowsOfObjects[object, default: []].append(records.count)
            records.append(row: 0, of: rest?.records ?? single) { !keySlots.contains($0) }
        }
        if !order.isEmpty {
            var combined = RecordBatch(of: values.layout)
            for object in order { combined.append(combining: rowsOfObjects[object] ?? [], of: records) }
            let request = MergeRequest(
                combined, matches: order.map { .object($0) }, policy: MergeRequest.Policy(inserts: false))
            let result = try await merge(request) { row in
                values.objects.firstIndex(of: order[row]).map { values.elementIndices[$0] } ?? 0
            }
            _ = tally.count(result, of: values.layout)
        }
        try await reportDifferences(of: values.records, restated, values.layout) { values.elementIndices[$0] }
    }

    /// Reports the values of rows that differ from those of stored objects.
    ///
    /// - Parameters:
    ///   - rows: The rows to compare, each with its object.
    ///   - elementIndex: Returns the index in the payload of a row's element.
    func reportDifferences(
        of records: RecordBatch, _ rows: [(row: Int, object: ObjectID)], _ layout: EntityLayout,
        elementIndex: (Int) -> Int
    ) async throws {
        guard !rows.isEmpty else { return }
        let keys = try mapper.mapping(of: layout.name).keys
        let rowsOfObjects = Dictionary(grouping: rows, by: \.object)
        let query = StoreQuery(layout.name, objects: .only(rowsOfObjects.keys.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { stored in
            records.withReader { reader in
                for object in stored {
                    for (row, _) in rowsOfObjects[object.object] ?? [] {
                        for slot in 0..<reader.columnCount {
                            guard let value = reader.value(row: row, slot: slot), value != object.record[slot: slot]
                            else { continue }
                            tally.drift.add(
                                tally.kindOfConflict(object.object, of: layout), entity: layout.name,
                                keyPath: keys.attributes[slot].path()?.joined(separator: ".") ?? "",
                                index: elementIndex(row))
                        }
                    }
                }
            }
        }
    }
}
