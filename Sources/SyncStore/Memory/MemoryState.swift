import SyncModel

/// The content of a `MemoryStore` at one moment. Copies share all unchanged parts.
struct MemoryState: Sendable {
    let model: DataModel
    /// The tables by the index of the root entity. The tables of other entities are empty.
    var tables: [MemoryTable]
    /// The objects with an identity, by the index of their entity.
    var identities: [ShardedMap<MemoryIdentity, Int64>]
    var links: [MemoryLinks]
    /// The unique indexes by the index of the root entity.
    var uniqueIndexes: [[MemoryUniqueIndex]]
    /// The places by the index of the declaring entity and the index of the relationship.
    private let places: [[MemoryLinks.Place?]]

    init(_ model: DataModel) {
        self.model = model
        tables = model.layouts.map { _ in MemoryTable() }
        identities = model.layouts.map { _ in ShardedMap() }
        uniqueIndexes = model.layouts.map { root in
            guard root.parent == nil else { return [] }
            return root.family.flatMap { member in
                let layout = model.layouts[member]
                return model.indexes(of: layout).filter(\.isUnique).map { MemoryUniqueIndex($0, of: layout) }
            }
        }
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

    /// The place of a relationship's links. Every relationship of the model has one.
    func place(of relationship: EntityLayout.Relationship) -> MemoryLinks.Place {
        guard let place = places[relationship.source][relationship.index] else {
            preconditionFailure("a relationship that was not checked")
        }
        return place
    }

    func targets(of source: ObjectID, by relationship: EntityLayout.Relationship) -> [ObjectID] {
        let place = place(of: relationship)
        return links[place.links].targets(of: source, side: place.side)
    }

    /// An object of an entity or its sub-entities; nil for any other object.
    func object(_ id: ObjectID, of layout: EntityLayout) -> MemoryObject? {
        guard let object = tables[layout.root][id], layout.family.contains(object.entity) else { return nil }
        return object
    }

    func record(_ id: ObjectID, _ object: MemoryObject) -> StoredRecord {
        var record = Record(of: model.layouts[object.entity])
        for column in object.values.indices {
            record[column: column] = object.values[column]
        }
        return StoredRecord(object: id, record: record)
    }

    /// The object that a merge or a fetch by an entity finds for an identity.
    func object(with identity: MemoryIdentity, in layout: EntityLayout) -> ObjectID? {
        if let object = identities[layout.index][identity] { return object }
        var found: ObjectID?
        for member in layout.family.dropFirst() where model.layouts[member].identityColumns == layout.identityColumns {
            guard let object = identities[member][identity] else { continue }
            found = min(object, found ?? object)
        }
        return found
    }
}
