import JSONMapper
import SyncModel

/// The places of a sample whose objects belong to entities of an earlier model.
struct KnownPlaces {
    /// The number of entities that the objects of the earlier model lead to.
    private(set) var entityCount = 0
    /// The sample's objects of each entity of the earlier model.
    private var places: [Int: ShapeNode] = [:]
    private var keys: [Int: EntityKeys] = [:]

    /// Creates an empty set of places, for a sample without an earlier model.
    init() {}

    /// Finds the places, and unites places whose objects belong to the same entity.
    ///
    /// - Parameters:
    ///   - root: The elements.
    ///   - layout: Their entity in the earlier model.
    ///   - model: The earlier model.
    init(below root: ShapeNode, of layout: EntityLayout, in model: DataModel) {
        addKeys(of: layout, in: model)
        entityCount = keys.count
        places[layout.index] = root
        var waiting = [layout.index]
        var next = 0
        while next < waiting.count {
            let entity = waiting[next]
            next += 1
            guard let node = places[entity]?.resolved, let keys = keys[entity] else { continue }
            for keys in keys.relationships {
                let relationship = keys.relationship
                guard let property = keys.key.flatMap({ node.property($0) }),
                    let child = (relationship.isToMany ? property.element : property.object)?.resolved
                else { continue }
                guard let known = places[relationship.destination]?.resolved else {
                    places[relationship.destination] = child
                    waiting.append(relationship.destination)
                    continue
                }
                guard known !== child else { continue }
                known.absorb(child)
                // The place may now lead to more places than before.
                waiting += places.filter { $0.value.resolved === known }.keys.sorted()
            }
        }
    }

    private mutating func addKeys(of layout: EntityLayout, in model: DataModel) {
        var waiting = [layout]
        while let layout = waiting.popLast() {
            guard keys[layout.index] == nil else { continue }
            let found = EntityKeys(layout, in: model)
            keys[layout.index] = found
            waiting += found.relationships.filter { $0.key != nil }.map { model.layouts[$0.relationship.destination] }
        }
    }

    /// Whether the earlier model has an entity for the objects of a place.
    func contains(_ node: ShapeNode) -> Bool {
        places.values.contains { $0.resolved === node }
    }

    /// The keys that the earlier model has for the objects of a place, as UTF-8.
    func keys(of node: ShapeNode) -> Set<[UInt8]> {
        places.filter { $0.value.resolved === node }.keys.reduce(into: []) { found, entity in
            guard let keys = keys[entity] else { return }
            found.formUnion(keys.attributes.compactMap(\.key).map { Array($0.utf8) })
            found.formUnion(keys.relationships.compactMap(\.key).map { Array($0.utf8) })
        }
    }
}

extension AttributeKeys {
    /// The key of the attribute; nil unless it is a single key.
    var key: String? {
        path().flatMap { $0.count == 1 ? $0.first : nil }
    }
}

extension RelationshipKeys {
    /// The key of the relationship; nil unless it is a single key.
    var key: String? {
        path().flatMap { $0.count == 1 ? $0.first : nil }
    }
}
