/// The declaration of a kind of object: the properties that it adds to its parent entity.
///
/// ``EntityLayout`` has all properties, including inherited ones.
public struct SyncEntity: Hashable, Sendable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the parent entity; nil for a root entity.
    public var parent: String?
    /// Whether only objects of sub-entities exist.
    public var isAbstract: Bool
    /// The names of the attributes that identify objects, in addition to the parent's.
    ///
    /// An entity without any identity attribute has no identity.
    public var identity: [String]
    /// The name of the to-one relationship that leads to the parent object within which the
    /// identity is unique, such as the order of an order line; nil for an identity of the whole
    /// store.
    ///
    /// Sub-entities inherit it. Kept as the annotation `sync.identityScope`, so that model files
    /// have it.
    public var identityScope: String? {
        get { userInfo["sync.identityScope"] }
        set { userInfo["sync.identityScope"] = newValue }
    }
    /// The attributes that this entity declares, in order.
    public var attributes: [SyncAttribute]
    /// The relationships that this entity declares, in order.
    public var relationships: [SyncRelationship]
    /// The entity's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store finds the data of the earlier version by this name.
    public var formerName: String?
    /// The annotations of a model file.
    public var userInfo: [String: String]

    /// Creates an entity from lists of its properties.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - parent: The name of the entity it inherits from.
    ///   - abstract: Whether only objects of its sub-entities exist; false by default.
    ///   - identity: The names of the attributes, own or inherited, that it adds to the identity.
    ///   - identityScope: The to-one relationship to the object within which the identity is
    ///     unique; nil, the default, for an identity of the whole store.
    ///   - attributes: The attributes it declares itself.
    ///   - relationships: The relationships it declares itself.
    ///   - formerName: The name it had in an earlier version of the model.
    ///   - userInfo: Annotations.
    public init(
        _ name: String, parent: String? = nil, abstract: Bool = false, identity: [String] = [],
        within identityScope: String? = nil, attributes: [SyncAttribute], relationships: [SyncRelationship],
        formerName: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = abstract
        self.identity = identity
        self.attributes = attributes
        self.relationships = relationships
        self.formerName = formerName
        self.userInfo = userInfo
        if identityScope != nil { self.identityScope = identityScope }
    }

    /// Creates an entity with its attributes and relationships written out below it.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - parent: The name of the entity it inherits from.
    ///   - abstract: Whether only objects of its sub-entities exist; false by default.
    ///   - identity: The names of the attributes, own or inherited, that it adds to the identity.
    ///   - identityScope: The to-one relationship to the object within which the identity is
    ///     unique; nil, the default, for an identity of the whole store.
    ///   - formerName: The name it had in an earlier version of the model.
    ///   - userInfo: Annotations.
    ///   - properties: The attributes and relationships it declares itself.
    public init(
        _ name: String, parent: String? = nil, abstract: Bool = false, identity: String...,
        within identityScope: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:],
        @ModelBuilder<SyncEntity.Property> properties: () -> [SyncEntity.Property]
    ) {
        var attributes: [SyncAttribute] = []
        var relationships: [SyncRelationship] = []
        for property in properties() {
            switch property {
            case .attribute(let attribute): attributes.append(attribute)
            case .relationship(let relationship): relationships.append(relationship)
            }
        }
        self.init(
            name, parent: parent, abstract: abstract, identity: identity, within: identityScope,
            attributes: attributes, relationships: relationships, formerName: formerName, userInfo: userInfo)
    }
}
