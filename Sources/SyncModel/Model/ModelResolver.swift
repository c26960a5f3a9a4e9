/// Validates the declarations of a model, and assigns every property its position.
struct ModelResolver {
    private let entities: [SyncEntity]
    private var indices: [String: Int] = [:]
    private var parents: [Int?] = []
    /// The indices of all entities, each after its parent, siblings in declaration order.
    private var descent: [Int] = []
    private var attributes: [[SyncAttribute]]
    private var relationships: [[SyncRelationship]]
    /// The index of the declaring entity of each relationship in `relationships`.
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
        var scopes: [Int?] = Array(repeating: nil, count: entities.count)
        var families: [[Int]] = Array(repeating: [], count: entities.count)
        for index in descent {
            if let parent = parents[index] {
                roots[index] = roots[parent]
                identities[index] = identities[parent]
                scopes[index] = scopes[parent]
            }
            scopes[index] = try ownScope(of: index) ?? scopes[index]
            for slot in try ownIdentity(of: index) where !identities[index].contains(slot) {
                identities[index].append(slot)
            }
            var ancestor: Int? = index
            while let place = ancestor {
                families[place].append(index)
                ancestor = parents[place]
            }
        }
        // A scoped identity does not identify objects in the whole store.
        let isIdentified = entities.indices.map { !identities[$0].isEmpty && scopes[$0] == nil }
        let hasIdentity = entities.indices.map { families[$0].contains { isIdentified[$0] } }
        var layouts: [EntityLayout] = []
        layouts.reserveCapacity(entities.count)
        for index in entities.indices {
            var resolved: [RelationshipLayout] = []
            for place in relationships[index].indices {
                resolved.append(try resolve(place, of: index, hasIdentity))
            }
            layouts.append(
                EntityLayout(
                    entity: entities[index], index: index, parent: parents[index], root: roots[index],
                    family: families[index], attributes: attributes[index], relationships: resolved,
                    identitySlots: identities[index], identityScope: scopes[index]))
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
            // An entity that inherits from a cycle but is not part of it never reaches itself. The
            // loop continues until it finds an entity of the cycle.
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

    /// Returns the name of the ancestor, or the entity itself, that declares a property.
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
            guard type != .transformable, type != .json else {
                throw .unsuitableIdentity(entity: entity.name, attribute: name, type: type)
            }
            slots.append(slot)
        }
        return slots
    }

    private func ownScope(of index: Int) throws(ModelError) -> Int? {
        let entity = entities[index]
        guard let name = entity.identityScope else { return nil }
        guard let found = relationships[index].firstIndex(where: { $0.name == name }),
            !relationships[index][found].isToMany, relationships[index][found].inverse != nil
        else { throw .unsuitableScope(entity: entity.name, relationship: name) }
        return found
    }

    /// Returns whether the targets of a relationship belong to the object related to them.
    ///
    /// - Parameter hasIdentity: For each entity, whether its objects or those of a sub-entity have
    ///   an identity in the whole store.
    private func isOwning(
        _ relationship: SyncRelationship, from source: Int, to destination: Int, _ back: SyncRelationship?,
        _ hasIdentity: [Bool]
    ) -> Bool {
        if let stated = relationship.ownsTargets { return stated }
        guard !hasIdentity[destination], back?.ownsTargets != true else { return false }
        guard let back else { return true }
        if hasIdentity[source] { return true }
        // Neither end has an identity: the to-many side is the owner, or else the side that
        // cascades.
        if relationship.isToMany != back.isToMany { return relationship.isToMany }
        return relationship.deleteRule == .cascade && back.deleteRule != .cascade
    }

    private func resolve(
        _ place: Int, of index: Int, _ hasIdentity: [Bool]
    ) throws(ModelError) -> RelationshipLayout {
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
        var declaredInverse: SyncRelationship?
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
            declaredInverse = back
        }
        let isOwning = isOwning(relationship, from: source, to: destination, declaredInverse, hasIdentity)
        return RelationshipLayout(
            declaration: relationship, index: place, source: source, destination: destination, inverse: inverse,
            isOwning: isOwning)
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
