import JSONMapper
import SyncModel

/// A model derived from a sample: entities and properties, unique names, and paired inverses.
struct ModelDraft {
    private struct DraftRelationship {
        var name: String
        let destination: String
        var isToMany: Bool
        let isShared: Bool
        var inverse: String?
        var deleteRule = SyncRelationship.DeleteRule.nullify
        var userInfo: [String: String] = [:]
    }

    private struct DraftEntity {
        let name: String
        var identity: [String] = []
        var attributes: [SyncAttribute] = []
        var relationships: [DraftRelationship] = []

        func hasProperty(_ name: String) -> Bool {
            attributes.contains { $0.name == name } || relationships.contains { $0.name == name }
        }
    }

    private let sample: ModelSample
    private var entities: [DraftEntity] = []

    /// Creates a draft from a sample.
    ///
    /// - Throws: `ModelInferenceError` if the sample has no elements, no keys, or too many keys.
    init(_ sample: ModelSample) throws(ModelInferenceError) {
        self.sample = sample
        guard let root = sample.entities[sample.root] else { throw .emptySample }
        guard root.properties.count > 0 else { throw .noKeys(entity: sample.root) }
        guard !root.isDictionary else {
            throw .tooManyKeys(entity: sample.root, maximum: ModelSample.maximumKeyCount)
        }
        let met = reachable()
        for name in sample.names where met.contains(name) {
            if let sketch = sample.entities[name] { entities.append(draft(name, sketch)) }
        }
        for index in entities.indices {
            for place in entities[index].relationships.indices { addInverse(ofRelationship: place, of: index) }
        }
    }

    /// Returns the model.
    ///
    /// - Throws: `ModelError`, only because of a defect in the inference.
    func model() throws(ModelError) -> DataModel {
        try DataModel(
            entities.map { entity in
                SyncEntity(
                    entity.name, identity: entity.identity, attributes: entity.attributes,
                    relationships: entity.relationships.map(Self.relationship),
                    userInfo: [SyncEntity.inferredAnnotation: "true"])
            })
    }

    private static func relationship(_ draft: DraftRelationship) -> SyncRelationship {
        draft.isToMany
            ? SyncRelationship(
                draft.name, toMany: draft.destination, inverse: draft.inverse, deleteRule: draft.deleteRule,
                userInfo: draft.userInfo)
            : SyncRelationship(
                draft.name, toOne: draft.destination, inverse: draft.inverse, deleteRule: draft.deleteRule,
                userInfo: draft.userInfo)
    }

    // MARK: Entities

    /// Returns the entity that a property leads to; nil for a property that is an attribute.
    private func destination(of property: PropertySketch) -> String? {
        guard property.hasObject != property.hasObjects, !property.hasOtherArray, property.scalars.isEmpty,
            !property.hasObject || !property.hasEmptyArray, let sketch = sample.entities[property.destination],
            sketch.properties.count > 0, !sketch.isDictionary
        else { return nil }
        return property.destination
    }

    /// Returns the elements' entity, and all entities reachable from it through relationships.
    private func reachable() -> Set<String> {
        var reached: Set<String> = []
        var waiting = [sample.root]
        while let name = waiting.popLast() {
            guard reached.insert(name).inserted, let sketch = sample.entities[name] else { continue }
            waiting += sketch.properties.entries.compactMap { destination(of: $0) }
        }
        return reached
    }

    private func draft(_ name: String, _ sketch: EntitySketch) -> DraftEntity {
        var draft = DraftEntity(name: name)
        let names = Self.names(of: sketch)
        let key = primaryKey(of: name, sketch, names)
        for (place, property) in sketch.properties.entries.enumerated() {
            let name = names[place]
            if let destination = destination(of: property) {
                draft.relationships.append(
                    DraftRelationship(
                        name: name, destination: destination, isToMany: property.hasObjects,
                        isShared: property.isShared,
                        userInfo: property.isConventional ? [:] : [Annotation.remoteKeyName: property.key]))
                continue
            }
            let isKey = place == key
            var attribute = SyncAttribute(
                name, Self.type(of: property), optional: !isKey || property.valueCount < sketch.objectCount)
            if isKey {
                draft.identity = [name]
                if !EntityKeys.primaryKeyNames.contains(name) {
                    attribute.userInfo[Annotation.isPrimaryKeyName] = "true"
                }
            }
            draft.attributes.append(attribute)
        }
        annotateKeys(of: &draft, sketch)
        return draft
    }

