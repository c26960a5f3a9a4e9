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
        try self.init(families: entities)
        for index in descent {
            try gatherProperties(of: index)
        }
    }

    /// Checks only the names, the parents and the number of properties.
    init(families entities: [SyncEntity]) throws(ModelError) {
        self.entities = entities
        attributes = Array(repeating: [], count: entities.count)
        relationships = Array(repeating: [], count: entities.count)
        sources = Array(repeating: [], count: entities.count)
        try indexNames()
        try findParents()
        try checkSize()
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
            var known = Set(identities[index])
            for column in try ownIdentity(of: index) where known.insert(column).inserted {
                identities[index].append(column)
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
        // Without a dictionary, the search for inverses would be quadratic.
        let places = entities.indices.map { index in
            Dictionary(relationships[index].enumerated().map { ($1.name, $0) }) { first, _ in first }
        }
        var layouts: [EntityLayout] = []
        layouts.reserveCapacity(entities.count)
        for index in entities.indices {
            var resolved: [EntityLayout.Relationship] = []
            for place in relationships[index].indices {
                resolved.append(try resolve(place, of: index, places, hasIdentity, scopes))
            }
            layouts.append(
                EntityLayout(
                    entity: entities[index], index: index, parent: parents[index], root: roots[index],
                    family: families[index], attributes: attributes[index], relationships: resolved,
                    identityColumns: identities[index], identityScope: scopes[index]))
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
        // Each of the others inherits from a cycle, or is part of one. The walk from the first of
        // them ends where the cycle closes.
        guard let start = entities.indices.first(where: { !reached.contains($0) }) else { return }
        var walked: [Int] = []
        var seen: Set<Int> = []
        var next: Int? = start
        while let place = next, seen.insert(place).inserted {
            walked.append(place)
            next = parents[place]
        }
        guard let closing = next, let first = walked.firstIndex(of: closing) else { return }
        // The entity of the cycle that is declared first.
        let cycle = walked[first...]
        let offset = (cycle.min().flatMap(cycle.firstIndex) ?? first) - first
        let rotated = Array(cycle.dropFirst(offset)) + cycle.prefix(offset)
        let names = (rotated + rotated.prefix(1)).map { entities[$0].name }
        throw .inheritanceCycle(entity: names[0], through: names)
    }

    /// Checks the limits, before memory is used for inherited properties.
    private func checkSize() throws(ModelError) {
        var ancestorCounts = Array(repeating: 0, count: entities.count)
        var propertyCounts = entities.map { $0.attributes.count + $0.relationships.count }
        var total = 0
        for index in descent {
            if let parent = parents[index] {
                ancestorCounts[index] = ancestorCounts[parent] + 1
                propertyCounts[index] += propertyCounts[parent]
            }
            guard ancestorCounts[index] <= DataModel.maximumAncestorCount else {
                throw .tooManyAncestors(entity: entities[index].name, limit: DataModel.maximumAncestorCount)
            }
            total += propertyCounts[index]
            guard total <= DataModel.maximumPropertyCount else {
                throw .tooManyProperties(entity: entities[index].name, limit: DataModel.maximumPropertyCount)
            }
        }
    }

    private mutating func gatherProperties(of index: Int) throws(ModelError) {
        let entity = entities[index]
        var inherited: Set<String> = []
        if let parent = parents[index] {
            attributes[index] = attributes[parent]
            relationships[index] = relationships[parent]
            sources[index] = sources[parent]
            inherited = Set(attributes[parent].map(\.name) + relationships[parent].map(\.name))
        }
        var own: Set<String> = []
        for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
            guard !name.isEmpty else { throw .emptyName(entity: entity.name, property: name) }
            if let parent = parents[index], inherited.contains(name) {
                throw .inheritedProperty(entity: entity.name, property: name, from: owner(of: name, from: parent))
            }
            guard own.insert(name).inserted else { throw .duplicateProperty(entity: entity.name, property: name) }
        }
        for attribute in entity.attributes where !attribute.type.accepts(attribute.defaultValue) {
            throw .defaultOfWrongType(entity: entity.name, attribute: attribute.name, type: attribute.type)
        }
        for attribute in entity.attributes { try checkAllowedValues(of: attribute, in: entity) }
        attributes[index] += entity.attributes
        relationships[index] += entity.relationships
        sources[index] += Array(repeating: index, count: entity.relationships.count)
    }

    private func checkAllowedValues(of attribute: SyncAttribute, in entity: SyncEntity) throws(ModelError) {
        if let text = attribute.userInfo[SyncAttribute.allowedValuesAnnotation] {
            let values = SyncAttribute.values(parsing: text) ?? []
            guard !values.isEmpty, values.allSatisfy({ !$0.isNull && attribute.type.accepts($0) }) else {
                throw .unsuitableAllowedValues(entity: entity.name, attribute: attribute.name, type: attribute.type)
            }
        }
        guard !attribute.defaultValue.isNull, let restriction = attribute.restriction,
            !restriction.allows(attribute.defaultValue)
        else { return }
        throw .defaultNotAllowed(entity: entity.name, attribute: attribute.name)
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
        guard !entity.identity.isEmpty else { return [] }
        let known = Dictionary(attributes[index].enumerated().map { ($1.name, $0) }) { first, _ in first }
        var columns: [Int] = []
        for name in entity.identity {
            guard let column = known[name] else {
                throw .unknownIdentity(entity: entity.name, attribute: name)
            }
            let type = attributes[index][column].type
            guard type != .transformable, type != .json else {
                throw .unsuitableIdentity(entity: entity.name, attribute: name, type: type)
            }
            columns.append(column)
        }
        return columns
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
    /// - Parameters:
    ///   - hasIdentity: For each entity, whether its objects or those of a sub-entity have an
    ///     identity in the whole store.
    ///   - identifies: Whether the targets are identified within the source; nil if they are not
    ///     identified within any object.
    private func isOwning(
        _ relationship: SyncRelationship, from source: Int, to destination: Int, _ back: SyncRelationship?,
        _ hasIdentity: [Bool], identifies: Bool?
    ) -> Bool {
        if let stated = relationship.ownsTargets { return stated }
        if let identifies { return identifies }
        guard !hasIdentity[destination], back?.ownsTargets != true else { return false }
        guard let back else { return true }
        if hasIdentity[source] { return true }
        // Neither end has an identity: the to-many side is the owner, or else the side that
        // cascades.
        if relationship.isToMany != back.isToMany { return relationship.isToMany }
        return relationship.deleteRule == .cascade && back.deleteRule != .cascade
    }

    private func resolve(
        _ place: Int, of index: Int, _ places: [[String: Int]], _ hasIdentity: [Bool], _ scopes: [Int?]
    ) throws(ModelError) -> EntityLayout.Relationship {
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
            guard let found = places[destination][name] else {
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
        let isOwning = isOwning(
            relationship, from: source, to: destination, declaredInverse, hasIdentity,
            identifies: scopes[destination].map { $0 == inverse })
        return EntityLayout.Relationship(
            declaration: relationship, index: place, source: source, destination: destination, inverse: inverse,
            isOwning: isOwning, sharesTargets: isOwning && declaredInverse?.isToMany == true)
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
