import JSONMapper
import SyncModel

/// A model derived from the shapes of a sample.
///
/// Every place of objects in the sample becomes an entity, unless its keys are data. Entities are
/// found level by level, so that a limit keeps the innermost places as JSON.
struct ModelDraft {
    let options: InferredModel.Options
    private(set) var entities: [DraftEntity] = []
    private(set) var findings: [InferredModel.Finding] = []
    /// The JSON keys that identify an element; empty if its whole content does.
    private(set) var key: [String] = []
    private var indices: [ObjectIdentifier: Int] = [:]
    /// The places with entities in an earlier model, to which no limit applies.
    private var known = KnownPlaces()
    /// The number of entities that count toward the limit.
    private var entityCount = 0

    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - sampler: The sample.
    ///   - options: The limits, which include the contents of the earlier model.
    ///   - earlier: The model that the draft extends, and the entity of the elements in it; nil for
    ///     a new model.
    /// - Throws: `InferredModel.Failure` if the name of the elements is reserved, if the sample has
    ///   no elements or no keys, or if the requested key does not identify the elements.
    init(
        _ sampler: borrowing ShapeSampler, options: InferredModel.Options,
        extending earlier: (model: DataModel, layout: EntityLayout)? = nil
    ) throws(InferredModel.Failure) {
        self.options = options
        let root = sampler.root
        guard !EntityNaming.isReserved(root.name) else { throw .reservedName(entity: root.name) }
        guard sampler.elementCount > 0 else { throw .emptySample }
        guard root.propertyCount > 0 else { throw .noKeys(entity: root.name) }
        let identity = try RootIdentity(sampler, options: options)
        key = identity.keys
        if !identity.isCertain {
            findings.append(.init(.partlyComparedKey, entity: root.name, key: key.joined(separator: ", ")))
        }
        root.fold()
        GlobalIdentities.unite(below: root)
        if let earlier {
            known = KnownPlaces(below: root, of: earlier.layout, in: earlier.model)
            entityCount = known.entityCount
        }
        addEntity(named: root.name, root)
        var next = 0
        while next < entities.count {
            findProperties(ofEntity: next, identity: next == 0 ? identity.keys : nil)
            next += 1
        }
        for index in entities.indices { uniteIdentifiers(ofEntity: index) }
        for index in entities.indices { addInverses(ofEntity: index) }
        for index in entities.indices { entities[index].annotateKeys() }
    }

    /// Returns the model.
    ///
    /// - Throws: `ModelError`, only because of a defect in the inference.
    func model() throws(ModelError) -> DataModel {
        let names = entities.map(\.name)
        return try DataModel(entities.map { $0.entity(named: names) })
    }

    /// The keys of integers that a double cannot represent, each with its entity.
    var longIntegers: Set<[String]> {
        entities.reduce(into: []) { found, entity in
            for property in entity.attributes.compactMap(\.property) where property.hasLongIntegers {
                found.insert([entity.name, property.name])
            }
        }
    }

    // MARK: Entities

    private mutating func addEntity(named name: String, _ node: ShapeNode, at path: [String] = []) {
        indices[ObjectIdentifier(node)] = entities.count
        if !known.contains(node) { entityCount += 1 }
        entities.append(DraftEntity(name: name, node: node, path: path))
    }

    /// The entity of the objects at a place, which is added if it is new; nil beyond the limit.
    private mutating func entity(of node: ShapeNode, key: String, isElement: Bool, parent: Int) -> Int? {
        if let known = indices[ObjectIdentifier(node)] { return known }
        guard known.contains(node) || entityCount < options.maximumEntityCount else { return nil }
        let plain = isElement ? EntityNaming.entity(ofArrayKey: key) : EntityNaming.entity(ofKey: key)
        let isUsed = { [entities] (name: String) in
            EntityNaming.isReserved(name) || entities.contains { $0.name.lowercased() == name.lowercased() }
        }
        let name =
            isUsed(plain)
            ? EntityNaming.unused(EntityNaming.limited(entities[parent].name + plain), isUsed: isUsed) : plain
        addEntity(named: name, node, at: entities[parent].path + [key])
        return entities.count - 1
    }

