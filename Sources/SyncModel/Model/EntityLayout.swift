/// An entity with all its properties, including inherited ones, at fixed indices.
///
/// The index of an attribute is its *slot*. A parent's properties come first, at the same indices as in
/// the parent's layout, so that a slot is valid in all sub-entities. A `DataModel` creates the layouts,
/// which never change.
public final class EntityLayout: Sendable {
    /// The declaration of the entity.
    public let entity: SyncEntity
    /// The index in the model's `layouts`.
    public let index: Int
    /// The index of the parent entity; nil for a root entity.
    public let parent: Int?
    /// The index of the topmost ancestor; the entity's own index for a root entity.
    public let root: Int
    /// The indices of the entity and of all entities that inherit from it, each after its parent.
    public let family: [Int]
    /// All attributes by slot: those of the parent, then its own.
    public let attributes: [SyncAttribute]
    /// All relationships by index: those of the parent, then its own.
    public let relationships: [RelationshipLayout]
    /// The slots of the attributes that identify an object in the whole store, the parent entity's
    /// first.
    ///
    /// Empty for an entity without an identity, and for one whose identity is scoped.
    public let identitySlots: [Int]
    /// The slots of the attributes that identify an object among those of one parent object.
    ///
    /// Empty unless the entity has an ``identityScope``.
    public let scopedIdentitySlots: [Int]
    /// The index of the to-one relationship that leads to the parent object within which identities
    /// are unique; nil for an identity of the whole store.
    public let identityScope: Int?

    private let slots: [String: Int]
    private let relationshipIndices: [String: Int]

    init(
        entity: SyncEntity, index: Int, parent: Int?, root: Int, family: [Int], attributes: [SyncAttribute],
        relationships: [RelationshipLayout], identitySlots: [Int], identityScope: Int?
    ) {
        self.entity = entity
        self.index = index
        self.parent = parent
        self.root = root
        self.family = family
        self.attributes = attributes
        self.relationships = relationships
        self.identitySlots = identityScope == nil ? identitySlots : []
        scopedIdentitySlots = identityScope == nil ? [] : identitySlots
        self.identityScope = identityScope
        slots = Dictionary(uniqueKeysWithValues: attributes.enumerated().map { ($1.name, $0) })
        relationshipIndices = Dictionary(uniqueKeysWithValues: relationships.enumerated().map { ($1.name, $0) })
    }

    /// The name of the entity.
    public var name: String {
        entity.name
    }

    /// Whether only objects of sub-entities exist.
    public var isAbstract: Bool {
        entity.isAbstract
    }

    /// Whether objects have an identity in the whole store.
    public var hasIdentity: Bool {
        !identitySlots.isEmpty
    }

    /// Returns the slot of an attribute, or nil if there is no such attribute.
    public func slot(of attribute: String) -> Int? {
        slots[attribute]
    }

    /// Returns a relationship, or nil if there is no such relationship.
    public func relationship(_ name: String) -> RelationshipLayout? {
        relationshipIndices[name].map { relationships[$0] }
    }

    /// Returns whether the entity is another entity or inherits from it.
    public func isKind(of other: EntityLayout) -> Bool {
        other.family.contains(index)
    }
}

/// A relationship with resolved indices.
public struct RelationshipLayout: Hashable, Sendable {
    /// The relationship as it was declared.
    public let declaration: SyncRelationship
    /// Its place in the `relationships` of the entity that declares it, and of all that inherit it.
    public let index: Int
    /// The index in the model of the entity that declares it.
    public let source: Int
    /// The index in the model of the entity it leads to.
    public let destination: Int
    /// The place of the inverse in the destination's `relationships`; nil where there is none.
    public let inverse: Int?
    /// Whether the related objects belong to the object that is related to them.
    ///
    /// An owned object is deleted when it loses its place in the relationship, and when its owner
    /// is deleted. A relationship owns its targets if its declaration says so. Without a word from
    /// the declaration it does if the targets have no identity, unless it leads back to the owner.
    public let isOwning: Bool

    /// What identifies the relationship in its model, inherited or not.
    package struct ID: Hashable, Comparable, Sendable {
        /// The index in the model of the entity that declares it.
        package let source: Int
        /// Its index in that entity's relationships.
        package let index: Int

        /// Whether one relationship is declared before the other.
        package static func < (one: ID, other: ID) -> Bool {
            (one.source, one.index) < (other.source, other.index)
        }
    }

    /// What identifies the relationship in its model, the same in every entity that inherits it.
    package var id: ID {
        ID(source: source, index: index)
    }

    /// The relationship's name.
    public var name: String {
        declaration.name
    }

    /// Whether it relates to many objects rather than to at most one.
    public var isToMany: Bool {
        declaration.isToMany
    }

    /// Whether the related objects have an order that is kept.
    public var isOrdered: Bool {
        declaration.isOrdered
    }
}
