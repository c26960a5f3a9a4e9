import SyncModel
import SyncStore

/// Where objects come from, and how this affects their merge.
struct Origin {
    /// The allowed changes.
    var policy: MergeRequest.Policy
    /// The index of the expected entity; the objects may be of its sub-entities.
    var entity: Int?
    /// The relationship in which the objects are nested; nil for objects of the list.
    var relationship: EntityLayout.Relationship?
    /// The relationship back to the objects that contain them.
    var inverse: EntityLayout.Relationship?
    /// Returns whether the object of an ordinal is merged; nil if all are.
    var accepts: ((Int) -> Bool)?
    /// Returns the parent within which the object of an ordinal is identified; nil if the identity
    /// is not scoped.
    var parents: ((Int) -> ObjectID?)?
    /// Whether the payload states of which entity the objects are.
    var statesEntity = true
    /// Returns the index in the payload of an ordinal's element.
    var elementIndex: (Int) -> Int = { $0 }
    /// The stored object of each ordinal whose element has no identity; see `reused`.
    var reused: [Int: ObjectID] = [:]
    /// The part of `reused` whose identity within the parent is the element's.
    var scoped: [Int: ObjectID] = [:]
    /// The stored object that all records update, whatever their identity; nil in a sync.
    var known: ObjectID?
    /// The relationship to the containing objects, and a function that returns that object for an
    /// ordinal. New objects are inserted with this link; nil if they are linked later.
    var owners: (relationship: EntityLayout.Relationship, object: (Int) -> ObjectID?)?
    /// Returns the object that contains the object of an ordinal; nil for objects of the list, and
    /// for objects that are merged before those that contain them.
    var containers: ((Int) -> ObjectID?)?
    /// The objects that are linked to the merged ones afterwards; nil if there are none.
    var linkedNext: MergeRequest.LinkSources?

    /// Whether the objects are nested in others.
    var isNested: Bool { relationship != nil }

    /// Whether a relationship leads back to the only object that can contain the objects. An object
    /// belongs to the one that it is nested in, whatever it states itself.
    func decides(_ relationship: EntityLayout.Relationship) -> Bool {
        relationship.id == inverse?.id && !relationship.isToMany
    }
}
