/// The declaration of an entity: its own properties, and the name of its parent.
///
/// A `DataModel` resolves it to an `EntityLayout`, which includes the inherited properties.
public struct SyncEntity: Hashable, Sendable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the parent entity; nil for a root entity.
    public var parent: String?
    /// Whether the entity has no objects of its own, only objects of sub-entities.
    public var isAbstract: Bool
    /// The names of the attributes that the entity adds to the identity of its parent.
    ///
    /// The values of an identity distinguish objects. An entity has no identity if neither it nor
    /// an ancestor names an attribute.
    public var identity: [String]
    /// The to-one relationship to the parent object within which the identity is unique.
    ///
    /// An example is the order of an order line. The relationship must have an inverse, which leads
    /// to the objects of a parent. Nil for an identity that is unique in the whole store.
    /// Sub-entities inherit the scope. It is stored as the annotation `sync.identityScope`, so that
    /// model files contain it.
    public var identityScope: String? {
        get { userInfo["sync.identityScope"] }
        set { userInfo["sync.identityScope"] = newValue }
    }
    /// The attributes that the entity itself declares, in order.
    public var attributes: [SyncAttribute]
    /// The relationships that the entity itself declares, in order.
    public var relationships: [SyncRelationship]
    /// The indexes of own and inherited attributes, in addition to the index of the identity.
    public var indexes: [SyncEntity.Index] = []
    /// The entity's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store that holds the earlier version finds its data by this name.
    public var formerName: String?
    /// Annotations, as in the user info of a model file.
    public var userInfo: [String: String]

    /// Creates the declaration of an entity from lists of properties.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - parent: The name of the parent entity; nil by default.
    ///   - abstract: Whether only objects of sub-entities exist; false by default.
    ///   - identity: The names of the attributes, own or inherited, that the entity adds to the
    ///     identity; empty by default.
    ///   - identityScope: The to-one relationship, with an inverse, to the object within which the
    ///     identity is unique; nil, the default, for an identity that is unique in the whole store.
    ///   - attributes: The attributes that the entity itself declares.
    ///   - relationships: The relationships that the entity itself declares.
    ///   - userInfo: Annotations; empty by default.
    public init(
        _ name: String, parent: String? = nil, abstract: Bool = false, identity: [String] = [],
        within identityScope: String? = nil, attributes: [SyncAttribute], relationships: [SyncRelationship],
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = abstract
        self.identity = identity
        self.attributes = attributes
        self.relationships = relationships
        self.userInfo = userInfo
        if identityScope != nil { self.identityScope = identityScope }
    }

    /// Creates the declaration of an entity with its properties in a result-builder closure.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - parent: The name of the parent entity; nil by default.
    ///   - abstract: Whether only objects of sub-entities exist; false by default.
    ///   - identity: The names of the attributes, own or inherited, that the entity adds to the
    ///     identity; none by default.
    ///   - identityScope: The to-one relationship, with an inverse, to the object within which the
    ///     identity is unique; nil, the default, for an identity that is unique in the whole store.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    ///   - properties: The attributes and relationships that the entity itself declares.
    public init(
        _ name: String, parent: String? = nil, abstract: Bool = false, identity: String...,
        within identityScope: String? = nil, formerName: String? = nil, userInfo: [String: String] = [:],
        @DataModel.Builder<SyncEntity.Property> properties: () -> [SyncEntity.Property]
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
            attributes: attributes, relationships: relationships, userInfo: userInfo)
        self.formerName = formerName
    }
}
