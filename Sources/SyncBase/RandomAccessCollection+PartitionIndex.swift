extension RandomAccessCollection {
    /// The index of the first element that satisfies a condition, by binary search; the end index
    /// if there is none.
    ///
    /// - Parameter isAfter: The condition, which must hold for all elements after that one.
    @inlinable
    package func partitionIndex(where isAfter: (Element) -> Bool) -> Index {
        var (low, count) = (startIndex, count)
        while count > 0 {
            let middle = index(low, offsetBy: count / 2)
            if isAfter(self[middle]) {
                count /= 2
            } else {
                low = index(after: middle)
                count -= count / 2 + 1
            }
        }
        return low
    }
}
