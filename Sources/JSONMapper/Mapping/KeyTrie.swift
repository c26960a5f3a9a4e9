import SyncBase

/// A compiled lookup from the bytes of a key to its targets, without creating strings.
///
/// Each key is an *entry* of a *level*. Level 0 holds the keys of the object itself. Each further
/// level holds the keys of an object under a key that is only part of a path. A hash table per
/// level finds entries by their bytes. The mapper tries the likely next entry before it uses the
/// table, because objects of one source are mostly alike.
///
/// `@unchecked Sendable` because entries point to memory that `init` fills, that is only read
/// afterwards, and that `deinit` frees.
final class KeyTrie: @unchecked Sendable {
    /// A key of a level. It may lead to several attributes, a relationship and a further level at
    /// once.
    struct Entry {
        /// The key as written, with its quotes and the colon. Empty if the key needs escapes.
        var quoted: UnsafeBufferPointer<UInt8>
        var bytes: UnsafeBufferPointer<UInt8>
        /// The attributes that the key fills, as a range in the mapping's fields.
        var firstField: Int
        var fieldCount: Int
        /// The index of the relationship under the key; -1 for none.
        var relationship: Int
        /// Whether the relationship's key holds only identifiers of related objects.
        var holdsIdentifiers: Bool
        /// Whether the key fills exactly one attribute and has no other target.
        var isPlain: Bool
        /// The level of the nested object; -1 for none.
        var level: Int
        /// One bit for each target, the same for every key of the target. Bits are shared if there
        /// are more than 64 targets.
        var marks: UInt64
    }

    /// A level's position in the flat tables.
    struct Level {
        /// The size of the hash table, a power of two, minus one.
        var mask: Int
        var firstBucket: Int
        /// The indexes in the mapping's fields of all attributes at this level and below.
        var fields: [Int]
        /// The keys that lead to the level.
        var path: [String]
    }

    /// A key path and its target.
    struct Source {
        var path: [String]
        var field: Int?
        var relationship: (index: Int, holdsIdentifiers: Bool)?
    }

    let levels: [Level]
    let entries: UnsafePointer<Entry>
    let entryCount: Int
    /// The key path of each entry, for messages.
    let paths: [[String]]
    /// The mark of each entry's relationship; 0 for none, and if marks are shared.
    let relationshipMarks: [UInt64]
    /// The columns of the attributes, in the order in which the entries refer to their fields.
    let fieldOrder: [Int]
    private let buckets: [Int32]
    private let entryMemory: UnsafeMutablePointer<Entry>
    private let byteMemory: UnsafeMutablePointer<UInt8>

    init(_ sources: [Source]) {
        var builder = Builder()
        _ = builder.addLevel()
        for source in sources { builder.insert(source, path: source.path[...], level: 0) }
        fieldOrder = builder.entries.flatMap(\.fields)
        paths = builder.entries.map(\.path)
        entryCount = builder.entries.count
        let quoted = builder.entries.map { JSONWriter.quotedKey($0.path.last ?? "") }
        let plain = builder.entries.map { Array(($0.path.last ?? "").utf8) }
        let byteCount = zip(quoted, plain).reduce(0) { $0 + $1.0.count + 1 + $1.1.count }
        byteMemory = .allocate(capacity: max(byteCount, 1))
        entryMemory = .allocate(capacity: max(builder.entries.count, 1))
        var next = byteMemory
        var firstField = 0
        var marks = Marks()
        var relationshipMarks: [UInt64] = []
        for (index, entry) in builder.entries.enumerated() {
            let bytes = Self.copy(plain[index], to: &next)
            // A key that needs escapes has several spellings, so it is compared after unescaping.
            let isEscaped = quoted[index].count != plain[index].count + 2
            let whole =
                isEscaped
                ? UnsafeBufferPointer(start: nil, count: 0) : Self.copy(quoted[index] + [ASCII.colon], to: &next)
            let relationshipMark = entry.relationship.map { relationship in
                marks.mark(of: .relationship(relationship.index, holdsIdentifiers: relationship.holdsIdentifiers))
            }
            relationshipMarks.append(relationshipMark ?? 0)
            var entryMarks = relationshipMark ?? 0
            for field in entry.fields { entryMarks |= marks.mark(of: .attribute(field)) }
            if entry.level >= 0 { entryMarks |= marks.mark(of: .level(entry.level)) }
            let compiled = Entry(
                quoted: whole, bytes: bytes, firstField: firstField, fieldCount: entry.fields.count,
                relationship: entry.relationship?.index ?? -1,
                holdsIdentifiers: entry.relationship?.holdsIdentifiers ?? false,
                isPlain: entry.fields.count == 1 && entry.relationship == nil && entry.level < 0,
                level: entry.level, marks: entryMarks)
            (entryMemory + index).initialize(to: compiled)
            firstField += entry.fields.count
        }
        self.relationshipMarks =
            marks.areShared ? Array(repeating: 0, count: relationshipMarks.count) : relationshipMarks
        entries = UnsafePointer(entryMemory)
        var buckets: [Int32] = []
        let paths = self.paths
        let compiled = UnsafePointer(entryMemory)
        levels = builder.levels.enumerated().map { level, members in
            var size = 4
            while size < members.count * 2 { size *= 2 }
            let first = buckets.count
            buckets += repeatElement(-1, count: size)
            for member in members {
                var bucket = Int(truncatingIfNeeded: Self.hash(compiled[member].bytes)) & (size - 1)
                while buckets[first + bucket] >= 0 { bucket = (bucket + 1) & (size - 1) }
                buckets[first + bucket] = Int32(member)
            }
            let outer = builder.entries.firstIndex { $0.level == level }
            return Level(
                mask: size - 1, firstBucket: first,
                fields: builder.descendants(of: members).flatMap { entry in
                    (0..<compiled[entry].fieldCount).map { compiled[entry].firstField + $0 }
                }, path: outer.map { paths[$0] } ?? [])
        }
        self.buckets = buckets
    }

