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

/// Where the values of a property with related objects are.
///
/// What decodes a property looks its value up here and not in `RelatedValues`: a generic class
/// would have its metadata looked up for each value.
class RelatedPlaces {
    /// The type of the values.
    let type: ObjectIdentifier
    /// The first value.
    let start: UnsafeRawPointer
    /// The indices of the values by the number of the related object for to-one, and of the object
    /// itself for to-many.
    private let indices: [ObjectID: Int]
    /// The index of the value for an object without related objects; nil if the property cannot be
    /// empty.
    private let emptyIndex: Int?

    fileprivate init(type: ObjectIdentifier, start: UnsafeRawPointer, indices: [ObjectID: Int], emptyIndex: Int?) {
        self.type = type
        self.start = start
        self.indices = indices
        self.emptyIndex = emptyIndex
    }

    /// The index of the value for an object; nil if there is none.
    ///
    /// - Parameter object: The number by which the values are found; nil for no related object.
    @inline(__always)
    final func index(of object: ObjectID?) -> Int? {
        object.flatMap { indices[$0] } ?? emptyIndex
    }
}

/// The values of a property with related objects.
///
/// Immutable, and used only by the task that reads the objects.
final class RelatedValues<Value>: RelatedPlaces {
    private let values: UnsafeMutablePointer<Value>
    private let count: Int

    init(_ found: ObjectValues<Value> = ObjectValues(), empty: Value?) {
        count = found.values.count + (empty == nil ? 0 : 1)
        values = .allocate(capacity: count)
        for (index, value) in found.values.enumerated() { (values + index).initialize(to: value) }
        if let empty { (values + found.values.count).initialize(to: empty) }
        super.init(
            type: ObjectIdentifier(Value.self), start: UnsafeRawPointer(values), indices: found.indices,
            emptyIndex: empty == nil ? nil : found.values.count)
    }

    deinit {
        values.deinitialize(count: count)
        values.deallocate()
    }
}
