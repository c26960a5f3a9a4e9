/// An entity resolved in its model, with declared and inherited properties at fixed positions.
///
/// Code that runs once per object uses positions instead of names: the *column* of an attribute and
/// the *index* of a relationship. A parent's properties come first, at the same positions as in the
/// parent's own layout. A column of an entity is therefore valid in all of its sub-entities. A
/// `DataModel` creates its layouts. They are immutable, and stay valid as long as they are
/// referenced.
public final class EntityLayout: Sendable {
    /// The entity as declared.
    public let entity: SyncEntity
    /// The entity's index in the model's `layouts`.
    public let index: Int
    /// The index of the parent entity in the model; nil for a root entity.
    public let parent: Int?
    /// The index of the topmost ancestor in the model; the entity's own index for a root entity.
    public let root: Int
    /// The indices of the entity and of all its descendants, each after its parent.
    public let family: [Int]
    /// All attributes by column: inherited attributes first.
    public let attributes: [SyncAttribute]
    /// All relationships by index: inherited relationships first.
    public let relationships: [EntityLayout.Relationship]
    /// The columns of the attributes whose values identify an object in the whole store, inherited
    /// ones first.
    ///
    /// Empty for an entity without an identity, or with a scoped identity.
    public let identityColumns: [Int]
    /// The columns of the attributes whose values identify an object within its parent object.
    ///
    /// Empty unless the entity has an ``identityScope``.
    public let scopedIdentityColumns: [Int]
    /// The index of the to-one relationship to the parent object within which identities are
    /// unique.
    ///
    /// Nil if identities are unique in the whole store, or the entity has no identity.
    public let identityScope: Int?

    private let columns: [String: Int]
    private let relationshipIndices: [String: Int]

    init(
        entity: SyncEntity, index: Int, parent: Int?, root: Int, family: [Int], attributes: [SyncAttribute],
        relationships: [EntityLayout.Relationship], identityColumns: [Int], identityScope: Int?
    ) {
        self.entity = entity
        self.index = index
        self.parent = parent
        self.root = root
        self.family = family
        self.attributes = attributes
        self.relationships = relationships
        self.identityColumns = identityScope == nil ? identityColumns : []
        scopedIdentityColumns = identityScope == nil ? [] : identityColumns
        self.identityScope = identityScope
        columns = Dictionary(uniqueKeysWithValues: attributes.enumerated().map { ($1.name, $0) })
        relationshipIndices = Dictionary(uniqueKeysWithValues: relationships.enumerated().map { ($1.name, $0) })
    }

    /// The name of the entity.
    public var name: String {
        entity.name
    }

    /// The columns of the attributes whose values identify an object, in the whole store or within
    /// its parent object.
    package var keyColumns: [Int] {
        identityScope == nil ? identityColumns : scopedIdentityColumns
    }

    /// Whether the entity has no objects of its own, only objects of sub-entities.
    public var isAbstract: Bool {
        entity.isAbstract
    }

    /// Whether attribute values identify an object in the whole store; false for a scoped identity.
    public var hasIdentity: Bool {
        !identityColumns.isEmpty
    }

    /// Returns the column of a declared or inherited attribute, or nil if no attribute has the
    /// name.
    public func column(of attribute: String) -> Int? {
        columns[attribute]
    }

    /// Returns a declared or inherited relationship, or nil if no relationship has the name.
    public func relationship(_ name: String) -> EntityLayout.Relationship? {
        relationshipIndices[name].map { relationships[$0] }
    }

    /// Returns whether the entity is another entity or descends from it.
    public func isKind(of other: EntityLayout) -> Bool {
        other.family.contains(index)
    }
}

extension EntityLayout {
    /// A relationship resolved in its model, with its destination and inverse.
    public struct Relationship: Hashable, Sendable {
        /// The relationship as declared.
        public let declaration: SyncRelationship
        /// The index in the `relationships` of the declaring entity and of its descendants.
        public let index: Int
        /// The index in the model of the entity that declares the relationship.
        public let source: Int
        /// The index in the model of the destination entity.
        public let destination: Int
        /// The index of the inverse in the destination's `relationships`; nil if there is none.
        public let inverse: Int?
        /// Whether the related objects belong to the object that is related to them.
        ///
        /// An owned object is deleted when it is removed from the relationship, and when its owner
        /// is deleted. If several relationships own it, a sync keeps it as long as its payload
        /// contains the object in one of them. The declaration can state ownership with
        /// ``SyncRelationship/ownsTargets``.
        /// By default, a relationship owns its targets if they have no identity, unless it leads
        /// back to their owner. Objects that are identified within a parent belong to that parent
        /// only.
        public let isOwning: Bool
        /// Whether an owned object can have several owners: the inverse is to-many.
        ///
        /// Such an object is deleted with its last owner, or when the last one lets it go.
        public let sharesTargets: Bool

        /// The effect of an object's deletion on its related objects.
        ///
        /// It is the declared rule, except that an owning relationship cascades where `nullify` is
        /// declared.
        public var deleteRule: SyncRelationship.DeleteRule {
            isOwning && declaration.deleteRule == .nullify ? .cascade : declaration.deleteRule
        }

        /// An identifier of a relationship in its model, the same in every entity that inherits it.
        package struct ID: Hashable, Comparable, Sendable {
            /// The index in the model of the entity that declares the relationship.
            package let source: Int
            /// The index of the relationship in that entity's relationships.
            package let index: Int

            /// Returns whether one relationship is declared before another.
            package static func < (one: ID, other: ID) -> Bool {
                (one.source, one.index) < (other.source, other.index)
            }
        }

        /// The identifier of the relationship in its model, the same in every entity that inherits
        /// it.
        package var id: ID {
            ID(source: source, index: index)
        }

        /// The relationship's name.
        public var name: String {
            declaration.name
        }

        /// Whether the relationship leads to any number of objects instead of at most one.
        public var isToMany: Bool {
            declaration.isToMany
        }

        /// Whether the order of the related objects is kept.
        public var isOrdered: Bool {
            declaration.isOrdered
        }
    }
}
