import JSONMapper
import SyncModel

/// Merges the model of a later sample into an earlier one, entity by entity, starting from the
/// elements.
///
/// Properties are matched by their JSON keys, byte by byte, as a mapper matches them.
struct ModelEvolution {
    private let earlier: DataModel
    private let later: DataModel
    private var entities: [SyncEntity]
    /// The entities of the result, by the names of the later model's entities; the first one if the
    /// earlier model has several.
    private var counterparts: [String: String] = [:]
    /// The pairs of entities that have been merged, the later one first.
    private var merged: Set<[String]> = []
    /// The keys that the later model keeps as JSON because it was requested, each with its entity.
    private let requested: Set<[String]>
    /// The keys whose objects and arrays in the later sample are all empty, each with its entity.
    private let empty: Set<[String]>
    /// The keys of integers in the later sample that a double cannot represent, each with its
    /// entity.
    private let longIntegers: Set<[String]>
    /// The relationships that JSON attributes replace, each with its entity.
    private var replaced: [(entity: String, relationship: String)] = []
    private(set) var changes: [InferredModel.Evolution.Change] = []
    var obstacles: [InferredModel.Evolution.Obstacle] = []

    /// The annotations that describe how values are written; those of the later sample replace
    /// them.
    private static let styles = [
        JSONDialect.dateFormatAnnotation, JSONDialect.wholeNumbersAnnotation, JSONDialect.untypedAnnotation,
    ]

    /// Creates an evolution without changes.
    ///
    /// - Parameters:
    ///   - findings: The findings about the later model.
    ///   - longIntegers: The keys of integers that a double cannot represent, each with its entity
    ///     in the later model.
    init(
        from earlier: DataModel, to later: DataModel, findings: [InferredModel.Finding] = [],
        longIntegers: Set<[String]> = []
    ) {
        self.earlier = earlier
        self.later = later
        requested = Set(findings.filter { $0.kind == .json(.requested) }.map { [$0.entity, $0.key] })
        empty = Set(findings.filter { $0.kind == .json(.empty) }.map { [$0.entity, $0.key] })
        self.longIntegers = longIntegers
        entities = earlier.entities
    }

    func model() throws(ModelError) -> DataModel {
        try DataModel(entities)
    }

    /// Removes the relationships that JSON attributes replace, with the entities whose objects
    /// belong to them.
    mutating func removeReplaced() {
        let removal = RelationshipRemoval(of: replaced, from: entities)
        entities = removal.entities
        changes += removal.changes
    }

    /// Merges an entity of the later model into one of the earlier model.
    mutating func merge(_ laterName: String, _ name: String) {
        guard let found = later[laterName], let known = earlier[name],
            let place = entities.firstIndex(where: { $0.name == name }), merged.insert([laterName, name]).inserted
        else { return }
        if counterparts[laterName] == nil { counterparts[laterName] = name }
        let laterKeys = EntityKeys(found, in: later)
        let keys = EntityKeys(known, in: earlier)
        let columns = keys.columns
        let indices = keys.indices
        var metAttributes: Set<Int> = []
        var metRelationships: Set<Int> = []
        for attribute in laterKeys.attributes {
            if attribute.attribute.userInfo[JSONDialect.otherKeysAnnotation] != nil {
                addOtherKeys(attribute.attribute, to: place)
            }
            guard let key = attribute.key else { continue }
            if let column = columns[Array(key.utf8)] {
                metAttributes.insert(column)
                widen(column, of: place, key: key, by: attribute.attribute, of: laterName)
            } else if let index = indices[Array(key.utf8)] {
                // The relationship is not met: the later sample has none of its objects.
                if requested.contains([laterName, key]) {
                    replace(index, of: place, key: key, by: attribute.attribute)
                    continue
                }
                addOtherKeys(nil, to: place)
                // Null, objects without keys and identifiers are values of a relationship.
                guard attribute.attribute.userInfo[JSONDialect.untypedAnnotation] == nil,
                    !empty.contains([laterName, key]),
                    !identifies(attribute.attribute.type, entities[place].relationships[index])
                else { continue }
                obstacles.append(.init(kind: .notObjects, entity: name, key: key))
            } else {
                add(attribute.attribute, key: key, to: place)
            }
        }
        for column in keys.attributes.indices
        where !metAttributes.contains(column) && keys.attributes[column].key != nil {
            entities[place].attributes[column].userInfo[JSONDialect.emptyAnnotation] = "omit"
        }
        for relationship in laterKeys.relationships {
            guard let key = relationship.key else { continue }
            let declared = relationship.relationship.declaration
            if let index = indices[Array(key.utf8)] {
                metRelationships.insert(index)
                follow(index, of: place, key: key, to: declared)
                addKey(of: relationship, named: keys.relationships[index].relationship.name, to: place)
            } else if let column = columns[Array(key.utf8)] {
                metAttributes.insert(column)
                var json = SyncAttribute(key, .json)
                json.userInfo[JSONDialect.emptyAnnotation] = "omit"
                widen(column, of: place, key: key, by: json, of: laterName)
                addOtherKeys(nil, to: place)
            } else {
                // An attribute that the earlier model has for one of the keys keeps it.
                let isConventional = !relationship.identifierSpellings.contains { columns[Array($0[0].utf8)] != nil }
                add(relationship, key: key, isConventional: isConventional, to: place)
            }
        }
        for index in keys.relationships.indices
        where !metRelationships.contains(index) && keys.relationships[index].key != nil {
            setEmpty("omit", relationship: index, of: place)
        }
        checkIdentity(of: known, found)
    }

