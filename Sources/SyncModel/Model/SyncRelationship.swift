extension SyncRelationship {
    /// The effect of an object's deletion on its related objects.
    public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
        /// Removes the link; the related objects stay.
        case nullify
        /// Deletes the related objects too, and applies their own delete rules.
        case cascade
        /// Refuses the deletion as long as related objects exist.
        case deny
        /// Leaves the related objects as they are. Stores still remove the link, because they keep
        /// no dangling references.
        case noAction
    }
}

/// A property of an entity that links its objects to objects of a destination entity.
public struct SyncRelationship: Hashable, Sendable {
    /// The name, unique among the attributes and relationships of the entity, inherited ones
    /// included.
    public var name: String
    /// The name of the destination entity; objects of its sub-entities can be related too.
    public var destination: String
    /// Whether the relationship leads to any number of objects instead of at most one.
    public var isToMany: Bool
    /// Whether the order of the related objects is kept. Only a to-many relationship can be
    /// ordered.
    public var isOrdered: Bool
    /// The name of the inverse relationship of `destination`; nil if there is none.
    public var inverse: String?
    /// The effect of an object's deletion on its related objects.
    public var deleteRule: SyncRelationship.DeleteRule
    /// Whether the related objects belong to this object and are deleted when the link is removed.
    /// If the inverse is to-many, they are deleted when the last link is removed.
    ///
    /// Nil, the default, lets the model decide: objects of an entity without an identity belong to
    /// the object that contains them. See ``EntityLayout/Relationship/isOwning``.
    ///
    /// The value is stored as the annotation `sync.owned`, `YES` or `NO`, so that model files
    /// contain it.
    public var ownsTargets: Bool? {
        get { userInfo["sync.owned"].map { $0 == "YES" || $0 == "true" } }
        set { userInfo["sync.owned"] = newValue.map { $0 ? "YES" : "NO" } }
    }
    /// Whether the relationship can be empty.
    ///
    /// A sync reports objects that lack a mandatory relationship at its end as drift, and stores
    /// them. An import in the Groot dialect fails.
    public var isOptional: Bool
    /// The relationship's name in an earlier version of the model; nil if it was not renamed.
    ///
    /// A store that holds the earlier version finds its data by this name.
    public var formerName: String?
    /// Annotations, as in the user info of a model file.
    public var userInfo: [String: String]

    /// Creates the declaration of a to-one relationship.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - destination: The name of the destination entity.
    ///   - inverse: The inverse relationship of `destination`, which must name this one as its
    ///     inverse; nil by default.
    ///   - deleteRule: The effect of an object's deletion on the related object; `.nullify` by
    ///     default.
    ///   - ownsTargets: Whether the related object belongs to this one; nil, the default, lets the
    ///     model decide.
    ///   - optional: Whether the relationship can be empty; true by default.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public init(
        _ name: String, toOne destination: String, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, owns ownsTargets: Bool? = nil,
        optional: Bool = true, formerName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.init(
            name, toMany: destination, inverse: inverse, deleteRule: deleteRule, owns: ownsTargets, optional: optional,
            formerName: formerName, userInfo: userInfo)
        isToMany = false
    }

    /// Creates the declaration of a to-many relationship.
    ///
    /// - Parameters:
    ///   - name: The name, not empty.
    ///   - destination: The name of the destination entity.
    ///   - inverse: The inverse relationship of `destination`, which must name this one as its
    ///     inverse; nil by default.
    ///   - deleteRule: The effect of an object's deletion on the related objects; `.nullify` by
    ///     default.
    ///   - ownsTargets: Whether the related objects belong to this one; nil, the default, lets the
    ///     model decide.
    ///   - optional: Whether the relationship can be empty; true by default.
    ///   - formerName: The name in an earlier version of the model; nil by default.
    ///   - userInfo: Annotations; empty by default.
    public init(
        _ name: String, toMany destination: String, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, owns ownsTargets: Bool? = nil, optional: Bool = true,
        formerName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = true
        self.isOrdered = false
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.isOptional = optional
        self.formerName = formerName
        self.userInfo = userInfo
        if ownsTargets != nil { self.ownsTargets = ownsTargets }
    }

    /// Creates the declaration of a to-many relationship that keeps the order of the related
    /// objects.
    ///
    /// The parameters are those of
    /// ``init(_:toMany:inverse:deleteRule:owns:optional:formerName:userInfo:)``.
    public init(
        _ name: String, toOrdered destination: String, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, owns ownsTargets: Bool? = nil, optional: Bool = true,
        formerName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.init(
            name, toMany: destination, inverse: inverse, deleteRule: deleteRule, owns: ownsTargets, optional: optional,
            formerName: formerName, userInfo: userInfo)
        isOrdered = true
    }
}
