extension Dictionary where Key: Comparable {
    /// The pairs in the order of their keys, which is the same in every process.
    package var sortedByKey: [(key: Key, value: Value)] {
        sorted { $0.key < $1.key }
    }
}
