/// Checks the declarations of a model against each other, and gives every property its place.
struct ModelResolver {
    private let entities: [SyncEntity]
    private var indices: [String: Int] = [:]
    private var parents: [Int?] = []
    /// The places of all entities, each after its parent, siblings in the order of their declaration.
    private var descent: [Int] = []
    private var attributes: [[SyncAttribute]]
    private var relationships: [[SyncRelationship]]
    /// Of each relationship in `relationships`: the place of the entity that declares it.
    private var sources: [[Int]]

    init(_ entities: [SyncEntity]) throws(ModelError) {
        self.entities = entities
        attributes = Array(repeating: [], count: entities.count)
        relationships = Array(repeating: [], count: entities.count)
        sources = Array(repeating: [], count: entities.count)
        try indexNames()
        try findParents()
        for index in descent {
            try gatherProperties(of: index)
        }
    }

    func layouts() throws(ModelError) -> [EntityLayout] {
        var identities: [[Int]] = Array(repeating: [], count: entities.count)
        var roots = Array(entities.indices)
        var families: [[Int]] = Array(repeating: [], count: entities.count)
        for index in descent {
            if let parent = parents[index] {
                roots[index] = roots[parent]
                identities[index] = identities[parent]
            }
            for slot in try ownIdentity(of: index) where !identities[index].contains(slot) {
                identities[index].append(slot)
            }
            var ancestor: Int? = index
            while let place = ancestor {
                families[place].append(index)
                ancestor = parents[place]
            }
        }
        var layouts: [EntityLayout] = []
        layouts.reserveCapacity(entities.count)
        for index in entities.indices {
            var resolved: [RelationshipLayout] = []
            for place in relationships[index].indices {
                resolved.append(try resolve(place, of: index))
            }
            layouts.append(
                EntityLayout(
                    entity: entities[index], index: index, parent: parents[index], root: roots[index],
                    family: families[index], attributes: attributes[index], relationships: resolved,
                    identitySlots: identities[index]))
        }
        return layouts
    }

    private mutating func indexNames() throws(ModelError) {
        for (index, entity) in entities.enumerated() {
            guard !entity.name.isEmpty else { throw .emptyName(entity: "", property: nil) }
            guard indices.updateValue(index, forKey: entity.name) == nil else {
                throw .duplicateEntity(entity: entity.name)
            }
        }
    }

    private mutating func findParents() throws(ModelError) {
        var children: [[Int]] = Array(repeating: [], count: entities.count)
        var waiting: [Int] = []
        for (index, entity) in entities.enumerated() {
            guard let name = entity.parent else {
                parents.append(nil)
                waiting.append(index)
                continue
            }
            guard let parent = indices[name] else { throw .unknownParent(entity: entity.name, parent: name) }
            parents.append(parent)
            children[parent].append(index)
        }
        waiting.reverse()
        while let index = waiting.popLast() {
            descent.append(index)
            waiting.append(contentsOf: children[index].reversed())
        }
        guard descent.count < entities.count else { return }
        let reached = Set(descent)
        for index in entities.indices where !reached.contains(index) {
            var through = [entities[index].name]
            var seen: Set<Int> = [index]
            var next = parents[index]
            while let place = next, seen.insert(place).inserted {
                through.append(entities[place].name)
                next = parents[place]
            }
            // An entity that inherits from a cycle without being on it never meets itself again: go on to one that does.
            if next == index {
                throw .inheritanceCycle(entity: entities[index].name, through: through + [entities[index].name])
            }
        }
    }

    private mutating func gatherProperties(of index: Int) throws(ModelError) {
        let entity = entities[index]
        var owners: [String: String] = [:]
        if let parent = parents[index] {
            attributes[index] = attributes[parent]
            relationships[index] = relationships[parent]
            sources[index] = sources[parent]
            let inherited = attributes[parent].map(\.name) + relationships[parent].map(\.name)
            for name in inherited {
                owners[name] = owner(of: name, from: parent)
            }
        }
        for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
            guard !name.isEmpty else { throw .emptyName(entity: entity.name, property: name) }
            if let owner = owners[name] {
                throw owner == entity.name
                    ? .duplicateProperty(entity: entity.name, property: name)
                    : .inheritedProperty(entity: entity.name, property: name, from: owner)
            }
            owners[name] = entity.name
        }
        for attribute in entity.attributes where !attribute.type.accepts(attribute.defaultValue) {
            throw .defaultOfWrongType(entity: entity.name, attribute: attribute.name, type: attribute.type)
        }
        attributes[index] += entity.attributes
        relationships[index] += entity.relationships
        sources[index] += Array(repeating: index, count: entity.relationships.count)
    }

    /// The name of the entity that declares a property which the entity at a place has.
    private func owner(of property: String, from index: Int) -> String {
        var place = index
        while let parent = parents[place], !declares(property, at: place) {
            place = parent
        }
        return entities[place].name
    }

    private func declares(_ property: String, at index: Int) -> Bool {
        entities[index].attributes.contains { $0.name == property }
            || entities[index].relationships.contains { $0.name == property }
    }

    private func ownIdentity(of index: Int) throws(ModelError) -> [Int] {
        let entity = entities[index]
        var slots: [Int] = []
        for name in entity.identity {
            guard let slot = attributes[index].firstIndex(where: { $0.name == name }) else {
                throw .unknownIdentity(entity: entity.name, attribute: name)
            }
            let type = attributes[index][slot].type
            guard type != .transformable else {
                throw .unsuitableIdentity(entity: entity.name, attribute: name, type: type)
            }
            slots.append(slot)
        }
        return slots
    }

    private func resolve(_ place: Int, of index: Int) throws(ModelError) -> RelationshipLayout {
        let relationship = relationships[index][place]
        let source = sources[index][place]
        let entity = entities[source].name
        guard let destination = indices[relationship.destination] else {
            throw .unknownDestination(
                entity: entity, relationship: relationship.name, destination: relationship.destination)
        }
        guard relationship.isToMany || !relationship.isOrdered else {
            throw .orderedToOne(entity: entity, relationship: relationship.name)
        }
        var inverse: Int?
        if let name = relationship.inverse {
            guard let found = relationships[destination].firstIndex(where: { $0.name == name }) else {
                throw .unknownInverse(
                    entity: entity, relationship: relationship.name, destination: relationship.destination,
                    inverse: name)
            }
            let back = relationships[destination][found]
            guard back.inverse == relationship.name, let returned = indices[back.destination],
                descends(returned, from: source) || descends(source, from: returned)
            else {
                throw .inverseDoesNotPointBack(
                    entity: entity, relationship: relationship.name, destination: relationship.destination,
                    inverse: name)
            }
            inverse = found
        }
        return RelationshipLayout(
            declaration: relationship, index: place, source: source, destination: destination, inverse: inverse)
    }

    private func descends(_ index: Int, from ancestor: Int) -> Bool {
        var next: Int? = index
        while let place = next {
            if place == ancestor { return true }
            next = parents[place]
        }
        return false
    }
}
