package import SyncModel

/// An object of any entity. Its number is unique only among the entities that share a root.
package struct ObjectReference: Hashable, Sendable {
    /// The index of the root entity.
    package let root: Int
    /// The number of the object.
    package let object: ObjectID

    package init(_ object: ObjectID, of layout: EntityLayout) {
        (root, self.object) = (layout.root, object)
    }
}
