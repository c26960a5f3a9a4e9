import JSONMapper
import SyncModel
import SyncStore

/// What nested objects state about objects of the entities that the payload's list has.
///
/// It waits until the whole list has been read, because an object of the list takes precedence over
/// a nested one. If more waits than ``SyncRules/waitingLimit``, it is applied at once, so that
/// memory is bounded: what the list states later replaces it.
struct NestedStatements {
    /// The values of stored objects, each once.
    struct Values {
        let layout: EntityLayout
        var records: RecordBatch
        /// The object of each record.
        var objects: [ObjectID] = []
        /// The objects that are of this entity, as the payload states, and of no sub-entity.
        var stated = ObjectSet()
        /// The objects that the records inserted, so that all of their values have been applied.
        var inserted = ObjectSet()
        /// The index of the element of the payload's list that contains each record.
        var elementIndices: [Int] = []
    }

    /// The values, in the order in which the pass met them.
    private(set) var values: [Values] = []
    /// The relationships, in the order in which the pass met them.
    private(set) var links: [GroupLinks] = []
    /// The number of records that wait.
    private(set) var count = 0
    /// Whether the list has been read, so that nothing waits any more.
    var isListRead = false
    /// Whether a part can no longer be compared with the list.
    var isIncomplete = false
    /// The number of records that wait because they inserted their object.
    private var insertedCount = 0
    private static let insertedLimit = 1 << 16
    /// The nested objects that the list has changed.
    var changedByList = ObjectSet()

    var isEmpty: Bool { values.isEmpty && links.isEmpty }

    /// Adds the records of a merge without updates: those that it matched with stored objects, and
    /// those that it inserted, which the list may change.
    mutating func add(_ merge: GroupMerge) {
        var waiting = Values(layout: merge.layout, records: RecordBatch(of: merge.layout))
        let stated = merge.statedRecords
        for (record, merged) in merge.awaited.rows.enumerated() {
            guard let merged, merged.change != .updated else { continue }
            if merged.change == .inserted {
                isIncomplete = isIncomplete || insertedCount == Self.insertedLimit
                guard !isIncomplete else { continue }
                insertedCount += 1
                waiting.inserted.insert(merged.object)
            }
            waiting.records.append(row: record, of: merge.records)
            waiting.objects.append(merged.object)
            if stated.contains(record) { waiting.stated.insert(merged.object) }
            waiting.elementIndices.append(merge.elementIndex(record))
        }
        guard !waiting.objects.isEmpty else { return }
        values.append(waiting)
        count += waiting.objects.count - waiting.inserted.count
    }

    /// Adds what is stated about a relationship.
    mutating func add(_ statement: GroupLinks) {
        links.append(statement)
        count += statement.group.records.count
    }

    /// Begins another reading of the list, or another change, before which nothing waits.
    mutating func beginAnew() {
        (insertedCount, isIncomplete, changedByList) = (0, false, ObjectSet())
    }

    /// Takes what waits.
    mutating func take() -> NestedStatements {
        defer { (values, links, count) = ([], [], 0) }
        return self
    }
}

extension NestedStatements.Values {
    /// The values without those that have been applied and that the list has not changed since; nil
    /// if there are no others.
    fileprivate func remaining(changedByList: ObjectSet) -> Self? {
        inserted.isEmpty ? self : restricted { !inserted.contains($0) || changedByList.contains($0) }
    }

    /// The values of only some objects; nil if there are none.
    fileprivate func restricted(_ isKept: (ObjectID) -> Bool) -> Self? {
        var rest = Self(layout: layout, records: RecordBatch(of: layout), stated: stated)
        for (row, object) in objects.enumerated() where isKept(object) {
            rest.records.append(row: row, of: records)
            rest.objects.append(object)
            rest.elementIndices.append(elementIndices[row])
        }
        return rest.objects.isEmpty ? nil : rest
    }
}

extension GroupLinks {
    /// The links without those of some objects.
    fileprivate func without(_ objects: ObjectSet?) -> Self {
        guard let objects else { return self }
        var rest = self
        for case (let row, let merged?) in result.rows.enumerated() where objects.contains(merged.object) {
            rest.result.rows[row] = nil
        }
        return rest
    }
}

extension StorePass {
    /// Ends a reading of the list. Moves what the list has moved, links what its identifiers name,
    /// and applies what waits.
    func endReading() async throws {
        try await linkMoved()
        if !state.nested.isEmpty, !state.deferred.isEmpty { _ = try await resolve(state.deferred) }
        try await applyNested()
    }

    /// Applies what nested objects state about the list's entities and the list does not.
    func applyNested() async throws {
        state.nested.isListRead = true
        defer { state.nested.isListRead = false }
        while !state.nested.isEmpty {
            let waiting = state.nested.take()
            // The objects that stay of another entity, by the index of the stated one.
            var others: [Int: ObjectSet] = [:]
            for values in waiting.values.compactMap({ $0.remaining(changedByList: waiting.changedByList) }) {
                let outcome = try await changeEntities(values)
                others[values.layout.index, default: ObjectSet()].formUnion(outcome.others.objects)
                let rest = outcome.others.isEmpty ? values : values.restricted { !outcome.others.contains($0) }
                guard let values = rest else { continue }
                let request = MergeRequest(
                    values.records, matches: values.objects.map { .object($0) }, policy: .init(inserts: false))
                var result = try await mergeRest(of: request, KnownObjects(values.objects), values.layout) {
                    values.elementIndices[$0]
                }
                result.noteUpdates(of: values.objects.indices.filter { outcome.changed.contains(values.objects[$0]) })
                _ = state.counts.count(result, of: values.layout)
            }
            for links in waiting.links { try await relate(links.without(others[links.layout.index])) }
        }
    }

    /// Gives stored objects the entity that waiting values state for them, unless the payload has
    /// stated another one.
    private func changeEntities(
        _ values: NestedStatements.Values
    ) async throws -> (changed: ObjectSet, others: ObjectSet) {
        var rows: [ObjectID: Int] = [:]
        for (row, object) in values.objects.enumerated() where values.stated.contains(object) {
            rows[object] = rows[object] ?? row
        }
        let outcome = try await changeEntity(of: rows.keys.sorted(), to: values.layout, keepsStated: true) {
            rows[$0].map { values.elementIndices[$0] } ?? 0
        }
        state.statements.insertEntity(of: rows.keys, values.layout, in: model)
        return outcome
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
        let mapping = try mapper.mapping(of: layout.name)
        let rowsOfObjects = Dictionary(rows.map { ($0.object, $0.row) }) { first, _ in first }
        let query = StoreQuery(layout.name, objects: .only(rowsOfObjects.keys.sorted()))
        try await transaction.fetch(query, batchRowCount: 1000) { stored in
            for object in stored {
                guard let row = rowsOfObjects[object.object] else { continue }
                for column in 0..<records.columnCount {
                    guard let value = records.value(row: row, column: column), value != object.record[column: column]
                    else { continue }
                    state.problems.drift.add(
                        state.counts.kindOfConflict(object.object, of: layout), entity: layout.name,
                        keyPath: mapping.keyPath(of: column), index: elementIndex(row))
                }
            }
        }
    }
}
