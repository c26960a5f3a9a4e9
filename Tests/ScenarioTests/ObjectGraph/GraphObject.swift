import JSONMapper
import SyncModel

/// An object of a graph in memory, with its values and the objects it is related to.
final class GraphObject {
    let layout: EntityLayout
    var values: [Value]
    /// By the relationships' indices.
    private(set) var related: [[GraphObject]]

    /// Makes an object that holds the attributes' defaults and is related to nothing.
    init(of layout: EntityLayout) {
        self.layout = layout
        values = layout.attributes.map(\.defaultValue)
        related = layout.relationships.map { _ in [] }
    }

    /// Relates it to another object, and that to it, where there is an inverse; what a to-one end led to is let go.
    func relate(_ relationship: RelationshipLayout, to other: GraphObject) {
        link(relationship, to: other)
        if let inverse = relationship.inverse {
            other.link(other.layout.relationships[inverse], to: self)
        }
    }

    private func link(_ relationship: RelationshipLayout, to other: GraphObject) {
        let index = relationship.index
        if !relationship.isToMany, let former = related[index].first, former !== other {
            if let inverse = relationship.inverse { former.related[inverse].removeAll { $0 === self } }
            related[index] = []
        }
        if !related[index].contains(where: { $0 === other }) { related[index].append(other) }
    }
}

extension GraphObject: ExportableObject {
    var exportID: ObjectIdentifier { ObjectIdentifier(self) }

    func value(at slot: Int) -> Value { values[slot] }

    func related(by relationship: RelationshipLayout) -> [GraphObject]? { related[relationship.index] }
}

extension GraphObject: PredicateSubject {
    func value(at key: BoundKey) -> Value {
        var object = self
        for step in key.steps {
            guard let next = object.related[step.index].first else { return .null }
            object = next
        }
        switch key.leaf {
        case .attribute(let slot, _): return object.values[slot]
        case .target(let relationship): return object.related[relationship].isEmpty ? .null : .bool(true)
        case .count(let relationship): return .int(Int64(object.related[relationship].count))
        }
    }
}
