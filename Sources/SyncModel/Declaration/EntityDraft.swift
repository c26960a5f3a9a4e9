/// An entity to which the parts of a declaration are applied.
struct EntityDraft<Root: SyncObject> {
    let shape: ObjectShape<Root>
    /// The declared identity; nil if the declaration states none.
    var declaredIdentity: [String]?
    var scope: String?
    var formerName: String?
    var parent: (any SyncObject.Type)?
    /// The names of the properties that the parent declares or inherits.
    var inherited: Set<String> = []
    /// The names of the properties that identify the parent's objects.
    var inheritedIdentity: Set<String> = []
    var isAbstract = false
    var userInfo: [String: String] = [:]
    var indexes: [SyncEntity.Index] = []
    /// The conversions that attributes state as closures, by the name of the transformer.
    var conversions: [String: any Sendable] = [:]
    private var attributes: [SyncAttribute] = []
    private var relationships: [SyncRelationship] = []

    init(_ shape: ObjectShape<Root>) {
        self.shape = shape
        for property in shape.properties {
            switch property.content {
            case .attribute(let type):
                attributes.append(property.attribute(type))
            case .related(let type, let isToMany):
                relationships.append(
                    isToMany
                        ? SyncRelationship(property.name, toMany: type.entityName)
                        : SyncRelationship(property.name, toOne: type.entityName, optional: property.isOptional))
            }
        }
    }

    /// The names of the properties that identify the objects: `id` unless the declaration or the
    /// parent states others.
    var identity: [String] {
        if let declaredIdentity { return declaredIdentity }
        return inheritedIdentity.isEmpty && attributes.contains { $0.name == SyncEntity.usualIdentity }
            ? [SyncEntity.usualIdentity] : []
    }

    mutating func changeAttribute(
        _ name: String, _ body: (inout SyncAttribute) -> Void
    ) throws(SyncDeclarationError) {
        guard let index = attributes.firstIndex(where: { $0.name == name }) else {
            throw .notAnAttribute(type: "\(Root.self)", property: name)
        }
        body(&attributes[index])
    }

    mutating func changeRelationship(
        _ name: String, _ body: (inout SyncRelationship) throws(SyncDeclarationError) -> Void
    ) throws(SyncDeclarationError) {
        guard let index = relationships.firstIndex(where: { $0.name == name }) else {
            throw .notARelationship(type: "\(Root.self)", property: name)
        }
        try body(&relationships[index])
    }

    mutating func setInverse(of name: String, to inverse: String) {
        for index in relationships.indices where relationships[index].name == name {
            relationships[index].inverse = inverse
        }
    }

    /// The annotations, with the statement that objects have no identity.
    ///
    /// Without it, a mapping would find an identity by convention.
    private var annotations: [String: String] {
        guard declaredIdentity == [], scope == nil, inheritedIdentity.isEmpty else { return userInfo }
        return userInfo.merging([SyncEntity.identityAnnotation: SyncEntity.noIdentity]) { $1 }
    }

    func entity(named name: String) -> SyncEntity {
        var entity = SyncEntity(
            name, parent: parent?.entityName, abstract: isAbstract,
            identity: identity.filter { !inheritedIdentity.contains($0) },
            within: scope, attributes: attributes.filter { !inherited.contains($0.name) },
            relationships: relationships.filter { !inherited.contains($0.name) }, userInfo: annotations)
        entity.formerName = formerName
        entity.indexes = indexes
        return entity
    }
}

extension ObjectProperty {
    /// The attribute of the property, which is of a type.
    fileprivate func attribute(_ attributeType: AttributeType) -> SyncAttribute {
        var attribute = SyncAttribute(name, attributeType, optional: isOptional)
        guard !parts.isEmpty else { return attribute }
        attribute.typeLimits.type = type
        if isSingleValue, !cases.isEmpty {
            attribute.allowedValues = cases.compactMap(attributeType.fitted)
        } else {
            attribute.typeLimits.parts = cases + parts.map { .string($0) }
        }
        return attribute
    }
}

extension SyncObject {
    /// The name of the type's entity.
    public static var entityName: String { declaration.entity }

    /// The entity that the type declares.
    ///
    /// Only one side of an inverse pair may name the other; `DataModel` completes the other side.
    ///
    /// - Throws: ``SyncDeclarationError``.
    package static func declaredEntity() throws -> SyncEntity {
        try draft().entity(named: entityName)
    }

    /// The conversions that attributes state as closures, by the name of the transformer.
    static func declaredConversions() throws -> [String: any Sendable] {
        try draft().conversions
    }

    /// The types of the parent and of the related objects.
    package static func relatedTypes() throws -> [any SyncObject.Type] {
        let related: [any SyncObject.Type] = try ObjectShape<Self>.shared().properties.compactMap { property in
            if case .related(let type, _) = property.content { type } else { nil }
        }
        return try (draft().parent.map { [$0] } ?? []) + related
    }

    /// The names of the properties that the type declares or inherits.
    static func declaredNames() throws -> Set<String> {
        Set(try ObjectShape<Self>.shared().properties.map(\.name))
    }

    /// The names of the properties that identify the objects of the type.
    static func declaredIdentity() throws -> Set<String> {
        let draft = try draft()
        return draft.inheritedIdentity.union(draft.identity)
    }

    private static func draft() throws -> EntityDraft<Self> {
        var draft = EntityDraft(try ObjectShape<Self>.shared())
        for part in declaration.parts { try part.apply(&draft) }
        return draft
    }
}

extension SyncEntity {
    /// The attribute that is the identity of a type that declares none.
    static let usualIdentity = "id"
    /// The annotation of a property's key in JSON.
    package static let remoteKeyAnnotation = "sync.remoteKey"
    /// The annotation of an entity whose objects have no identity, whatever the names of its
    /// attributes. Its value is ``noIdentity``.
    package static let identityAnnotation = "sync.identity"
    /// The value of ``identityAnnotation``.
    package static let noIdentity = "none"
}
