/// Hashes of the elements of a payload, made unique in their order.
///
/// Equal elements are different objects. Their hashes depend on the number of equal elements before
/// them, so that the same payload has the same hashes. Memory grows with the number of elements, by
/// about 20 bytes each.
struct UniqueHashes {
    private var used: Set<Int64> = []
    /// The last hash that was given instead of a repeated one.
    private var last: [Int64: Int64] = [:]

    /// Returns a hash that was not returned before: the given one, unless it was.
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
