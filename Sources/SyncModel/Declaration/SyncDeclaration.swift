/// A type's statements about its entity, in addition to its properties.
///
///     static let declaration = SyncDeclaration<User>(
///         .identity(\.number), .toMany(\.notes, inverse: \.author, deleteRule: .cascade),
///         .attribute(\.createdAt, remoteKey: "created"), .unique(\.email))
public struct SyncDeclaration<Root: SyncObject>: Sendable {
    /// One statement of a declaration.
    public struct Part: Sendable {
        let apply: @Sendable (inout EntityDraft<Root>) throws -> Void
    }

    /// The name of the entity.
    public let entity: String
    let parts: [Part]

    /// Creates the declaration of an entity with the name of the type.
    ///
    /// - Parameter parts: The statements, in any order.
    public init(_ parts: Part...) {
        entity = "\(Root.self)"
        self.parts = parts
    }

    /// Creates the declaration of an entity with an explicit name.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - parts: The statements, in any order.
    public init(_ entity: String, _ parts: Part...) {
        self.entity = entity
        self.parts = parts
    }
}

extension SyncDeclaration.Part {
    /// The properties whose values identify an object in the whole store.
    ///
    /// Without this statement, an attribute `id` is the identity.
    ///
    /// - Parameter properties: Attributes. Without any, objects have no identity, also if they have
    ///   an attribute `id`: they belong to the object that they are nested in. A parent's identity
    ///   stays.
    public static func identity(_ properties: (any PartialKeyPath<Root> & Sendable)...) -> Self {
        Self { draft in draft.declaredIdentity = try properties.map { try draft.shape.name(of: $0) } }
    }

    /// The properties whose values identify an object within another one.
    ///
    /// - Parameters:
    ///   - properties: Attributes, at least one unless the parent entity has some.
    ///   - scope: The to-one relationship, with an inverse, to the object within which the identity
    ///     is unique.
    public static func identity(
        _ properties: (any PartialKeyPath<Root> & Sendable)..., within scope: any PartialKeyPath<Root> & Sendable
    ) -> Self {
        Self { draft in
            draft.declaredIdentity = try properties.map { try draft.shape.name(of: $0) }
            draft.scope = try draft.shape.name(of: scope)
        }
    }

