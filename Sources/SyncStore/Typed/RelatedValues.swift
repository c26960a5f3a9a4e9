import SyncModel

/// Values by the number of an object.
struct ObjectValues<Value> {
    private(set) var indices: [ObjectID: Int]
    private(set) var values: [Value] = []
    /// The latest object, because the values of one often come together.
    private var latest: (object: ObjectID, index: Int)?

    init(minimumCapacity: Int = 0) {
        indices = [ObjectID: Int](minimumCapacity: minimumCapacity)
        values.reserveCapacity(minimumCapacity)
    }

    /// The values of objects, in the same order.
    init(_ values: [Value], of objects: [ObjectID]) {
        self.values = values
        indices = Dictionary(zip(objects, objects.indices)) { first, _ in first }
    }

    /// The index of the value of an object; nil if it has none.
    @inline(__always)
    func index(of object: ObjectID) -> Int? { indices[object] }

    subscript(index: Int) -> Value {
        @inline(__always) get { values[index] }
        @inline(__always) _modify { yield &values[index] }
    }

    /// The index of the value of an object. An object without a value gets the given one.
    @discardableResult
    mutating func index(of object: ObjectID, adding value: @autoclosure () -> Value) -> Int {
        if let latest, latest.object == object { return latest.index }
        let index = indices[object] ?? values.count
        latest = (object, index)
        if index == values.count {
            indices[object] = index
            values.append(value())
        }
        return index
    }

    /// The values that a function makes of these, by the same objects; none where it returns nil.
    func compactMap<Other>(_ transform: (Value) -> Other?) -> ObjectValues<Other> {
        var others = ObjectValues<Other>(minimumCapacity: values.count)
        for (object, index) in indices {
            if let other = transform(values[index]) { others.index(of: object, adding: other) }
        }
        return others
    }
}

/// The values of a property with related objects.
///
/// Immutable, and used only by the task that reads the objects. A value is found by its index: an
/// optional value would need the metadata of its type, which is looked up each time.
final class RelatedValues<Value> {
    /// The indices of the values by the number of the related object for to-one, and of the object
    /// itself for to-many.
    private let indices: [ObjectID: Int]
    private let values: [Value]
    /// The index of the value for an object without related objects; nil if the property cannot be
    /// empty.
    private let emptyIndex: Int?

    init(_ found: ObjectValues<Value> = ObjectValues(), empty: Value?) {
        indices = found.indices
        values = found.values + (empty.map { [$0] } ?? [])
        emptyIndex = empty == nil ? nil : found.values.count
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
