extension SyncRelationship {
    /// What happens to the related objects when an object is deleted.
    public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
        /// They are related to nothing from then on.
        case nullify
        /// They are deleted as well, their own delete rules applied.
        case cascade
        /// The deletion is refused as long as there are any.
        case deny
        /// They are left as they are; the relationship is taken off all the same, since a store
        /// keeps no dangling reference.
        case noAction
    }
}

/// A property of an entity that relates its objects to those of an entity.
public struct SyncRelationship: Hashable, Sendable {
    /// The name, unique among the attributes and relationships of the entity, inherited ones
    /// included.
    public var name: String
    /// The name of the entity whose objects (or those of its sub-entities) are related.
    public var destination: String
    /// Whether it relates to many objects rather than to at most one.
    public var isToMany: Bool
    /// Whether the related objects have an order that is kept. Only a to-many relationship can be
    /// ordered.
    public var isOrdered: Bool
    /// The name of the relationship of `destination` that leads back; nil where there is none.
    public var inverse: String?
    /// What happens to the related objects when an object is deleted.
    public var deleteRule: SyncRelationship.DeleteRule
    /// Whether the related objects belong to this object and are deleted with the relationship to
    /// it.
    ///
    /// Nil, the default, lets the model decide: objects of an entity without an identity belong to
    /// the object that they are nested in. See ``RelationshipLayout/isOwning``.
    ///
    /// Kept as the annotation `sync.owned`, `YES` or `NO`, so that model files have it.
    public var ownsTargets: Bool? {
        get { userInfo["sync.owned"].map { $0 == "YES" || $0 == "true" } }
        set { userInfo["sync.owned"] = newValue.map { $0 ? "YES" : "NO" } }
    }
    /// Whether it may relate to nothing. Checked where objects are mapped, not by a store.
    public var isOptional: Bool
    /// The name that the relationship had in an earlier version of the model, by which a store that
    /// holds that version finds its data; nil where it was not renamed.
    public var formerName: String?
    /// Annotations, as they stand in a model file.
    public var userInfo: [String: String]

    /// Creates a relationship to at most one object.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - destination: The name of the related entity.
    ///   - inverse: The relationship of `destination` that leads back, which must name this one as
    ///     its inverse.
    ///   - deleteRule: What happens to the related object on deletion; nullify by default.
    ///   - ownsTargets: Whether the related objects belong to this one; nil, the default, lets the
    ///     model decide.
    ///   - optional: Whether it may relate to nothing; true by default.
    ///   - formerName: The name it had in an earlier version of the model.
    ///   - userInfo: Annotations.
    public init(
        _ name: String, toOne destination: String, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        optional: Bool = true, formerName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = false
        self.isOrdered = false
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.isOptional = optional
        self.formerName = formerName
        self.userInfo = userInfo
        if ownsTargets != nil { self.ownsTargets = ownsTargets }
    }

    /// Creates a relationship to any number of objects.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - destination: The name of the related entity.
    ///   - ordered: Whether the order of the related objects is kept; false by default.
    ///   - inverse: The relationship of `destination` that leads back, which must name this one as
    ///     its inverse.
    ///   - deleteRule: What happens to the related objects on deletion; nullify by default.
    ///   - ownsTargets: Whether the related objects belong to this one; nil, the default, lets the
    ///     model decide.
    ///   - optional: Whether it may relate to nothing; true by default.
    ///   - formerName: The name it had in an earlier version of the model.
    ///   - userInfo: Annotations.
    public init(
        _ name: String, toMany destination: String, ordered: Bool = false, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, owns ownsTargets: Bool? = nil, optional: Bool = true,
        formerName: String? = nil,
        userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = true
        self.isOrdered = ordered
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.isOptional = optional
        self.formerName = formerName
        self.userInfo = userInfo
        if ownsTargets != nil { self.ownsTargets = ownsTargets }
    }
}