    /// A relationship to at most one object, with the facts that its property does not state.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - inverse: The property of the related type that leads back; nil, the default, for none.
    ///     One of the two types has to name it.
    ///   - deleteRule: The effect of an object's deletion on the related object.
    ///   - ownsTargets: Whether the related object belongs to this one; nil, the default, lets the
    ///     model decide.
    ///   - remoteKey: The key in JSON; nil, the default, for the one that the name implies.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public static func toOne<Value: ObjectParts.RelatedValue, Back: ObjectParts.RelatedValue>(
        _ property: any KeyPath<Root, Value> & Sendable,
        inverse: any KeyPath<Value.Object, Back> & Sendable,
        deleteRule: SyncRelationship.DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        remoteKey: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:]
    ) -> Self where Back.Object == Root {
        relationship(
            property, isToMany: false, inverse: { try ObjectShape<Value.Object>.shared().name(of: inverse) },
            isOrdered: false, deleteRule, ownsTargets, remoteKey, formerName, userInfo)
    }

    /// A relationship to at most one object, without an inverse.
    public static func toOne<Value: ObjectParts.RelatedValue>(
        _ property: any KeyPath<Root, Value> & Sendable,
        deleteRule: SyncRelationship.DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        remoteKey: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:]
    ) -> Self {
        relationship(
            property, isToMany: false, inverse: nil, isOrdered: false, deleteRule, ownsTargets, remoteKey, formerName,
            userInfo)
    }

    /// A relationship to any number of objects, with the facts that its property does not state.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - inverse: The property of the related type that leads back. One of the two types has to
    ///     name it.
    ///   - ordered: Whether the order of the related objects is kept; false by default.
    ///   - deleteRule: The effect of an object's deletion on the related objects.
    ///   - ownsTargets: Whether the related objects belong to this one; nil, the default, lets the
    ///     model decide.
    ///   - remoteKey: The key in JSON; nil, the default, for the one that the name implies.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public static func toMany<Value: ObjectParts.RelatedValue, Back: ObjectParts.RelatedValue>(
        _ property: any KeyPath<Root, Value> & Sendable,
        inverse: any KeyPath<Value.Object, Back> & Sendable, ordered: Bool = false,
        deleteRule: SyncRelationship.DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        remoteKey: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:]
    ) -> Self where Back.Object == Root {
        relationship(
            property, isToMany: true, inverse: { try ObjectShape<Value.Object>.shared().name(of: inverse) },
            isOrdered: ordered, deleteRule, ownsTargets, remoteKey, formerName, userInfo)
    }

    /// A relationship to any number of objects, without an inverse.
    public static func toMany<Value: ObjectParts.RelatedValue>(
        _ property: any KeyPath<Root, Value> & Sendable, ordered: Bool = false,
        deleteRule: SyncRelationship.DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        remoteKey: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:]
    ) -> Self {
        relationship(
            property, isToMany: true, inverse: nil, isOrdered: ordered, deleteRule, ownsTargets, remoteKey, formerName,
            userInfo)
    }

    private static func relationship(
        _ property: any PartialKeyPath<Root> & Sendable, isToMany: Bool, inverse: (@Sendable () throws -> String)?,
        isOrdered: Bool, _ deleteRule: SyncRelationship.DeleteRule, _ ownsTargets: Bool?, _ remoteKey: String?,
        _ formerName: String?, _ userInfo: [String: String]
    ) -> Self {
        Self { draft in
            let name = try draft.shape.name(of: property)
            try draft.changeRelationship(name) { relationship throws(SyncDeclarationError) in
                guard relationship.isToMany == isToMany else {
                    throw .wrongCardinality(
                        type: "\(Root.self)", property: name, isToMany: relationship.isToMany)
                }
                relationship.isOrdered = isOrdered
                relationship.deleteRule = deleteRule
                relationship.userInfo = userInfo
                if ownsTargets != nil { relationship.ownsTargets = ownsTargets }
                if let remoteKey { relationship.userInfo[SyncEntity.remoteKeyAnnotation] = remoteKey }
                relationship.formerName = formerName
            }
            if let inverse { draft.setInverse(of: name, to: try inverse()) }
        }
    }

    /// An attribute, with the facts that its property does not state.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - type: The type of the attribute; nil, the default, for the type that the property
    ///     implies.
    ///   - defaultValue: The value of an object for which the JSON has none.
    ///   - allowedValues: The values that the attribute may have. Nil, the default, for the raw
    ///     values of a `CaseIterable` enum, and for any value that another type can hold. Empty for
    ///     any value of the attribute's type.
    ///   - remoteKey: The key in JSON, or a dotted path into nested objects; nil, the default, for
    ///     the one that the name implies.
    ///   - transformer: The name of a registered transformer between JSON and the value; nil by
    ///     default. A closure after the property needs no name.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public static func attribute<Value>(
        _ property: any KeyPath<Root, Value> & Sendable, type: AttributeType? = nil,
        default defaultValue: AttributeValue = .null, allowedValues: [AttributeValue]? = nil,
        remoteKey: String? = nil, transformer: String? = nil, formerName: String? = nil,
        userInfo: [String: String] = [:]
    ) -> Self {
        Self { draft in
            try draft.changeAttribute(try draft.shape.name(of: property)) { attribute in
                if let type { attribute.type = type }
                attribute.defaultValue = defaultValue
                let known = attribute.allowedValues.compactMap(attribute.type.fitted)
                attribute.userInfo = userInfo
                let isStated = allowedValues != nil || userInfo[SyncAttribute.allowedValuesAnnotation] != nil
                if isStated { attribute.typeLimits = SyncAttribute.TypeLimits() }
                if let values = allowedValues ?? (isStated ? nil : known) { attribute.allowedValues = values }
                if let remoteKey { attribute.userInfo[SyncEntity.remoteKeyAnnotation] = remoteKey }
                attribute.transformerName = transformer
                attribute.formerName = formerName
            }
        }
    }

    /// An attribute with a conversion that a higher layer carries out.
    ///
    /// The name of its transformer is that of the property, after that of the entity.
    package static func attribute(
        _ property: any PartialKeyPath<Root> & Sendable, default defaultValue: AttributeValue, remoteKey: String?,
        formerName: String?, accompaniedBy conversion: any Sendable
    ) -> Self {
        Self { draft in
            let name = try draft.shape.name(of: property)
            let transformer = "\(Root.entityName).\(name)"
            draft.conversions[transformer] = conversion
            try draft.changeAttribute(name) { attribute in
                attribute.defaultValue = defaultValue
                if let remoteKey { attribute.userInfo[SyncEntity.remoteKeyAnnotation] = remoteKey }
                attribute.transformerName = transformer
                attribute.formerName = formerName
            }
        }
    }

    /// An index for conditions and orderings by some attributes.
    ///
    /// - Parameters:
    ///   - properties: The attributes, the most important first.
    ///   - condition: The objects in the index: comparisons of the object's own attributes, joined
    ///     by `&&`. Nil, the default, for all.
    public static func index(
        _ properties: (any PartialKeyPath<Root> & Sendable)..., where condition: ObjectPredicate<Root>? = nil
    ) -> Self {
        index(properties, isUnique: false, condition)
    }

    /// A unique index: no two objects may have the same values in it; null equals nothing.
    ///
    /// - Parameters:
    ///   - properties: The attributes, the most important first.
    ///   - condition: The objects in the index: comparisons of the object's own attributes, joined
    ///     by `&&`. Nil, the default, for all.
    public static func unique(
        _ properties: (any PartialKeyPath<Root> & Sendable)..., where condition: ObjectPredicate<Root>? = nil
    ) -> Self {
        index(properties, isUnique: true, condition)
    }

    private static func index(
        _ properties: [any PartialKeyPath<Root> & Sendable], isUnique: Bool, _ condition: ObjectPredicate<Root>?
    ) -> Self {
        Self { draft in
            draft.indexes.append(
                SyncEntity.Index(
                    try properties.map { try draft.shape.name(of: $0) }, unique: isUnique,
                    where: try condition?.recordPredicate()))
        }
    }

    /// The type of the parent entity. The type of a sub-entity has the parent's properties as well.
    public static func parent<Parent: SyncObject>(_ type: Parent.Type) -> Self {
        Self { draft in
            draft.parent = Parent.self
            draft.inherited = try Parent.declaredNames()
            draft.inheritedIdentity = try Parent.declaredIdentity()
        }
    }

    /// Only objects of sub-entities exist.
    public static var abstract: Self {
        Self { $0.isAbstract = true }
    }

    /// Annotations of the entity.
    public static func userInfo(_ userInfo: [String: String]) -> Self {
        Self { $0.userInfo = userInfo }
    }

    /// The name of the entity in an earlier version of the model.
    public static func formerEntity(_ name: String) -> Self {
        Self { $0.formerName = name }
    }
}
