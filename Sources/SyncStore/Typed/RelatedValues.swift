import SyncModel

/// The values of a property with related objects.
///
/// Immutable, and used only by the task that reads the objects. Values are found without optional
/// ones of an unknown type, whose metadata would be looked up for each object.
final class RelatedValues<Value> {
    /// The indices of values by the number of the related object for to-one, and of the object
    /// itself for to-many.
    private let indices: [ObjectID: Int]
    private let values: [Value]
    /// The index of the value for an object without related objects; nil if the property cannot be
    /// empty.
    private let emptyIndex: Int?

    init(_ found: [ObjectID: Value], empty: Value?) {
        var (indices, values) = ([ObjectID: Int](minimumCapacity: found.count), [Value]())
        values.reserveCapacity(found.count + 1)
        for (object, value) in found {
            indices[object] = values.count
            values.append(value)
        }
        emptyIndex = empty == nil ? nil : values.count
        if let empty { values.append(empty) }
        (self.indices, self.values) = (indices, values)
    }

    /// The index of the value for an object; nil if there is none.
    ///
    /// - Parameter object: The number by which the values are found; nil for no related object.
    @inline(__always)
    func index(of object: ObjectID?) -> Int? {
        object.flatMap { indices[$0] } ?? emptyIndex
    }

    @inline(__always)
    subscript(index: Int) -> Value { values[index] }
}
