import SyncModel

extension ModelDocument {
    /// Removes declarations that Core Data accepts and a `DataModel` does not, with warnings.
    ///
    /// The parents must have been checked (`DataModel.checkFamilies`). Afterwards, the warnings are
    /// in file order.
    mutating func repair() {
        removeInheritedProperties()
        removeAimlessRelationships()
        removeUnusableInverses()
        chooseIdentities()
        chooseIndexes()
        let ordered = warnings.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        warnings = ordered.map(\.element)
    }

    // MARK: Properties

    /// Removes properties that an ancestor declares as well.
    private mutating func removeInheritedProperties() {
        let ancestors = self.ancestors
        for (index, entity) in entities.enumerated() {
            let inherited = Set((ancestors[entity.name] ?? []).flatMap(Self.propertyNames))
            guard !inherited.isEmpty else { continue }
            for name in Self.propertyNames(entity) where inherited.contains(name) {
                warn(.inheritedProperty(name), at: line(of: name, in: entity.name))
            }
            entities[index].attributes.removeAll { inherited.contains($0.name) }
            entities[index].relationships.removeAll { inherited.contains($0.name) }
        }
    }

    /// Removes relationships to entities that do not exist.
    private mutating func removeAimlessRelationships() {
        let names = Set(entities.map(\.name))
        for (index, entity) in entities.enumerated() {
            for relationship in entity.relationships where !names.contains(relationship.destination) {
                warn(
                    .unknownDestination(relationship: relationship.name, destination: relationship.destination),
                    at: line(of: relationship.name, in: entity.name))
            }
            entities[index].relationships.removeAll { !names.contains($0.destination) }
        }
    }

    /// Removes inverses that do not exist or do not point back. Of two relationships, either both
    /// or none point back.
    private mutating func removeUnusableInverses() {
        let ancestors = self.ancestors
        let indices = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let places = entities.map { entity in
            Dictionary(entity.relationships.enumerated().map { ($1.name, $0) }) { first, _ in first }
        }
        func isRelated(_ one: String, _ other: String) -> Bool {
            one == other || ancestors[one]?.contains { $0.name == other } == true
        }
        /// Returns whether the inverse of a relationship exists and names it in turn.
        func isAnswered(_ relationship: SyncRelationship, of entity: SyncEntity, by inverse: String) -> Bool {
            let lineage = [relationship.destination] + (ancestors[relationship.destination] ?? []).map(\.name)
            for name in lineage {
                guard let index = indices[name] else { continue }
                guard let place = places[index][inverse] else { continue }
                let back = entities[index].relationships[place]
                return back.inverse == relationship.name && isRelated(back.destination, entity.name)
            }
            return false
        }
        for (index, entity) in entities.enumerated() {
            for (place, relationship) in entity.relationships.enumerated() {
                guard let inverse = relationship.inverse, !isAnswered(relationship, of: entity, by: inverse) else {
                    continue
                }
                warn(
                    .unusableInverse(relationship: relationship.name, inverse: inverse),
                    at: line(of: relationship.name, in: entity.name))
                entities[index].relationships[place].inverse = nil
            }
        }
    }

    // MARK: Identities

    /// Makes the first suitable uniqueness constraint of each entity its identity.
    ///
    /// Core Data's constraints are alternatives, while a sub-entity's identity extends its parent's
    /// identity. A sub-entity's constraint therefore becomes its identity only if it begins with
    /// the attributes that identify its parent, or if nothing identifies the parent.
    private mutating func chooseIdentities() {
        let ancestors = self.ancestors
        var identities: [String: [String]] = [:]
        let topDown = entities.enumerated().sorted { one, other in
            let depths = (ancestors[one.element.name]?.count ?? 0, ancestors[other.element.name]?.count ?? 0)
            return (depths.0, one.offset) < (depths.1, other.offset)
        }
        for (index, entity) in topDown {
            let lineage = ancestors[entity.name] ?? []
            let inherited = lineage.first.flatMap { identities[$0.name] } ?? []
            var isChosen = false
            identities[entity.name] = inherited
            guard let constraints = constraints[entity.name] else { continue }
            let properties = Properties(entity, inheriting: lineage)
            for constraint in constraints {
                if let obstacle = properties.obstacle(to: constraint.names) {
                    warn(.unsupported(what: "a uniqueness constraint on \(obstacle)"), at: constraint.line)
                } else if !isChosen, constraint.names.starts(with: inherited) {
                    isChosen = true
                    identities[entity.name] = constraint.names
                    entities[index].identity = Array(constraint.names.dropFirst(inherited.count))
                } else {
                    warn(.unsupported(what: "a second uniqueness constraint"), at: constraint.line)
                }
            }
        }
    }

