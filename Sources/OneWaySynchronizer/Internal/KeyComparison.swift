/// What becomes of an item of the source.
enum SyncDecision: UInt8, Sendable {
    case insert
    case update
    case keep
}

/// The keys of a source compared with those that are stored: what a plan is made of.
struct KeyComparison<Key: Hashable & Sendable>: Sendable {
    /// For each key of the source, `insert` or `keep`.
    var decisions: [SyncDecision] = []
    /// The keys that are stored and not in the source.
    var absentKeys: Set<Key> = []
    /// The first ten repetitions in the source, and how many there are.
    var repeatedKeys: [Key] = []
    var repeatedCount = 0

    /// Compares in O(keys). Compiled for `String` keys apart, which takes half the time of code for keys of any type.
    @_specialize(where Key == String)
    init(_ keys: [Key], with localKeys: Set<Key>) {
        decisions.reserveCapacity(keys.count)
        var seen = Set<Key>(minimumCapacity: keys.count)
        var storedCount = 0
        for key in keys {
            let isStored = localKeys.contains(key)
            decisions.append(isStored ? .keep : .insert)
            if seen.insert(key).inserted {
                if isStored { storedCount += 1 }
            } else {
                repeatedCount += 1
                if repeatedCount <= 10 { repeatedKeys.append(key) }
            }
        }
        if storedCount < localKeys.count { absentKeys = localKeys.subtracting(seen) }
    }

    /// For each of `keys`, whether it is among `localKeys`; empty where none is because there are no local keys.
    @_specialize(where Key == String)
    static func membership(of keys: [Key], in localKeys: Set<Key>) -> [Bool] {
        guard !localKeys.isEmpty else { return [] }
        var isStored: [Bool] = []
        isStored.reserveCapacity(keys.count)
        for key in keys { isStored.append(localKeys.contains(key)) }
        return isStored
    }
}
