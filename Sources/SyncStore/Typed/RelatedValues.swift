import SyncModel

/// The values of a property that holds related objects.
///
/// Immutable; it is used by the task that reads the objects.
final class RelatedValues<Value> {
    /// By the number of the related object for to-one, and of the object itself for to-many.
    let values: [ObjectID: Value]
    /// The value of an object without related ones; nil if there is none.
    let empty: Value?

    init(_ values: [ObjectID: Value], empty: Value?) {
        self.values = values
        self.empty = empty
    }
}
