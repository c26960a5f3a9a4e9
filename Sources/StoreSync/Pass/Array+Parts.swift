extension Array {
    /// The elements in order, in parts of a maximum size.
    func parts(of count: Int) -> some Sequence<ArraySlice<Element>> {
        stride(from: 0, to: self.count, by: count).lazy.map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