    /// Gives the entities their usable indexes.
    private mutating func chooseIndexes() {
        let ancestors = self.ancestors
        for (place, entity) in entities.enumerated() {
            guard let indexes = indexes[entity.name] else { continue }
            let properties = Properties(entity, inheriting: ancestors[entity.name] ?? [])
            var known = Set(entity.indexes)
            for index in indexes {
                if let obstacle = index.obstacle {
                    warn(.unsupported(what: "an index with \(obstacle)"), at: index.line)
                    continue
                }
                // Stores index every to-one relationship.
                if index.names.count == 1, properties.isToOne(index.names[0]) { continue }
                var seen: Set<String> = []
                let names = index.names.filter { seen.insert($0).inserted }
                if let obstacle = properties.obstacle(to: names) {
                    warn(.unsupported(what: "an index on \(obstacle)"), at: index.line)
                    continue
                }
                if index.hasMixedOrders {
                    warn(.unsupported(what: "the descending order of a part of an index"), at: index.line)
                }
                let declared = SyncEntity.Index(names)
                if known.insert(declared).inserted { entities[place].indexes.append(declared) }
            }
        }
    }

    /// The properties of an entity by name, inherited ones included.
    private struct Properties {
        private enum Kind {
            case attribute(AttributeType)
            case relationship(isToMany: Bool)
        }

        private var kinds: [String: Kind] = [:]

        init(_ entity: SyncEntity, inheriting lineage: [SyncEntity]) {
            // The nearest declaration counts, and a relationship before an attribute.
            for declaring in lineage.reversed() + [entity] {
                for attribute in declaring.attributes.reversed() {
                    kinds[attribute.name] = .attribute(attribute.type)
                }
            }
            for declaring in lineage.reversed() + [entity] {
                for relationship in declaring.relationships.reversed() {
                    kinds[relationship.name] = .relationship(isToMany: relationship.isToMany)
                }
            }
        }

        func isToOne(_ name: String) -> Bool {
            if case .relationship(isToMany: false) = kinds[name] { true } else { false }
        }

        /// Why names cannot form an identity or an index; nil if they can.
        func obstacle(to names: [String]) -> String? {
            guard !names.isEmpty else { return "nothing" }
            for name in names {
                switch kinds[name] {
                case .relationship: return "a relationship"
                case nil: return "\(name), which is not an attribute"
                case .attribute(.transformable): return "a transformable attribute"
                case .attribute(.json): return "an attribute that holds JSON"
                case .attribute: break
                }
            }
            return nil
        }
    }

    // MARK: Lookup

    /// The ancestors of each entity, nearest first. A cycle ends where it closes.
    private var ancestors: [String: [SyncEntity]] {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return byName.mapValues { entity in
            var lineage: [SyncEntity] = []
            var seen: Set<String> = [entity.name]
            var next = entity.parent
            while let name = next, seen.insert(name).inserted, let ancestor = byName[name] {
                lineage.append(ancestor)
                next = ancestor.parent
            }
            return lineage
        }
    }

    private static func propertyNames(_ entity: SyncEntity) -> [String] {
        entity.attributes.map(\.name) + entity.relationships.map(\.name)
    }

    private mutating func warn(_ reason: ModelFile.Warning.Reason, at line: Int) {
        warnings.append(ModelFile.Warning(file: file, line: line, reason: reason))
    }
}
