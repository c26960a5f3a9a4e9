/// Whether equal values of a key belong to equal objects.
///
/// Memory is limited: beyond `limit` different values, only values whose hashes have a certain
/// number of zero bits are compared. A repetition of any other value is missed.
package struct IdentityEvidence: Sendable {
    private struct Occurrence {
        let content: UInt64
        var array: Int
    }

    private var occurrences: [UInt64: Occurrence] = [:]
    private var mask: UInt64 = 0
    private let limit: Int

    /// Whether two objects have the same value.
    package private(set) var repeats = false
    /// Whether two objects with the same value have different contents.
    package private(set) var conflicts = false
    /// Whether two objects of one array have the same value.
    package private(set) var repeatsInArray = false

    /// Whether all values were compared, so that no repetition was missed.
    package var isComplete: Bool { mask == 0 }

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds the value of an object.
    ///
    /// - Parameters:
    ///   - value: A hash of the value.
    ///   - content: A hash of the object.
    ///   - array: A number of the array that contains the object.
    mutating func add(_ value: UInt64, content: UInt64, array: Int) {
        guard value & mask == 0, !(conflicts && repeatsInArray) else { return }
        let known = occurrences.updateValue(Occurrence(content: content, array: array), forKey: value)
        if let known {
            repeats = true
            if known.content != content { conflicts = true }
            if known.array == array { repeatsInArray = true }
            if conflicts, repeatsInArray { occurrences = [:] }
        } else if occurrences.count > limit {
            mask = mask << 1 | 1
            occurrences = occurrences.filter { $0.key & mask == 0 }
        }
    }

    /// Adds the objects of other evidence, which are in other arrays.
    package mutating func absorb(_ other: IdentityEvidence) {
        repeats = repeats || other.repeats || agreement(with: other) != .unrelated
        conflicts = conflicts || other.conflicts || agreement(with: other) == .conflict
        repeatsInArray = repeatsInArray || other.repeatsInArray
        mask |= other.mask
        occurrences = occurrences.filter { $0.key & mask == 0 }
        for (value, occurrence) in other.occurrences where value & mask == 0 {
            occurrences[value] = Occurrence(content: occurrence.content, array: -1)
        }
    }

    /// How the values of two entities compare.
    package enum Agreement: Hashable, Sendable {
        /// No value occurs in both.
        case unrelated
        /// Values that occur in both belong to equal objects.
        case equal
        /// A value that occurs in both belongs to different objects.
        case conflict
    }

    /// Compares the objects with those of other evidence.
    package func agreement(with other: IdentityEvidence) -> Agreement {
        if other.occurrences.count < occurrences.count { return other.agreement(with: self) }
        var isRelated = false
        for (value, occurrence) in occurrences {
            guard let found = other.occurrences[value] else { continue }
            guard found.content == occurrence.content else { return .conflict }
            isRelated = true
        }
        return isRelated ? .equal : .unrelated
    }
}
