import SyncModel

/// An object for each ordinal of a relationship's elements, or none.
///
/// An ordinal takes eight bytes, because one object can lead to a million others.
struct OrdinalObjects: RandomAccessCollection, MutableCollection {
    /// The number that stands for no object. No store uses it.
    private static let none = ObjectID.min

    private var objects: [ObjectID]

    /// Creates a collection without objects.
    init(count: Int) {
        objects = Array(repeating: Self.none, count: count)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { objects.count }

    subscript(ordinal: Int) -> ObjectID? {
        get { objects[ordinal] == Self.none ? nil : objects[ordinal] }
        set { objects[ordinal] = newValue ?? Self.none }
    }
}