    /// Adds an entity of the later model that the earlier one lacks, with everything that it leads
    /// to.
    mutating func add(_ name: String) {
        changes.append(.init(kind: .newEntity, entity: name, key: ""))
        _ = addEntity(name)
    }

    /// Returns the later model's findings about parts that the earlier model lacks, with the names
    /// of the result.
    func news(of findings: [InferredModel.Finding]) -> [InferredModel.Finding] {
        var added: [String: Set<String>] = [:]
        for change in changes {
            if case .newAttribute = change.kind { added[change.entity, default: []].insert(change.key) }
        }
        return findings.compactMap { finding in
            guard let name = counterparts[finding.entity] else { return nil }
            let isNews = earlier[name] == nil || added[name]?.contains(finding.key) == true
            guard isNews || (finding.key.isEmpty && finding.kind == .json(.limit)) else { return nil }
            return InferredModel.Finding(finding.kind, entity: name, key: finding.key)
        }
    }

    // MARK: Attributes

    /// Widens an attribute so that it holds the values of a later one.
    ///
    /// - Parameter laterName: The entity of the later attribute.
    private mutating func widen(
        _ column: Int, of place: Int, key: String, by attribute: SyncAttribute, of laterName: String
    ) {
        var merged = entities[place].attributes[column]
        let isUntyped = attribute.userInfo[JSONDialect.untypedAnnotation] != nil
        merged.userInfo[JSONDialect.emptyAnnotation] = attribute.userInfo[JSONDialect.emptyAnnotation]
        let type = merged.type
        let isLong = longIntegers.contains([laterName, key])
        let wider = isUntyped ? type : merged.widened(by: attribute, isLong: isLong)
        guard wider != .json || !entities[place].identity.contains(merged.name) else {
            obstacles.append(.init(kind: .keyType, entity: entities[place].name, key: key))
            return
        }
        let style = merged.userInfo[JSONDialect.dateFormatAnnotation]
        if wider == attribute.type, !isUntyped {
            for annotation in Self.styles { merged.userInfo[annotation] = attribute.userInfo[annotation] }
        } else if wider != type {
            for annotation in Self.styles { merged.userInfo[annotation] = nil }
        }
        if wider == .uuid, !isUntyped {
            // Kept even if the type becomes wider, because stores hold UUIDs in uppercase.
            let annotation = SyncAttribute.letterCaseAnnotation
            merged.userInfo[annotation] = attribute.userInfo[annotation]
        }
        merged.type = wider
        entities[place].attributes[column] = merged
        if wider != type {
            changes.append(.init(kind: .widened(from: type, to: wider), entity: entities[place].name, key: key))
        } else if style != merged.userInfo[JSONDialect.dateFormatAnnotation] {
            changes.append(.init(kind: .restyled, entity: entities[place].name, key: key))
        }
    }

