extension RemoteEnd {
    /// How the pages of a source prove that none of their objects is missing.
    public enum Proof: String, Hashable, Sendable, Codable, CaseIterable {
        /// The only page has a syntax that shows its end, such as the closing bracket of an array.
        case syntax
        /// The source counts as many objects as it returned.
        case count
        /// The last element says that it is the last.
        case endSign
        /// All pages show one state of the source.
        case snapshot
        /// Two readings of the pages had the same objects.
        case equalReadings
    }
}
