/// Hashes of a payload's elements, made unique in the order of the elements.
///
/// Equal elements are different objects. Their hashes depend on the number of equal elements before
/// them, so that the same payload has the same hashes. Memory grows with the number of elements, by
/// about 20 bytes each.
struct UniqueHashes {
    private struct Issue {
        let hash: Int64
        let unique: Int64
        /// The replacement of the hash before.
        let formerLast: Int64?
    }

    private var used: Set<Int64> = []
    /// The last replacement of each repeated hash.
    private var last: [Int64: Int64] = [:]
    /// The hashes that can still be taken back, in order.
    private var issues: [Issue] = []

    /// Whether no hash has been returned.
    var isEmpty: Bool { used.isEmpty }

    /// Returns the given hash or, if it was already returned, a new one.
    mutating func unique(_ hash: Int64) -> Int64 {
        let formerLast = last[hash]
        var next = hash
        if !used.insert(hash).inserted {
            next = formerLast ?? hash
            repeat {
                next = Int64(bitPattern: ContentHash.mixed(UInt64(bitPattern: next) &+ 1))
            } while !used.insert(next).inserted
            last[hash] = next
        }
        issues.append(Issue(hash: hash, unique: next, formerLast: formerLast))
        return next
    }

    /// Takes back the last hashes, as of elements that are read again.
    ///
    /// - Parameter count: The number of hashes to keep since they were last settled.
    mutating func truncate(to count: Int) {
        while issues.count > count, let issue = issues.popLast() {
            used.remove(issue.unique)
            last[issue.hash] = issue.formerLast
        }
    }

    /// Keeps all hashes for good.
    mutating func settle() {
        issues.removeAll(keepingCapacity: true)
    }
}
