import SyncModel

/// The objects of a query with the values that a selection needs.
///
/// Used for readers that do not compute selections themselves.
struct ObjectGraph {
    /// The values by path and object.
    private var values: [PropertyPath.Bound: [ObjectID: AttributeValue]] = [:]

    private struct Subject: SelectionSubject {
        let objectID: ObjectID
        let graph: ObjectGraph

        func value(at key: PropertyPath.Bound) -> AttributeValue {
            graph.values[key]?[objectID] ?? .null
        }

        func target(at key: PropertyPath.Bound) -> ObjectID? {
            if case .int(let target) = value(at: key) { target } else { nil }
        }

        // The reader has already applied the predicate.
        func countRelated(at key: PropertyPath.Bound, where predicate: RecordPredicate.Bound) -> (
            selected: Int, total: Int
        ) {
            (0, 0)
        }
    }

    /// Reads the rows of a selection.
    static func select(
        _ selection: StoreSelection, from reader: some StoreReader, batchRowCount: Int,
        _ body: (RecordBatch) async throws -> Void
    ) async throws {
        let bound = try BoundSelection(selection, in: reader.model)
        var query = selection.query
        // The rows are limited and ordered after they are computed.
        query.limit = nil
        query.offset = 0
        var graph = ObjectGraph()
        var objects: [ObjectID] = []
        let keys = bound.keys
        try await reader.fetch(query, batchRowCount: batchRowCount) { records in
            objects += records.map(\.object)
            try await graph.read(keys, of: records, from: reader)
        }
        let subjects = objects.map { Subject(objectID: $0, graph: graph) }
        let rows = try SelectionRows(selection: bound).rows(of: subjects)
        try await RecordBatch.send(
            rows, columnCount: bound.columns.count, batchRowCount: batchRowCount, body)
    }

    private mutating func read(
        _ keys: Set<PropertyPath.Bound>, of records: [StoredRecord], from reader: some StoreReader
    ) async throws {
        for key in keys {
            // The objects at the end of the steps, by the object that they start from.
            var places: [ObjectID: StoredRecord] = [:]
            for stored in records { places[stored.object] = stored }
            for step in key.steps {
                let links = try await reader.links(step, of: Array(Set(places.values.map(\.object))))
                let next = Dictionary(links.map { ($0.source, $0.target) }) { first, _ in first }
                let entity = reader.model.layouts[step.destination].name
                var targets: [ObjectID: StoredRecord] = [:]
                for stored in try await reader.records(StoreQuery(entity, objects: .only(Array(Set(next.values))))) {
                    targets[stored.object] = stored
                }
                places = places.compactMapValues { next[$0.object].flatMap { targets[$0] } }
            }
            var found = values[key] ?? [:]
            switch key.leaf {
            case .attribute(let column, _):
                for (object, place) in places { found[object] = place.record[column: column] }
            case .target(let index), .count(let index):
                let relationship = reader.model.layouts[key.entity].relationships[index]
                let links = try await reader.links(relationship, of: Array(Set(places.values.map(\.object))))
                let targets = Dictionary(grouping: links, by: \.source)
                for (object, place) in places {
                    let related = targets[place.object] ?? []
                    if case .count = key.leaf {
                        found[object] = .int(Int64(related.count))
                    } else {
                        found[object] = related.first.map { .int($0.target) } ?? .null
                    }
                }
            }
            values[key] = found
        }
    }
}

extension BoundSelection {
    /// The paths that the rows and their order depend on.
    fileprivate var keys: Set<PropertyPath.Bound> {
        var keys = Set(ordering.map(\.key))
        for column in columns {
            switch column {
            case .value(let key), .target(let key), .aggregate(_, let key): keys.insert(key)
            case .object, .count: break
            }
        }
        return keys
    }
}
