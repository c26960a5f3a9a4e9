extension SyncRelationship {
    /// The effect of deleting an object on the objects that it is related to.
    public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
        /// The related objects stay, without the relationship.
        case nullify
        /// The related objects are deleted as well, with their own delete rules.
        case cascade
        /// The deletion fails while there are related objects.
        case deny
        /// The related objects stay. The relationship is removed, as with ``nullify``.
        case noAction
    }
}

/// A property of an entity that relates its objects to other objects.
public struct SyncRelationship: Hashable, Sendable {
    /// The name, unique among all properties of the entity, including inherited ones.
    public var name: String
    /// The name of the related entity. Objects of its sub-entities can be related as well.
    public var destination: String
    /// Whether an object can be related to more than one object.
    public var isToMany: Bool
    /// Whether the related objects have an order. Only a to-many relationship can be ordered.
    public var isOrdered: Bool
    /// The name of the inverse relationship of `destination`; nil for none.
    public var inverse: String?
    /// The effect of deleting an object on the related objects.
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
    /// Whether there may be no related object. The mapper checks this, not the store.
    public var isOptional: Bool
    /// The relationship's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store finds the data of the earlier version by this name.
    public var formerName: String?
    /// The annotations of a model file.
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