    private mutating func add(_ attribute: SyncAttribute, key: String, to place: Int) {
        var attribute = attribute
        attribute.name = EntityNaming.unused(attribute.name, isUsed: entities[place].isUsed)
        // The name may differ from the later model, so the key is stated.
        attribute.userInfo["sync.remoteKey"] = nil
        attribute.userInfo[JSONDialect.literalKeyAnnotation] = key
        entities[place].attributes.append(attribute)
        changes.append(
            .init(kind: .newAttribute(attribute.type), entity: entities[place].name, key: key))
    }

    /// Adds the attribute for values that no other property can express, unless it exists.
    private mutating func addOtherKeys(_ attribute: SyncAttribute?, to place: Int) {
        let annotation = JSONDialect.otherKeysAnnotation
        if let index = entities[place].attributes.firstIndex(where: { $0.userInfo[annotation] != nil }) {
            if let value = attribute?.userInfo[annotation] {
                entities[place].attributes[index].userInfo[annotation] = value
            }
            return
        }
        var added = attribute ?? SyncAttribute("otherKeys", .json, userInfo: [annotation: "YES"])
        added.name = EntityNaming.unused(added.name, isUsed: entities[place].isUsed)
        entities[place].attributes.append(added)
    }

    // MARK: Relationships

    /// Adds the attribute for the key that a relationship was read from, unless the entity has it.
    private mutating func addKey(of relationship: RelationshipKeys, named name: String, to place: Int) {
        let annotation = JSONDialect.keyOfAnnotation
        guard var attribute = relationship.keyAttribute?.attribute,
            !entities[place].attributes.contains(where: { $0.userInfo[annotation] == name })
        else { return }
        attribute.name = EntityNaming.unused(attribute.name, isUsed: entities[place].isUsed)
        attribute.userInfo[annotation] = name
        entities[place].attributes.append(attribute)
    }

    /// Whether values of a type are identifiers of a relationship's object.
    private func identifies(_ type: AttributeType, _ relationship: SyncRelationship) -> Bool {
        guard !relationship.isToMany, let target = earlier[relationship.destination], target.hasIdentity,
            target.identityColumns.count == 1
        else { return false }
        return target.attributes[target.identityColumns[0]].type == type
    }

    private mutating func setEmpty(_ style: String?, relationship index: Int, of place: Int) {
        entities[place].relationships[index].userInfo[JSONDialect.emptyAnnotation] = style
    }

    /// Replaces a relationship by a JSON attribute, as soon as everything is merged.
    private mutating func replace(_ index: Int, of place: Int, key: String, by attribute: SyncAttribute) {
        let relationship = entities[place].relationships[index]
        replaced.append((entities[place].name, relationship.name))
        var attribute = attribute
        attribute.name = relationship.name
        attribute.userInfo["sync.remoteKey"] = nil
        attribute.userInfo[JSONDialect.literalKeyAnnotation] = key
        entities[place].attributes.append(attribute)
        changes.append(
            .init(kind: .becameJSON(from: relationship.destination), entity: entities[place].name, key: key))
    }

    /// Merges the destinations of a relationship that is in both models.
    private mutating func follow(_ index: Int, of place: Int, key: String, to declared: SyncRelationship) {
        let known = entities[place].relationships[index]
        guard known.isToMany == declared.isToMany else {
            obstacles.append(.init(kind: .otherCount, entity: entities[place].name, key: key))
            return
        }
        setEmpty(declared.userInfo[JSONDialect.emptyAnnotation], relationship: index, of: place)
        merge(declared.destination, known.destination)
    }