    deinit {
        entryMemory.deallocate()
        byteMemory.deallocate()
    }

    /// Returns the entry of a key at a level; -1 if there is none.
    ///
    /// - Parameter hash: The hash of the key.
    func find(_ key: JSONSlice, hash: UInt64, level: Int) -> Int {
        let level = levels[level]
        var bucket = Int(truncatingIfNeeded: hash) & level.mask
        while true {
            let entry = Int(buckets[level.firstBucket + bucket])
            if entry < 0 || key.equals(entries[entry].bytes) { return entry }
            bucket = (bucket + 1) & level.mask
        }
    }

    /// The hash of a key after unescaping.
    @inline(__always)
    static func hash(_ key: JSONSlice) -> UInt64 {
        key.isEscaped ? key.withUTF8 { hash($0) } : hash(key.bytes)
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash = Fingerprint()
        hash.combine(bytes: bytes)
        // Buckets are chosen by the low bits.
        return hash.value ^ (hash.value &>> 32)
    }

    private static func copy(
        _ bytes: [UInt8], to next: inout UnsafeMutablePointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        let start = next
        for byte in bytes {
            next.initialize(to: byte)
            next += 1
        }
        return UnsafeBufferPointer(start: start, count: bytes.count)
    }

    /// Gives each target a bit.
    private struct Marks {
        /// What a key leads to.
        enum Target: Hashable {
            case attribute(Int)
            case relationship(Int, holdsIdentifiers: Bool)
            case level(Int)
        }

        private var numbers: [Target: Int] = [:]

        /// Whether there are more targets than bits.
        var areShared: Bool { numbers.count > UInt64.bitWidth }

        mutating func mark(of target: Target) -> UInt64 {
            let number = numbers[target] ?? numbers.count
            numbers[target] = number
            return 1 &<< UInt64(truncatingIfNeeded: number)
        }
    }

    /// Collects entries while key paths are inserted.
    private struct Builder {
        struct Entry {
            var path: [String]
            var fields: [Int] = []
            var relationship: (index: Int, holdsIdentifiers: Bool)?
            var level = -1
        }

        var entries: [Entry] = []
        /// The entries of each level.
        var levels: [[Int]] = []

        mutating func addLevel() -> Int {
            levels.append([])
            return levels.count - 1
        }

        mutating func insert(_ source: Source, path: ArraySlice<String>, level: Int) {
            guard let key = path.first else { return }
            let found = levels[level].first { entries[$0].path.last?.utf8.elementsEqual(key.utf8) ?? false }
            let entry = found ?? entries.count
            if found == nil {
                entries.append(Entry(path: Array(source.path[..<(path.startIndex + 1)])))
                levels[level].append(entry)
            }
            if path.count > 1 {
                if entries[entry].level < 0 { entries[entry].level = addLevel() }
                insert(source, path: path.dropFirst(), level: entries[entry].level)
            } else {
                if let field = source.field, !entries[entry].fields.contains(field) {
                    entries[entry].fields.append(field)
                }
                entries[entry].relationship = entries[entry].relationship ?? source.relationship
            }
        }

        /// The given entries and all entries at the levels below them.
        func descendants(of members: [Int]) -> [Int] {
            members.flatMap { member in
                let level = entries[member].level
                return [member] + (level < 0 ? [] : descendants(of: levels[level]))
            }
        }
    }
}
