/// Hashes of a payload's elements, made unique in the order of the elements.
///
/// Equal elements are different objects. Their hashes depend on the number of equal elements before
/// them, so that the same payload has the same hashes. Memory grows with the number of elements, by
/// about 20 bytes each.
struct UniqueHashes {
    private var used: Set<Int64> = []
    /// The last replacement of each repeated hash.
    private var last: [Int64: Int64] = [:]

    /// Returns the given hash or, if it was already returned, a new one.
    mutating func unique(_ hash: Int64) -> Int64 {
        guard !used.insert(hash).inserted else { return hash }
        var next = last[hash] ?? hash
        repeat {
            next = Int64(bitPattern: ContentHash.mixed(UInt64(bitPattern: next) &+ 1))
        } while !used.insert(next).inserted
        last[hash] = next
        return next
    }
}
