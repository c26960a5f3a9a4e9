import JSONMapper
import SyncModel

/// Removes relationships that JSON attributes replace, with the entities whose objects belonged to
/// them.
///
/// An entity stays if another relationship that JSON fills leads to it from an entity that stays.
/// An inverse, which JSON does not fill, keeps no entity. An entity whose identities are unique
/// within a removed relationship goes in any case.
struct RelationshipRemoval {
    /// The entities that stay.
    private(set) var entities: [SyncEntity]
    /// The entities that are removed, and the other relationships that led to them.
    private(set) var changes: [InferredModel.Evolution.Change] = []

    /// Removes relationships.
    ///
    /// - Parameters:
    ///   - replaced: The relationships, each with the name of its entity.
    ///   - entities: The entities of the model. Each already has the attribute that replaces its
    ///     relationship.
    init(of replaced: [(entity: String, relationship: String)], from entities: [SyncEntity]) {
        self.entities = entities
        var doomed: Set<String> = []
        for (entity, name) in replaced {
            guard let relationship = remove(name, of: entity) else { continue }
            if ownsObjects(relationship) { doomDestinations(of: [relationship], &doomed) }
            remove(relationship.inverse, of: relationship.destination)
        }
        keepReachable(&doomed)
        remove(doomed)
    }

    private subscript(name: String) -> SyncEntity? {
        entities.first { $0.name == name }
    }

    @discardableResult
    private mutating func remove(_ name: String?, of entity: String) -> SyncRelationship? {
        guard let place = entities.firstIndex(where: { $0.name == entity }),
            let index = entities[place].relationships.firstIndex(where: { $0.name == name })
        else { return nil }
        return entities[place].relationships.remove(at: index)
    }

    /// Whether the related objects exist only with the objects that lead to them.
    private func ownsObjects(_ relationship: SyncRelationship) -> Bool {
        let scope = self[relationship.destination]?.identityScope
        return relationship.ownsTargets == true || scope != nil && scope == relationship.inverse
    }

    /// Adds the destinations of relationships, and every entity whose objects belong to theirs.
    private func doomDestinations(of relationships: [SyncRelationship], _ doomed: inout Set<String>) {
        var waiting = relationships.map(\.destination)
        while let name = waiting.popLast() {
            guard let entity = self[name], doomed.insert(name).inserted else { continue }
            waiting += entity.relationships.filter { $0.isFilled && ownsObjects($0) }.map(\.destination)
        }
    }

    /// Takes out the entities to which an entity that stays still leads.
    private func keepReachable(_ doomed: inout Set<String>) {
        var count: Int
        repeat {
            count = doomed.count
            for entity in entities where doomed.contains(entity.name) && isReachable(entity, without: doomed) {
                doomed.remove(entity.name)
            }
        } while doomed.count < count
    }

    private func isReachable(_ entity: SyncEntity, without doomed: Set<String>) -> Bool {
        if let scope = entity.identityScope {
            return entity.relationships.contains { $0.name == scope && !doomed.contains($0.destination) }
        }
        return entities.contains { other in
            !doomed.contains(other.name)
                && other.relationships.contains { $0.destination == entity.name && $0.isFilled }
        }
    }

    /// Removes entities and every relationship to them. A relationship that JSON fills becomes a
    /// JSON attribute.
    private mutating func remove(_ doomed: Set<String>) {
        entities.removeAll { doomed.contains($0.name) }
        for place in entities.indices {
            let lost = entities[place].relationships.filter { doomed.contains($0.destination) }
            entities[place].relationships.removeAll { doomed.contains($0.destination) }
            for relationship in lost where relationship.isFilled {
                let info = [JSONDialect.literalKeyAnnotation: relationship.key, JSONDialect.emptyAnnotation: "omit"]
                entities[place].attributes.append(SyncAttribute(relationship.name, .json, userInfo: info))
                changes.append(
                    .init(
                        kind: .becameJSON(from: relationship.destination), entity: entities[place].name,
                        key: relationship.key))
            }
        }
        for name in doomed.sorted() {
            changes.append(.init(kind: .removedEntity, entity: name, key: ""))
        }
    }
}

extension SyncRelationship {
    /// Whether JSON has a key for the relationship, unlike for a mere inverse.
    fileprivate var isFilled: Bool { userInfo[JSONDialect.unmappedAnnotation] == nil }

    /// The key of the relationship in JSON.
    fileprivate var key: String {
        userInfo[JSONDialect.literalKeyAnnotation] ?? userInfo["sync.remoteKey"] ?? JSONKey.snakeCase(name) ?? name
    }
}
