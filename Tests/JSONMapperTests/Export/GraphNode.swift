import JSONMapper
import SyncModel

/// An object in memory whose values and targets a test sets by name.
final class GraphNode: ExportableObject {
    struct Unreachable: Error {}

    let layout: EntityLayout
    private var values: [AttributeValue]
    private var targets: [String: [GraphNode]] = [:]
    /// The relationships that nobody knows.
    var unknown: Set<String> = []
    var fails = false

    init(_ layout: EntityLayout, _ values: [String: AttributeValue] = [:]) {
        self.layout = layout
        self.values = layout.attributes.map { values[$0.name] ?? .null }
    }

    var exportID: ObjectIdentifier { ObjectIdentifier(self) }

    func value(at column: Int) -> AttributeValue { values[column] }

    func related(by relationship: EntityLayout.Relationship) throws -> [GraphNode]? {
        if fails { throw Unreachable() }
        return unknown.contains(relationship.name) ? nil : targets[relationship.name] ?? []
    }

    subscript(name: String) -> [GraphNode] {
        get { targets[name] ?? [] }
        set { targets[name] = newValue }
    }
}

extension RecordMapper.Exporter {
    func text(of node: GraphNode) throws -> String {
        String(decoding: try bytes(of: node), as: UTF8.self)
    }
}
