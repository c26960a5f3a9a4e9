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

    /// The objects of ordinals that have one. They take no memory of their own if these are all
    /// ordinals, and each has an object.
    func objects(of ordinals: Range<Int>) -> [ObjectID] {
        if ordinals == indices, !objects.contains(Self.none) { return objects }
        return objects[ordinals].filter { $0 != Self.none }
    }
}

/// A flag for each ordinal of a relationship's elements, which takes a bit.
struct OrdinalFlags {
    private var words: [UInt64]

    /// Creates flags that are not set.
    init(count: Int) {
        words = Array(repeating: 0, count: (count + 63) >> 6)
    }

    subscript(ordinal: Int) -> Bool {
        get { words[ordinal >> 6] & 1 << UInt64(ordinal & 63) != 0 }
        set {
            let bit = 1 << UInt64(ordinal & 63) as UInt64
            words[ordinal >> 6] = newValue ? words[ordinal >> 6] | bit : words[ordinal >> 6] & ~bit
        }
    }
}
