/// What becomes of an item of the source.
enum SyncDecision: UInt8, Sendable {
    case insert
    case update
    case keep
}

/// The keys of a source compared with those that are stored: what a plan is made of.
///
/// A hash join. Every key is hashed once; both sides are grouped by their hashes' top bits, and each group is matched by a
/// table that fits the processor's cache, so that a key costs about the same among a million as among thousands. Looking
/// up each key in a large `Set` instead waits for memory three times per key.
struct KeyComparison<Key: Hashable & Sendable>: Sendable {
    /// For each key of the source, `insert` or `keep`.
    private(set) var decisions: [SyncDecision]
    /// The keys that are stored and not in the source.
    let absentKeys: Set<Key>
    /// The first ten repetitions in the source, in its order, and how many there are.
    let repeatedKeys: [Key]
    let repeatedCount: Int

    /// Compares in O(keys). Equal hashes alone decide nothing: keys are the same where `==` says so.
    ///
    /// Compiled apart for the usual key types, which takes half the time of code for keys of any type.
    @_specialize(where Key == String)
    @_specialize(where Key == Int)
    init(_ keys: [Key], with localKeys: Set<Key>) {
        let storedKeys = Array(localKeys)
        let groupBits = HashGroups.bitCount(for: max(keys.count, storedKeys.count))
        let source = HashGroups(keys.map(\.hashValue), bitCount: groupBits)
        let stored = HashGroups(storedKeys.map(\.hashValue), bitCount: groupBits)

        decisions = [SyncDecision](repeating: .insert, count: keys.count)
        var repeats: [(position: Int, first: Int)] = []
        var absentPositions: [Int] = []
        var table = HashTable()
        for group in 0..<(1 << groupBits) {
            let sourceRange = source.range(of: group)
            table.clear(for: sourceRange.count)
            for index in sourceRange {
                let entry = source.entries[index]
                var slot = table.firstSlot(for: entry.hash)
                var first: Int?
                while let other = table[slot] {
                    let candidate = source.entries[other]
                    if candidate.hash == entry.hash, keys[candidate.position] == keys[entry.position] {
                        first = candidate.position
                        break
                    }
                    slot = table.slot(after: slot)
                }
                if let first {
                    repeats.append((entry.position, first))
                } else {
                    table[slot] = index
                }
            }
            for index in stored.range(of: group) {
                let entry = stored.entries[index]
                var slot = table.firstSlot(for: entry.hash)
                var isListed = false
                while let other = table[slot] {
                    let candidate = source.entries[other]
                    if candidate.hash == entry.hash, keys[candidate.position] == storedKeys[entry.position] {
                        decisions[candidate.position] = .keep
                        isListed = true
                        break
                    }
                    slot = table.slot(after: slot)
                }
                if !isListed { absentPositions.append(entry.position) }
            }
        }

        for (position, first) in repeats { decisions[position] = decisions[first] }
        repeatedCount = repeats.count
        repeatedKeys = repeats.map(\.position).sorted().prefix(10).map { keys[$0] }
        absentKeys =
            absentPositions.count == storedKeys.count ? localKeys : Set(absentPositions.lazy.map { storedKeys[$0] })
    }

    /// For each of `keys`, whether it is among `localKeys`; empty where none is because there are no local keys.
    @_specialize(where Key == String)
    static func membership(of keys: [Key], in localKeys: Set<Key>) -> [Bool] {
        guard !localKeys.isEmpty else { return [] }
        return keys.map { localKeys.contains($0) }
    }
}

/// Hashes and their positions, grouped by the hashes' top bits; in a group, in the order of their positions.
private struct HashGroups {
    struct Entry {
        var hash: Int
        var position: Int
    }

    private(set) var entries: [Entry]
    /// Where each group ends.
    private var ends: [Int]

    /// The number of top bits by which so many hashes are grouped: a few thousand to a group, whose table and entries then
    /// fit the fast caches.
    static func bitCount(for count: Int) -> Int {
        var bitCount = 0
        while count >> bitCount > 2_048, bitCount < 16 { bitCount += 1 }
        return bitCount
    }

    init(_ hashes: [Int], bitCount: Int) {
        let shift = UInt.bitWidth - bitCount
        func group(of hash: Int) -> Int { Int(UInt(bitPattern: hash) >> shift) }
        // Each group's end is first its start, and moves as the group is filled.
        var ends = [Int](repeating: 0, count: (1 << bitCount) + 1)
        for hash in hashes { ends[group(of: hash) + 1] += 1 }
        for group in 1..<ends.count { ends[group] += ends[group - 1] }
        entries = [Entry](repeating: Entry(hash: 0, position: 0), count: hashes.count)
        for position in hashes.indices {
            let hash = hashes[position]
            let group = group(of: hash)
            entries[ends[group]] = Entry(hash: hash, position: position)
            ends[group] += 1
        }
        self.ends = ends
    }

    /// Where the entries of a group are.
    func range(of group: Int) -> Range<Int> {
        (group == 0 ? 0 : ends[group - 1])..<ends[group]
    }
}

/// A table of open addressing, half full at most, that is used for one group after another.
private struct HashTable {
    private static let empty = -1
    private var slots: [Int] = []
    private var mask = 0

    /// Makes room for `count` indices.
    mutating func clear(for count: Int) {
        var slotCount = 2
        while slotCount < 2 * count { slotCount *= 2 }
        if slotCount > slots.count { slots = [Int](repeating: Self.empty, count: slotCount) }
        for slot in 0..<slotCount { slots[slot] = Self.empty }
        mask = slotCount - 1
    }

    func firstSlot(for hash: Int) -> Int { hash & mask }
    func slot(after slot: Int) -> Int { (slot + 1) & mask }

    /// The index in a slot; `nil` in an empty one.
    subscript(slot: Int) -> Int? {
        get { slots[slot] == Self.empty ? nil : slots[slot] }
        set { slots[slot] = newValue ?? Self.empty }
    }
}
