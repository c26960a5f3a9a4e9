import JSONMapper
import SyncModel

/// An entity of a ``ModelDraft``.
struct DraftEntity {
    let name: String
    let node: ShapeNode
    /// The keys that lead from an element to the objects.
    let path: [String]
    /// The names of the attributes that identify objects; empty for none.
    var identity: [String] = []
    /// The relationship to the object within which the identity is unique; nil for the whole store.
    var identityScope: String?
    /// An attribute that identifies objects only within the object that contains them.
    var scopedIdentity: String?
    var attributes: [DraftAttribute] = []
    var relationships: [DraftRelationship] = []
    /// Whether there are keys without a property.
    var hasOtherKeys = false

    func isUsed(_ name: String) -> Bool {
        let name = name.lowercased()
        return attributes.contains { $0.name.lowercased() == name }
            || relationships.contains { $0.name.lowercased() == name }
    }

    /// Decides how absent, null and empty values are written, and adds an attribute for values that
    /// no other property can express.
    mutating func addBookkeeping() {
        var isExpressible = !hasOtherKeys
        for index in attributes.indices {
            guard let property = attributes[index].property else { continue }
            let isAlwaysThere = property.count == node.objectCount
            if !isAlwaysThere { attributes[index].userInfo[JSONDialect.emptyAnnotation] = "omit" }
            if !isAlwaysThere, property.nullCount > 0 { isExpressible = false }
        }
        for index in relationships.indices {
            guard let property = relationships[index].property else { continue }
            let isAbsent = property.count < node.objectCount
            let isNull = property.nullCount > 0
            let isEmpty = property.kinds.contains(.emptyArray)
            let isToMany = relationships[index].isToMany
            // By default, an empty to-one relationship is omitted, and a to-many one is an empty
            // array.
            if [isAbsent, isNull, isEmpty].count(where: { $0 }) > 1 {
                isExpressible = false
                if isToMany { relationships[index].userInfo[JSONDialect.emptyAnnotation] = "omit" }
            } else if isNull {
                relationships[index].userInfo[JSONDialect.emptyAnnotation] = "null"
            } else if isAbsent, isToMany {
                relationships[index].userInfo[JSONDialect.emptyAnnotation] = "omit"
            }
        }
        guard !isExpressible else { return }
        let name = EntityNaming.unused("otherKeys", isUsed: isUsed)
        attributes.append(
            DraftAttribute(
                name: name, type: .json,
                userInfo: [JSONDialect.otherKeysAnnotation: hasOtherKeys ? "expected" : "YES"]))
    }

    /// Adds an attribute that identifies an object by its whole content.
    mutating func addContentHash() {
        let name = EntityNaming.unused("contentHash", isUsed: isUsed)
        attributes.append(
            DraftAttribute(name: name, type: .int64, userInfo: [JSONDialect.contentHashAnnotation: "YES"]))
        identity = [name]
    }

    /// Adds an attribute for the key that a relationship was read from.
    mutating func addKey(of relationship: String) {
        let name = EntityNaming.unused("\(relationship)Key", isUsed: isUsed)
        attributes.append(
            DraftAttribute(name: name, type: .string, userInfo: [JSONDialect.keyOfAnnotation: relationship]))
    }

    /// Annotates properties whose keys the convention does not find, or writes differently.
    mutating func annotateKeys() {
        let plain = SyncEntity(name, attributes: attributes.map(\.attribute), relationships: [])
        guard let model = try? DataModel([plain]) else { return }
        let keys = EntityKeys(model.layouts[0], in: model)
        let allKeys = (attributes.map(\.property) + relationships.map(\.property)).compactMap { $0?.name }
        for index in attributes.indices {
            guard let key = attributes[index].property?.name else { continue }
            let found = keys.attributes[index]
            let isClaimed = allKeys.contains { $0 != key && found.spellings.contains([$0]) }
            if isClaimed || found.path() != [key] || !found.spellings.contains([key]) {
                Self.annotate(&attributes[index].userInfo, with: key, isLiteral: isClaimed)
            }
        }
        for index in relationships.indices {
            guard let key = relationships[index].property?.name else { continue }
            let name = relationships[index].name
            let snake = JSONKey.snakeCase(name) ?? name
            let claims = EntityKeys.spellings(of: name, isToMany: relationships[index].isToMany)
            if key != snake || allKeys.contains(where: { $0 != key && claims.contains($0) }) {
                Self.annotate(&relationships[index].userInfo, with: key, isLiteral: false)
            }
        }
    }

    /// Annotates a property with its key.
    ///
    /// - Parameter isLiteral: Whether the property is read from no other key.
    private static func annotate(_ userInfo: inout [String: String], with key: String, isLiteral: Bool) {
        let isPlain = !isLiteral && !key.isEmpty && !key.contains(".")
        userInfo[isPlain ? "sync.remoteKey" : JSONDialect.literalKeyAnnotation] = key
    }

    /// The entity of the model.
    func entity(named names: [String]) -> SyncEntity {
        var userInfo = [SyncEntity.inferredAnnotation: "true"]
        if identity.isEmpty { userInfo[JSONDialect.identityAnnotation] = SyncEntity.noIdentity }
        return SyncEntity(
            name, identity: identity, within: identityScope, attributes: attributes.map(\.attribute),
            relationships: relationships.map { $0.relationship(to: names[$0.destination]) }, userInfo: userInfo)
    }
}

/// An attribute of a ``DraftEntity``.
struct DraftAttribute {
    let name: String
    let type: AttributeType
    /// The sample's values under the key; nil for an attribute without a key.
    let property: ShapeProperty?
    var userInfo: [String: String]
    var isOptional = true

    init(_ property: ShapeProperty, name: String, type: InferredType) {
        self.name = name
        self.type = type.type
        self.property = property
        userInfo = type.userInfo
    }

    /// Creates an attribute without a key.
    init(name: String, type: AttributeType, userInfo: [String: String]) {
        self.name = name
        self.type = type
        self.userInfo = userInfo
        property = nil
    }

    var attribute: SyncAttribute {
        SyncAttribute(name, type, optional: isOptional, userInfo: userInfo)
    }
}

/// A relationship of a ``DraftEntity``.
struct DraftRelationship {
    let name: String
    /// The index of the destination entity.
    let destination: Int
    let isToMany: Bool
    /// Whether the relationship is not in the sample.
    let isInverse: Bool
    /// The sample's values under the key; nil for an inverse.
    let property: ShapeProperty?
    var inverse: String?
    var isOwning = false
    var userInfo: [String: String] = [:]

    init(_ property: ShapeProperty, name: String, destination: Int, isToMany: Bool) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.property = property
        isInverse = false
    }

    /// Creates the inverse of a relationship, which is not in the sample.
    init(inverse name: String, of relationship: DraftRelationship, to destination: Int, isToMany: Bool) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        property = nil
        isInverse = true
        inverse = relationship.name
        userInfo = [JSONDialect.unmappedAnnotation: "YES"]
    }

    func relationship(to destination: String) -> SyncRelationship {
        let rule: SyncRelationship.DeleteRule = isOwning ? .cascade : .nullify
        var relationship =
            isToMany
            ? SyncRelationship(
                name, toMany: destination, inverse: inverse, deleteRule: rule, owns: isOwning ? true : nil,
                userInfo: userInfo)
            : SyncRelationship(
                name, toOne: destination, inverse: inverse, deleteRule: rule, owns: isOwning ? true : nil,
                userInfo: userInfo)
        relationship.isOrdered = isToMany && !isInverse
        return relationship
    }
}
