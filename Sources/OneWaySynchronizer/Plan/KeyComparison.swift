/// A comparison of a source's keys with the stored keys.
///
/// A hash join. Every key is hashed once, and both sides are grouped by the top bits of their
/// hashes. Each group is matched with a table that fits the processor's cache, so that the cost per
/// key hardly grows with the number of keys. A lookup in a large `Set` would instead wait for
/// memory three times per key.
struct KeyComparison<Key: Hashable & Sendable>: Sendable {
    /// Whether each key of the source is stored.
    private(set) var isStored: [Bool]
    /// The stored keys that are absent from the source.
    let absentKeys: Set<Key>
    /// The first ten repeated keys of the source, in its order, and the number of repetitions.
    let repeatedKeys: [Key]
    let repeatedCount: Int

    /// Compares keys in linear time. Keys are the same if they are equal by `==`.
    ///
    /// - Throws: ``SyncError/Reason/collidingKeys(type:)`` if so many different keys have equal
    ///   hashes that comparing them would take quadratic time.
    ///
    /// Specialized for the usual key types, which halves the time of generic code.
    @_specialize(where Key == String)
    @_specialize(where Key == Int)
    init(_ keys: [Key], with localKeys: Set<Key>) throws(SyncError.Reason) {
        let storedKeys = Array(localKeys)
        let layout = HashLayout(count: max(keys.count, storedKeys.count))
        let source = HashGroups(keys.map { HashLayout.mixed($0.hashValue) }, layout)
        let stored = HashGroups(storedKeys.map { HashLayout.mixed($0.hashValue) }, layout)

        isStored = [Bool](repeating: false, count: keys.count)
        var repeats: [(position: Int, first: Int)] = []
        var absentPositions: [Int] = []
        var table = HashTable(layout)
        // The limit of comparisons between different keys with equal hashes: ample for accidental
        // collisions.
        var collisionsLeft = 1_000_000 + 16 * (keys.count + storedKeys.count)
        for group in 0..<layout.groupCount {
            let sourceRange = source.range(of: group)
            table.clear(for: sourceRange.count)
            for index in sourceRange {
                let entry = source.entries[index]
                let position = layout.position(of: entry)
                var slot = table.firstSlot(for: entry)
                var first: Int?
                while let candidate = table[slot] {
                    let other = layout.position(of: candidate)
                    if layout.haveEqualHashes(candidate, entry) {
                        if keys[other] == keys[position] {
                            first = other
                            break
                        }
                        collisionsLeft -= 1
                        guard collisionsLeft > 0 else { throw .collidingKeys(type: String(reflecting: Key.self)) }
                    }
                    slot = table.slot(after: slot)
                }
                if let first {
                    repeats.append((position, first))
                } else {
                    table[slot] = entry
                }
            }
            for index in stored.range(of: group) {
                let entry = stored.entries[index]
                let position = layout.position(of: entry)
                var slot = table.firstSlot(for: entry)
                var isListed = false
                while let candidate = table[slot] {
                    let other = layout.position(of: candidate)
                    if layout.haveEqualHashes(candidate, entry) {
                        if keys[other] == storedKeys[position] {
                            isStored[other] = true
                            isListed = true
                            break
                        }
                        collisionsLeft -= 1
                        guard collisionsLeft > 0 else { throw .collidingKeys(type: String(reflecting: Key.self)) }
                    }
                    slot = table.slot(after: slot)
                }
                if !isListed { absentPositions.append(position) }
            }
        }

        for (position, first) in repeats { isStored[position] = isStored[first] }
        repeatedCount = repeats.count
        repeatedKeys = repeats.map(\.position).sorted().prefix(10).map { keys[$0] }
        absentKeys =
            absentPositions.count == storedKeys.count ? localKeys : Set(absentPositions.lazy.map { storedKeys[$0] })
    }

    /// For each of `keys`, whether it is among `localKeys`; empty if there are no local keys.
    @_specialize(where Key == String)
    static func membership(of keys: [Key], in localKeys: Set<Key>) -> [Bool] {
        guard !localKeys.isEmpty else { return [] }
        return keys.map { localKeys.contains($0) }
    }
}