    /// Adds a relationship, its inverse and, unless the result already has it, its destination.
    ///
    /// - Parameter isConventional: Whether the relationship may be read from keys of identifiers.
    private mutating func add(_ keys: RelationshipKeys, key: String, isConventional: Bool, to place: Int) {
        let relationship = keys.relationship.declaration
        let destination = counterparts[relationship.destination] ?? addEntity(relationship.destination)
        guard let target = entities.firstIndex(where: { $0.name == destination }) else { return }
        var added = relationship
        added.name = EntityNaming.unused(relationship.name, isUsed: entities[place].isUsed)
        added.destination = destination
        if isConventional, keys.keyAttribute != nil, added.name == relationship.name {
            addKey(of: keys, named: added.name, to: place)
        } else {
            added.userInfo["sync.remoteKey"] = nil
            added.userInfo[JSONDialect.literalKeyAnnotation] = key
        }
        let inverse = relationship.inverse.flatMap { name in
            later[relationship.destination]?.relationship(name)?.declaration
        }
        if var inverse {
            inverse.name = EntityNaming.unused(inverse.name, isUsed: entities[target].isUsed)
            inverse.destination = entities[place].name
            inverse.inverse = added.name
            added.inverse = inverse.name
            entities[target].relationships.append(inverse)
            if earlier[destination] == nil, entities[target].identityScope == relationship.inverse {
                entities[target].identityScope = inverse.name
            }
        }
        entities[place].relationships.append(added)
        changes.append(
            .init(kind: .newRelationship(destination: destination), entity: entities[place].name, key: key))
    }

    /// Adds an entity of the later model, with everything that it leads to.
    private mutating func addEntity(_ laterName: String) -> String {
        guard let found = later[laterName] else { return laterName }
        let isUsed = { [entities] (name: String) in entities.contains { $0.name.lowercased() == name.lowercased() } }
        let name = EntityNaming.unused(laterName, isUsed: isUsed)
        counterparts[laterName] = name
        var added = found.entity
        added.name = name
        added.relationships = []
        entities.append(added)
        let keys = EntityKeys(found, in: later)
        for relationship in keys.relationships {
            guard let key = relationship.key,
                let place = entities.firstIndex(where: { $0.name == name })
            else { continue }
            add(relationship, key: key, isConventional: true, to: place)
        }
        return name
    }

    // MARK: Identities

    /// Reports nested objects that their key no longer identifies.
    private mutating func checkIdentity(of known: EntityLayout, _ found: EntityLayout) {
        let isTold = obstacles.contains { $0.kind == .keyType && $0.entity == known.name }
        guard counterparts.count > 1, !isTold else { return }
        let wasGlobal = known.hasIdentity
        let wasScoped = known.identityScope != nil
        let isLost = wasGlobal ? !found.hasIdentity : wasScoped && !found.hasIdentity && found.identityScope == nil
        if isLost { obstacles.append(.init(kind: .identity, entity: known.name, key: "")) }
    }
}

extension EntityKeys {
    /// The column of the attribute under each key, which is in UTF-8.
    fileprivate var columns: [[UInt8]: Int] {
        let columns = attributes.compactMap { found in found.key.map { (Array($0.utf8), found.column) } }
        return Dictionary(columns) { first, _ in first }
    }

    /// The index of the relationship under each key, which is in UTF-8.
    fileprivate var indices: [[UInt8]: Int] {
        let indices = relationships.compactMap { found in found.key.map { (Array($0.utf8), found.relationship.index) } }
        return Dictionary(indices) { first, _ in first }
    }
}

extension SyncEntity {
    fileprivate func isUsed(_ name: String) -> Bool {
        let name = name.lowercased()
        return attributes.contains { $0.name.lowercased() == name }
            || relationships.contains { $0.name.lowercased() == name }
    }
}

extension SyncAttribute {
    /// The narrowest type that holds the values of both attributes and to which stores can change
    /// the type.
    ///
    /// - Parameter isLong: Whether the other one has integers that a double cannot represent.
    fileprivate func widened(by other: SyncAttribute, isLong: Bool) -> AttributeType {
        switch (type, other.type) {
        case _ where type == other.type: type
        case (.string, .date) where other.isTimestamp: .json
        case (.double, .int64) where isLong: .json
        case (.double, .int64), (.decimal, .int64), (.decimal, .double), (.string, .uuid), (.string, .date): type
        case (.int64, .decimal), (.uuid, .string): other.type
        case (.int64, .double): .decimal
        default: .json
        }
    }

    /// Whether the values are dates that are numbers in JSON.
    private var isTimestamp: Bool {
        userInfo[JSONDialect.dateFormatAnnotation]?.hasPrefix("epoch") == true
    }
}