    /// Finds the attributes and relationships of an entity.
    ///
    /// - Parameter identity: The JSON keys that identify the elements, if they are of this entity.
    private mutating func findProperties(ofEntity index: Int, identity: [String]?) {
        let node = entities[index].node
        // Strings are equal if their characters are, whatever the scalars.
        var met: Set<String> = []
        var properties = node.all.filter { EntityNaming.isWritable($0.name) && met.insert($0.name).inserted }
        if properties.count < node.propertyCount {
            findings.append(.init(.json(.unnameable), entity: entities[index].name))
        }
        let knownKeys = known.keys(of: node)
        let isKnown = { (property: ShapeProperty) in knownKeys.contains(Array(property.name.utf8)) }
        let limit = properties.count(where: isKnown) + max(options.maximumPropertyCount - knownKeys.count, 0)
        let isRootMap = node.isRoot && node.isRootMap
        if isRootMap {
            // Without the key that identifies it, each sync would replace the object.
            properties = properties.filter { identity?.contains($0.name) == true }
            findings.append(.init(.json(.map), entity: entities[index].name))
        } else if properties.count > limit {
            // Known keys and the most frequent ones become properties, in their order.
            let ranks = properties.map { property in
                isKnown(property)
                    ? Int.max : identity?.contains(property.name) == true ? Int.max - 1 : property.count
            }
            let kept = properties.indices.sorted { ranks[$0] > ranks[$1] }.prefix(limit).sorted()
            properties = kept.map { properties[$0] }
            findings.append(.init(.json(.limit), entity: entities[index].name))
        } else if node.hasMoreKeys {
            findings.append(.init(.json(.limit), entity: entities[index].name))
        }
        entities[index].hasOtherKeys = isRootMap || properties.count < node.propertyCount || node.hasMoreKeys
        let names = Self.names(of: properties)
        for (property, name) in zip(properties, names) {
            switch destination(of: property, from: index) {
            case .success(let found):
                entities[index].relationships.append(
                    DraftRelationship(property, name: name, destination: found.entity, isToMany: found.isToMany))
            case .failure(let reason):
                let type = reason.map { InferredType.json($0.reason) } ?? property.inferredType
                if let reason = type.reason {
                    findings.append(.init(.json(reason), entity: entities[index].name, key: property.name))
                } else if property.kinds.isEmpty {
                    findings.append(.init(.onlyNulls, entity: entities[index].name, key: property.name))
                }
                entities[index].attributes.append(DraftAttribute(property, name: name, type: type))
            }
        }
        identify(index, identity)
        entities[index].addBookkeeping()
    }

    /// A reason to keep nested objects as JSON.
    private struct NotNested: Error {
        let reason: InferredModel.Finding.JSONReason
    }

    private enum Destination {
        case success((entity: Int, isToMany: Bool))
        /// The property is an attribute; with a reason, a JSON attribute.
        case failure(NotNested?)
    }

    /// The entity that a property leads to.
    private mutating func destination(of property: ShapeProperty, from index: Int) -> Destination {
        if !options.jsonKeyPaths.isEmpty {
            let path = (entities[index].path + [property.name]).joined(separator: ".")
            if options.jsonKeyPaths.contains(path) { return .failure(NotNested(reason: .requested)) }
        }
        let isObject = !property.kinds.isEmpty && property.kinds.isSubset(of: .anyObjects)
        let isArray = property.kinds.isSubset(of: [.objects, .emptyArray]) && property.kinds.contains(.objects)
        guard isObject || isArray, let node = (isObject ? property.object : property.element)?.resolved else {
            return .failure(nil)
        }
        if node.propertyCount == 0 { return .failure(NotNested(reason: .empty)) }
        if node.isMap { return .failure(NotNested(reason: .map)) }
        guard let entity = entity(of: node, key: property.name, isElement: isArray, parent: index) else {
            return .failure(NotNested(reason: .limit))
        }
        return .success((entity, isArray))
    }

