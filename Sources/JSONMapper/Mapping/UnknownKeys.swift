/// Counts keys that no property claims, at the cost of a comparison for a key that is known by now.
///
/// The counts of an element are taken back if the element is discarded.
struct UnknownKeys {
    private struct Key {
        var path: [String]
        var found: JSONKind?
        var firstIndex: Int
        var count = 0
    }

    private static let size = 256

    /// The hashes of unknown keys, each at the index that its lowest bits give; 0 for none.
    ///
    /// 64 bits stand for the key: two keys of one hash would have to be made on purpose, and would
    /// be counted as one.
    private var hashes = [UInt64](repeating: 0, count: size)
    private var keys = [Key?](repeating: nil, count: size)
    /// The indices that were counted in the open element.
    private var open: [UInt8] = []

    /// Counts a key that was met before; false if it is not known to be unknown.
    @inline(__always)
    mutating func count(_ hash: UInt64) -> Bool {
        let index = Int(truncatingIfNeeded: hash) & (Self.size - 1)
        guard hashes[index] == hash, hash != 0 else { return false }
        keys[index]?.count += 1
        open.append(UInt8(truncatingIfNeeded: index))
        return true
    }

    /// Counts a key that is met for the first time, and remembers it.
    ///
    /// - Parameter report: Receives the key that makes room.
    mutating func add(
        _ hash: UInt64, path: [String], found: JSONKind?, index elementIndex: Int, entity: String,
        evictingInto report: inout DriftReport
    ) {
        let index = Int(truncatingIfNeeded: hash) & (Self.size - 1)
        if let evicted = keys[index] {
            report.add(
                .unknownKey, entity: entity, keyPath: evicted.path.joined(separator: "."), count: evicted.count,
                index: evicted.firstIndex, found: evicted.found.map { "\($0)" })
            open.removeAll { Int($0) == index }
        }
        hashes[index] = hash
        keys[index] = Key(path: path, found: found, firstIndex: elementIndex, count: 1)
        open.append(UInt8(truncatingIfNeeded: index))
    }

    /// Closes the element.
    @inline(__always)
    mutating func commit() {
        if !open.isEmpty { open.removeAll(keepingCapacity: true) }
    }

    /// Takes back what was counted in the open element.
    mutating func discard() {
        for index in open { keys[Int(index)]?.count -= 1 }
        open.removeAll(keepingCapacity: true)
    }

    /// Moves the counts into a report; the keys stay known.
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
