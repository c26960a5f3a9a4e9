import SyncModel

/// The values of a property with related objects.
///
/// Immutable, and used only by the task that reads the objects.
final class RelatedValues<Value> {
    /// The values by the number of the related object for to-one, and of the object itself for
    /// to-many.
    let values: [ObjectID: Value]
    /// The value for an object without related objects; nil if the property cannot be empty.
    let empty: Value?

    init(_ values: [ObjectID: Value], empty: Value?) {
        self.values = values
        self.empty = empty
    }
}