    /// Returns the names of an entity's properties.
    ///
    /// Names that follow the convention have priority. Any other name gets a number if it is used.
    private static func names(of sketch: EntitySketch) -> [String] {
        let properties = sketch.properties.entries
        var names = properties.map { EntityNaming.property(ofKey: $0.key) }
        var taken = Set(zip(names, properties).lazy.filter(\.1.isConventional).map(\.0))
        for place in properties.indices where !properties[place].isConventional {
            names[place] = EntityNaming.unused(names[place]) { taken.contains($0) }
            taken.insert(names[place])
        }
        return names
    }

    /// Annotates attributes whose keys the convention does not find, or writes differently.
    private func annotateKeys(of draft: inout DraftEntity, _ sketch: EntitySketch) {
        let attributes = sketch.properties.entries.filter { destination(of: $0) == nil }
        guard let model = try? DataModel([SyncEntity(draft.name, attributes: draft.attributes, relationships: [])])
        else {
            return
        }
        let keys = EntityKeys(model.layouts[0], in: model)
        for (slot, property) in attributes.enumerated() {
            let isWritten = ExportOptions.KeyStyle.allCases.contains {
                keys.attributes[slot].path($0) == [property.key]
            }
            if !property.isConventional || !isWritten {
                draft.attributes[slot].userInfo[Annotation.remoteKeyName] = property.key
            }
        }
    }

    /// Returns the index of the property that is the entity's primary key.
    private func primaryKey(of entity: String, _ sketch: EntitySketch, _ names: [String]) -> Int? {
        EntitySketch.keyNames(of: entity).lazy.compactMap { name in
            guard let place = names.firstIndex(of: name) else { return nil }
            let property = sketch.properties.entries[place]
            guard destination(of: property) == nil, property.valueCount > 0,
                [.int64, .string, .uuid, .decimal].contains(Self.type(of: property))
            else { return nil }
            // `id` is a primary key by convention; the values of any other key must prove that it
            // is one.
            let isProven = property.valueCount == sketch.objectCount && !property.isRepeated
            return name == "id" || isProven ? place : nil
        }.first
    }

    private static func type(of property: PropertySketch) -> AttributeType {
        guard !property.hasObject, !property.hasObjects, !property.hasOtherArray, !property.hasEmptyArray else {
            return .binary
        }
        let scalars = property.scalars
        if scalars.isEmpty { return .string }
        if scalars == [.bool] { return .bool }
        if scalars == [.uuid] { return .uuid }
        if scalars == [.date] { return .date }
        if scalars.contains(.bool) { return .binary }
        let isText = !scalars.isDisjoint(with: [.text, .uuid, .date])
        if isText { return .string }
        if scalars == [.integer] { return .int64 }
        let isFraction = !scalars.isDisjoint(with: [.fraction, .extremeFraction])
        if scalars.contains(.endlessNumber) || scalars.isSuperset(of: [.longNumber, .extremeFraction]) {
            return .string
        }
        return scalars.contains(.longNumber) || !isFraction ? .decimal : .double
    }

    // MARK: Inverses

    private mutating func addInverse(ofRelationship place: Int, of index: Int) {
        let relationship = entities[index].relationships[place]
        guard relationship.inverse == nil,
            let other = entities.firstIndex(where: { $0.name == relationship.destination })
        else { return }
        let source = entities[index].name
        let isOwned = entities[other].identity.isEmpty
        let isToMany = !isOwned && (relationship.isShared || !relationship.isToMany)
        if isOwned { entities[index].relationships[place].deleteRule = .cascade }
        let preferred =
            switch (other == index, isToMany) {
            case (true, true): "children"
            case (true, false): "parent"
            case (false, true): EntityNaming.toMany(source)
            case (false, false): EntityNaming.toOne(source)
            }
        let conventional = [preferred, EntityNaming.toOne(source), EntityNaming.toMany(source)]
        // The sample contains the inverse: a relationship to this entity that is not yet paired.
        let paired = entities[other].relationships.indices.first { candidate in
            let back = entities[other].relationships[candidate]
            return back.destination == source && back.inverse == nil && conventional.contains(back.name)
                && (other != index || candidate != place)
        }
        if let paired {
            entities[other].relationships[paired].inverse = relationship.name
            entities[index].relationships[place].inverse = entities[other].relationships[paired].name
            return
        }
        let name =
            entities[other].hasProperty(preferred)
            ? EntityNaming.unused("\(preferred)Of\(EntityNaming.capitalized(relationship.name))") {
                entities[other].hasProperty($0)
            }
            : preferred
        entities[index].relationships[place].inverse = name
        entities[other].relationships.append(
            DraftRelationship(
                name: name, destination: source, isToMany: isToMany, isShared: false, inverse: relationship.name))
    }
}

/// The annotations of an inferred model, from the dialect `JSONDialect.sync`.
private enum Annotation {
    static let remoteKeyName = "sync.remoteKey"
    static let isPrimaryKeyName = "sync.isPrimaryKey"
}
