/// A counter of keys that no property claims.
///
/// Counting a key that is already registered costs one comparison. Counts of discarded elements are
/// reverted.
struct UnknownKeys {
    private struct Key {
        var path: [String]
        var found: JSONKind?
        var firstIndex: Int
        var count = 0
    }

    private static let size = 256

    /// The hashes of unknown keys, each at the index given by its lowest bits; 0 for none.
    ///
    /// The 64-bit hash identifies the key. A collision would have to be crafted, and would only
    /// count two keys as one. Empty until the first key.
    private var hashes: [UInt64] = []
    private var keys: [Key?] = []
    /// The keys counted since the last commit, by their indexes, with the element of each.
    private var open: [(key: UInt8, element: Int)] = []

    /// Counts a key if it is already registered and counted.
    ///
    /// - Returns: Whether the key was counted. If not, it must be registered, because its first
    ///   element is another one than before.
    @inline(__always)
    mutating func count(_ hash: UInt64, element: Int) -> Bool {
        let index = Int(truncatingIfNeeded: hash) & (Self.size - 1)
        guard !hashes.isEmpty, hashes[index] == hash, hash != 0, keys[index]?.count ?? 0 > 0 else { return false }
        keys[index]?.count += 1
        open.append((UInt8(truncatingIfNeeded: index), element))
        return true
    }

    /// Registers and counts a new key.
    ///
    /// - Returns: False if the place of the key is taken. The key was not counted then.
    mutating func add(_ hash: UInt64, path: [String], found: JSONKind?, index elementIndex: Int) -> Bool {
        let index = Int(truncatingIfNeeded: hash) & (Self.size - 1)
        if hashes.isEmpty {
            hashes = Array(repeating: 0, count: Self.size)
            keys = Array(repeating: nil, count: Self.size)
        }
        guard keys[index]?.count ?? 0 == 0 else { return false }
        hashes[index] = hash
        keys[index] = Key(path: path, found: found, firstIndex: elementIndex, count: 1)
        open.append((UInt8(truncatingIfNeeded: index), elementIndex))
        return true
    }

    /// Commits all counts.
    @inline(__always)
    mutating func commit() {
        if !open.isEmpty { open.removeAll(keepingCapacity: true) }
    }

    /// Reverts the counts of elements from an index on, unless they were committed.
    mutating func revert(from element: Int) {
        while let last = open.last, last.element >= element {
            keys[Int(last.key)]?.count -= 1
            open.removeLast()
        }
    }

    /// Moves the counts into a report.
    mutating func flush(entity: String, into report: inout DriftReport) {
        for index in keys.indices {
            guard let key = keys[index], key.count > 0 else { continue }
            report.add(
                .unknownKey, entity: entity, keyPath: key.path.joined(separator: "."), count: key.count,
                index: key.firstIndex, found: key.found.map { "\($0)" })
            keys[index]?.count = 0
        }
    }
}
