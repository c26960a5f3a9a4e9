import JSONMapper
import SyncModel
import SyncStore

/// The objects of an export, with everything that they lead to.
///
/// The graph is loaded level by level. For each relationship, one call reads the links of all
/// objects of a level, and one call reads the targets. The graph does not follow the inverse of the
/// relationship by which it reached an object, because an export does not either.
final class ExportGraph {
    private let reader: any StoreReader
    fileprivate let mapper: RecordMapper
    private let follows: Bool
    fileprivate var records: [ObjectReference: Record] = [:]
    /// The targets by relationship and source.
    fileprivate var links: [EntityLayout.Relationship: [Int64: [Int64]]] = [:]
    private let exported: [[EntityLayout.Relationship]]

    /// Creates an empty graph.
    ///
    /// - Parameter follows: Whether relationships are exported.
    init(_ reader: any StoreReader, mapper: RecordMapper, follows: Bool) {
        self.reader = reader
        self.mapper = mapper
        self.follows = follows
        exported = mapper.model.layouts.map { layout in
            EntityKeys(layout, in: mapper.model, dialect: mapper.dialect).relationships
                .filter(\.isExportable).map(\.relationship)
        }
    }

    /// Loads objects, and everything that they lead to.
    ///
    /// - Returns: The objects in the same order, ready for an exporter.
    func load(_ stored: [StoredRecord]) async throws -> [ExportObject] {
        let roots = stored.map { ObjectReference($0.object, of: $0.record.layout) }
        for (node, stored) in zip(roots, stored) { records[node] = stored.record }
        var level = follows ? wanted(roots, arrivingBy: nil) : [:]
        while !level.isEmpty {
            try Task.checkCancellation()
            var next: [EntityLayout.Relationship: Set<Int64>] = [:]
            for (relationship, sources) in level.sorted(by: {
                ($0.key.source, $0.key.index) < ($1.key.source, $1.key.index)
            }) {
                let targets = try await follow(relationship, from: sources.sorted())
                next.merge(wanted(targets, arrivingBy: relationship)) { $0.union($1) }
            }
            level = next
        }
        return roots.map { ExportObject(graph: self, node: $0) }
    }

    /// The relationships to follow from objects that another relationship led to.
    private func wanted(
        _ nodes: [ObjectReference], arrivingBy arrival: EntityLayout.Relationship?
    ) -> [EntityLayout.Relationship: Set<Int64>] {
        let back = arrival.flatMap { mapper.model.inverse(of: $0) }
        var wanted: [EntityLayout.Relationship: Set<Int64>] = [:]
        for node in nodes {
            guard let record = records[node] else { continue }
            for relationship in exported[record.layout.index] where relationship != back {
                if links[relationship]?[node.object] == nil { wanted[relationship, default: []].insert(node.object) }
            }
        }
        return wanted
    }

    private func follow(_ relationship: EntityLayout.Relationship, from sources: [Int64]) async throws
        -> [ObjectReference]
    {
        let destination = mapper.model.layouts[relationship.destination]
        for source in sources { links[relationship, default: [:]][source] = [] }
        let found = try await reader.links(relationship, of: sources)
        for link in found { links[relationship]?[link.source]?.append(link.target) }
        let nodes = Set(found.map(\.target)).sorted().map { ObjectReference($0, of: destination) }
        let missing = nodes.filter { records[$0] == nil }.map(\.object)
        if !missing.isEmpty {
            let query = StoreQuery(destination.name, objects: .only(missing))
            try await reader.fetch(query, batchRowCount: 1000) { batch in
                for stored in batch { records[ObjectReference(stored.object, of: destination)] = stored.record }
            }
        }
        return nodes
    }
}

/// An object of a graph, as an exporter reads it.
struct ExportObject: ExportableObject {
    let graph: ExportGraph
    let node: ObjectReference

    var exportID: ObjectReference { node }

    var layout: EntityLayout { record.layout }

    func value(at column: Int) -> AttributeValue { record[column: column] }

    func related(by relationship: EntityLayout.Relationship) -> [ExportObject]? {
        guard let rows = graph.links[relationship]?[node.object] else { return nil }
        let destination = graph.mapper.model.layouts[relationship.destination]
        return rows.compactMap { row in
            let target = ObjectReference(row, of: destination)
            return graph.records[target].map { _ in ExportObject(graph: graph, node: target) }
        }
    }

    private var record: Record {
        // An export object exists only for a loaded node.
        guard let record = graph.records[node] else { preconditionFailure("an object that was not loaded") }
        return record
    }
}
