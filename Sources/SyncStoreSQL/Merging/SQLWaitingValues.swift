package import SyncModel
package import SyncStore

/// The values of unique columns that objects wait for, because other objects had them.
///
/// The rows of these objects have null or a placeholder in the meantime.
package struct SQLWaitingValues: Sendable {
    /// The objects of one entity, in the order in which they began to wait.
    private struct Waiting {
        var objects: [ObjectID] = []
        var values: [ObjectID: [Int: AttributeValue]] = [:]
    }

    private var entities: [Int: Waiting] = [:]

    package init() {}

    package var isEmpty: Bool { entities.isEmpty }

    /// Adds the values of a row in the given columns.
    ///
    /// - Parameter isNew: Whether the object was inserted, so that absent cells are its defaults.
    package mutating func add(
        _ reader: RecordBatch.Reader, row: Int, of object: ObjectID, columns: some Sequence<Int>,
        _ layout: EntityLayout,
        isNew: Bool
    ) {
        add(object, layout) { waiting in
            for column in columns {
                waiting[column] =
                    reader.value(row: row, column: column) ?? (isNew ? layout.attributes[column].defaultValue : nil)
                    ?? waiting[column]
            }
        }
    }

    /// Adds the values of objects that change their entity, and drops those that they lose.
    package mutating func change(_ objects: [StoredRecord], by change: SQLEntityChange) {
        for stored in objects {
            var values: [Int: AttributeValue] = [:]
            for entity in entities.keys {
                guard let former = entities[entity]?.values.removeValue(forKey: stored.object) else { continue }
                entities[entity]?.objects.removeAll { $0 == stored.object }
                values.merge(former.filter { change.commonColumns.contains($0.key) }) { $1 }
            }
            for column in change.waitingColumns where values[column] == nil {
                let value = change.value(at: column, of: stored.record)
                if !value.isNull { values[column] = value }
            }
            add(stored.object, change.layout) { $0 = values }
        }
    }

    private mutating func add(
        _ object: ObjectID, _ layout: EntityLayout, _ body: (inout [Int: AttributeValue]) -> Void
    ) {
        // Taken out during the change: a second reference would copy all of it.
        var waiting = entities.removeValue(forKey: layout.index) ?? Waiting()
        let isKnown = waiting.values[object] != nil
        body(&waiting.values[object, default: [:]])
        if waiting.values[object]?.isEmpty == true {
            waiting.values[object] = nil
        } else if !isKnown {
            waiting.objects.append(object)
        }
        if !waiting.objects.isEmpty { entities[layout.index] = waiting }
    }

    /// Whether an object waits for a value in a column. Its column has another one in the meantime.
    package func contains(_ object: ObjectID, column: Int, _ layout: EntityLayout) -> Bool {
        !isEmpty && layout.family.contains { entities[$0]?.values[object]?[column] != nil }
    }

    /// The objects of an entity that wait, and the columns of their values.
    package func objects(of layout: EntityLayout) -> (objects: [ObjectID], columns: Set<Int>) {
        let waiting = layout.family.compactMap { entities[$0] }
        let columns = waiting.flatMap { $0.values.values.flatMap(\.keys) }
        return (waiting.flatMap(\.objects), Set(columns))
    }

    /// Replaces values by those that later rows of the same objects have.
    ///
    /// - Parameter rows: The rows, compared without these values. Rows that differ become updated.
    package mutating func restate(
        _ reader: RecordBatch.Reader, _ rows: inout [MergeRequest.Result.Row?], _ layout: EntityLayout
    ) {
        for entity in layout.family where entities[entity] != nil {
            for row in rows.indices {
                guard let object = rows[row]?.object, let waiting = entities[entity]?.values[object] else { continue }
                for (column, former) in waiting where column < reader.columnCount {
                    guard let value = reader.value(row: row, column: column), value != former else { continue }
                    entities[entity]?.values[object]?[column] = value
                    if rows[row]?.change == .unchanged { rows[row]?.change = .updated }
                }
            }
        }
    }

    /// Takes the values out as requests to update the objects, each of at most a number of rows.
    package mutating func takeRequests(in model: DataModel, rowCount: Int) -> [MergeRequest] {
        defer { entities = [:] }
        var requests: [MergeRequest] = []
        for (entity, waiting) in entities.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: waiting.objects.count, by: max(rowCount, 1)) {
                let objects = waiting.objects[start..<min(start + max(rowCount, 1), waiting.objects.count)]
                var records = RecordBatch(of: model.layouts[entity])
                for object in objects {
                    records.beginRecord()
                    for (column, value) in waiting.values[object] ?? [:] { records.setValue(value, at: column) }
                    records.endRecord()
                }
                var request = MergeRequest(
                    records, matches: objects.map { .object($0) }, policy: MergeRequest.Policy(inserts: false))
                request.setsRefusedAside = true
                requests.append(request)
            }
        }
        return requests
    }
}
