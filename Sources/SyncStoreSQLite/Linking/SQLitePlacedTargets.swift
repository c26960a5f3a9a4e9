import SyncModel

/// The targets of one source of an ordered relationship, which SQLite returns in any order.
///
/// SQLite's own sorter takes 40 bytes for each target. Here, nearly all targets take eight: they
/// are at the index of their place.
struct SQLitePlacedTargets {
    /// The number that stands for no object. No store uses it.
    private static let none = ObjectID.min

    /// The targets at the index of their place.
    private var placed: [ObjectID] = []
    /// The targets whose place is taken, far behind the number of targets so far, not whole, or
    /// null.
    private var others: [(place: Double, target: ObjectID)] = []
    private var count = 0

    /// Adds a target.
    ///
    /// - Parameter place: The place among the targets; nil for null, which comes before all
    ///   numbers. Other tools may have written any number.
    mutating func add(_ target: ObjectID, at place: Double?) {
        count += 1
        guard let place, let index = Int(exactly: place), index >= 0, index < 4 * (count + 4),
            index >= placed.count || placed[index] == Self.none
        else {
            others.append((place ?? -.infinity, target))
            return
        }
        if index >= placed.count { placed += repeatElement(Self.none, count: index + 1 - placed.count) }
        placed[index] = target
    }

    /// Removes all targets, and hands them over in the order of their places; those of the same
    /// place in the order of their numbers.
    mutating func take(_ body: (ObjectID) -> Void) {
        others.sort { $0 < $1 }
        var rest = others[...]
        for (index, target) in placed.enumerated() where target != Self.none {
            while let other = rest.first, other < (Double(index), target) {
                body(other.target)
                rest.removeFirst()
            }
            body(target)
        }
        for other in rest { body(other.target) }
        placed.removeAll(keepingCapacity: true)
        others.removeAll(keepingCapacity: true)
        count = 0
    }
}
