import SyncModel

/// All that a `MemoryStore` holds at one moment; a copy shares what neither side changes.
struct MemoryState: Sendable {
    let model: DataModel
    /// By the places of root entities in the model; those of other entities stay empty.
    var tables: [MemoryTable]
    /// The objects of each entity that have an identity, by the entities' places.
    var identities: [ShardedMap<MemoryIdentity, Int64>]
    var links: [MemoryLinks]
    /// By the place of the entity that declares a relationship and the relationship's index.
    private let places: [[MemoryLinks.Place?]]

    init(_ model: DataModel) {
        self.model = model
        tables = model.layouts.map { _ in MemoryTable() }
        identities = model.layouts.map { _ in ShardedMap() }
        var links: [MemoryLinks] = []
        var places: [[MemoryLinks.Place?]] = model.layouts.map { Array(repeating: nil, count: $0.relationships.count) }
        for layout in model.layouts {
            for relationship in layout.relationships
            where relationship.source == layout.index && places[layout.index][relationship.index] == nil {
                let end = MemoryLinks.End(isToMany: relationship.isToMany, isOrdered: relationship.isOrdered)
                places[layout.index][relationship.index] = MemoryLinks.Place(links: links.count, side: 0)
                guard let inverse = model.inverse(of: relationship) else {
                    links.append(MemoryLinks(ends: [end, MemoryLinks.End(isToMany: true, isOrdered: false)]))
                    continue
                }
                let isOwn = inverse.source == layout.index && inverse.index == relationship.index
                if !isOwn {
                    places[inverse.source][inverse.index] = MemoryLinks.Place(links: links.count, side: 1)
                }
                let other = MemoryLinks.End(isToMany: inverse.isToMany, isOrdered: inverse.isOrdered)
                links.append(MemoryLinks(ends: isOwn ? [end] : [end, other]))
            }
        }
        self.links = links
        self.places = places
    }

    /// Where a relationship's pairs are; the model gives every relationship such a place.
    func place(of relationship: RelationshipLayout) -> MemoryLinks.Place {
        guard let place = places[relationship.source][relationship.index] else {
            preconditionFailure("a relationship that was not checked")
        }
        return place
    }

    func targets(of row: Int64, by relationship: RelationshipLayout) -> [Int64] {
        let place = place(of: relationship)
        return links[place.links].targets(of: row, side: place.side)
    }

    func object(_ row: Int64, of layout: EntityLayout) -> MemoryObject? {
        tables[layout.root][row]
    }

    func record(_ row: Int64, _ object: MemoryObject) -> StoredRecord {
        var record = Record(of: model.layouts[object.entity])
        for slot in object.values.indices {
            record[slot: slot] = object.values[slot]
        }
        return StoredRecord(row: row, record: record)
    }

    /// The object that an identity finds when merging or fetching by an entity.
    func row(of identity: MemoryIdentity, in layout: EntityLayout) -> Int64? {
        if let row = identities[layout.index][identity] { return row }
        var found: Int64?
        for place in layout.family.dropFirst() where model.layouts[place].identitySlots == layout.identitySlots {
            guard let row = identities[place][identity] else { continue }
            found = min(row, found ?? row)
        }
        return found
    }
}

/// An object whose properties a predicate asks for.
struct MemorySubject: PredicateSubject {
    let state: MemoryState
    let row: Int64
    let object: MemoryObject

    func value(at key: BoundKey) -> AttributeValue {
        var row = row
        var object = object
        for step in key.steps {
            let destination = state.model.layouts[step.destination]
            guard let next = state.targets(of: row, by: step).first, let found = state.object(next, of: destination)
            else { return .null }
            row = next
            object = found
        }
        switch key.leaf {
        case .attribute(let slot, _): return object.values[slot]
        case .target(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return state.targets(of: row, by: relationship).isEmpty ? .null : .bool(true)
        case .count(let index):
            let relationship = state.model.layouts[object.entity].relationships[index]
            return .int(Int64(state.targets(of: row, by: relationship).count))
        }
    }
}