/// The layout of a 64-bit *entry*: the top bits of a key's hash above the key's position. The
/// highest bits are the number of the group.
private struct HashLayout {
    /// At least 1, like all widths here: shifts by less than a word take one instruction.
    let groupBits: Int
    private let positionMask: UInt64

    /// A group has about two thousand keys, so that its table fits the first-level cache.
    init(count: Int) {
        // Positions are below `count`, so no position has all bits set.
        let positionBits = Int.bitWidth - max(count, 1).leadingZeroBitCount
        positionMask = (1 &<< UInt64(positionBits)) - 1
        groupBits = min(max(positionBits - 11, 1), 16)
    }

    var groupCount: Int { 1 &<< groupBits }

    /// A hash whose top bits depend on all bits, even if a key's own `hashValue` is a small number.
    static func mixed(_ hash: Int) -> UInt64 {
        let product = UInt64(truncatingIfNeeded: hash).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.low ^ product.high
    }

    func entry(hash: UInt64, position: Int) -> UInt64 {
        hashBits(of: hash) | UInt64(truncatingIfNeeded: position)
    }

    func group(of entry: UInt64) -> Int { Int(truncatingIfNeeded: entry &>> UInt64(UInt64.bitWidth - groupBits)) }

    func position(of entry: UInt64) -> Int { Int(truncatingIfNeeded: entry & positionMask) }

    /// The hash of an entry, with the bits of the position cleared.
    func hashBits(of entry: UInt64) -> UInt64 { entry & ~positionMask }

    func haveEqualHashes(_ left: UInt64, _ right: UInt64) -> Bool { hashBits(of: left ^ right) == 0 }
}

/// Entries sorted by group and, within a group, by position.
private struct HashGroups {
    private(set) var entries: [UInt64]
    /// The end of each group.
    private var ends: [Int]

    init(_ hashes: [UInt64], _ layout: HashLayout) {
        // A group's end starts at its beginning, and advances as the group is filled.
        var ends = [Int](repeating: 0, count: layout.groupCount + 1)
        for hash in hashes { ends[layout.group(of: hash) + 1] += 1 }
        for group in 1..<ends.count { ends[group] += ends[group - 1] }
        entries = [UInt64](repeating: 0, count: hashes.count)
        for position in hashes.indices {
            let entry = layout.entry(hash: hashes[position], position: position)
            let group = layout.group(of: entry)
            entries[ends[group]] = entry
            ends[group] += 1
        }
        self.ends = ends
    }

    /// The positions of a group's entries.
    func range(of group: Int) -> Range<Int> {
        (group == 0 ? 0 : ends[group - 1])..<ends[group]
    }
}

/// A hash table with open addressing, at most half full, reused for one group after another.
private struct HashTable {
    private static let empty = UInt64.max
    private let layout: HashLayout
    private var slots: [UInt64] = []
    private var slotBits = 0

    init(_ layout: HashLayout) {
        self.layout = layout
    }

    /// Makes room for `count` entries.
    mutating func clear(for count: Int) {
        slotBits = Int.bitWidth - count.leadingZeroBitCount + 1
        let slotCount = 1 &<< slotBits
        if slotCount > slots.count { slots = [UInt64](repeating: Self.empty, count: slotCount) }
        for slot in 0..<slotCount { slots[slot] = Self.empty }
    }

    /// Returns the slot given by the bits of the hash below the group's bits.
    func firstSlot(for entry: UInt64) -> Int {
        let bits = layout.hashBits(of: entry) &<< UInt64(layout.groupBits)
        return Int(truncatingIfNeeded: bits &>> UInt64(UInt64.bitWidth - slotBits))
    }

    func slot(after slot: Int) -> Int { (slot + 1) & ((1 &<< slotBits) - 1) }

    /// The entry in a slot; `nil` if the slot is empty.
    subscript(slot: Int) -> UInt64? {
        get { slots[slot] == Self.empty ? nil : slots[slot] }
        set { slots[slot] = newValue ?? Self.empty }
    }
}