    /// Returns the names of properties.
    ///
    /// Names that follow the convention have priority. Any other name gets a number if it is used.
    private static func names(of properties: [ShapeProperty]) -> [String] {
        var names = properties.map { EntityNaming.property(ofKey: $0.name) }
        let isConventional = zip(names, properties).map { EntityNaming.isConventional($1.name, for: $0) }
        var taken: Set<String> = []
        for wantsConventional in [true, false] {
            for place in properties.indices where isConventional[place] == wantsConventional {
                names[place] = EntityNaming.unused(names[place]) { taken.contains($0.lowercased()) }
                taken.insert(names[place].lowercased())
            }
        }
        return names
    }

    // MARK: Identities

    /// Determines how objects of an entity are identified.
    private mutating func identify(_ index: Int, _ requested: [String]?) {
        let entity = entities[index]
        if let requested {
            entities[index].identity = requested.compactMap { key in
                entity.attributes.first { $0.property?.name == key }?.name
            }
            if requested.isEmpty {
                entities[index].addContentHash()
                findings.append(.init(.noKey, entity: entity.name))
            }
        } else if let found = GlobalIdentities.property(of: entity.node),
            let attribute = entity.attributes.first(where: { $0.property?.name == found.name && $0.type != .json })
        {
            if found.identity?.conflicts == false {
                entities[index].identity = [attribute.name]
            } else {
                entities[index].scopedIdentity = attribute.name
            }
        }
    }

    /// Replaces the attributes that only spell a relationship to one object by its identifier, such
    /// as `company_id` in objects without a `company`, by the key that an object has.
    ///
    /// The relationship is read from both keys by convention. Its key must be the conventional one,
    /// and no object may need both keys or null, which an export could not write.
    private mutating func uniteIdentifiers(ofEntity index: Int) {
        let entity = entities[index]
        for relationship in entity.relationships where !relationship.isToMany {
            let target = entities[relationship.destination]
            guard let property = relationship.property, target.identity.count == 1,
                property.name == JSONKey.snakeCase(relationship.name) ?? relationship.name,
                let identity = target.attributes.first(where: { $0.name == target.identity[0] })
            else { continue }
            let spellings = EntityKeys.spellings(of: relationship.name, isToMany: false)
            let count = entities[index].attributes.count
            entities[index].attributes.removeAll { attribute in
                guard let key = attribute.property, key.name != property.name, spellings.contains(key.name),
                    !entity.identity.contains(attribute.name), attribute.type == identity.type
                else { return false }
                return key.nullCount == 0 && key.count + property.count <= entity.node.objectCount
            }
            if entities[index].attributes.count < count { entities[index].addKey(of: relationship.name) }
        }
    }

    // MARK: Inverses

    /// Adds the inverses of an entity's relationships, and decides which objects are owned.
    private mutating func addInverses(ofEntity index: Int) {
        for place in entities[index].relationships.indices where !entities[index].relationships[place].isInverse {
            let relationship = entities[index].relationships[place]
            let other = relationship.destination
            let isPrivate = entities[other].identity.isEmpty
            let isToMany = !isPrivate
            let source = entities[index].name
            let preferred =
                switch (other == index, isToMany) {
                case (true, true): "parents"
                case (true, false): "parent"
                case (false, true): EntityNaming.toMany(source)
                case (false, false): EntityNaming.toOne(source)
                }
            let isUsed = { [entities] (name: String) in entities[other].isUsed(name) }
            let name =
                isUsed(preferred)
                ? EntityNaming.unused("\(preferred)Of\(EntityNaming.capitalized(relationship.name))", isUsed: isUsed)
                : preferred
            entities[index].relationships[place].inverse = name
            let incoming = entities.flatMap(\.relationships).count { $0.destination == other && !$0.isInverse }
            entities[index].relationships[place].isOwning =
                isPrivate || incoming == 1 && other > 0 && GlobalIdentities.areSingle(entities[other].node)
            entities[other].relationships.append(
                DraftRelationship(inverse: name, of: relationship, to: index, isToMany: isToMany))
            if let scoped = entities[other].scopedIdentity, relationship.isToMany, incoming == 1 {
                entities[other].identity = [scoped]
                entities[other].identityScope = name
            }
        }
    }
}
