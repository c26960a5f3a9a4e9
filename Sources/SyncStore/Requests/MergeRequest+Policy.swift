extension MergeRequest {
    /// The changes that a merge may make.
    public struct Policy: Hashable, Sendable {
        /// Whether records that match no object are inserted.
        public var inserts: Bool
        /// Whether matched objects are updated.
        public var updates: Bool

        /// Creates a policy; both changes are allowed by default.
        public init(inserts: Bool = true, updates: Bool = true) {
            self.inserts = inserts
            self.updates = updates
        }

        /// Whether any change is allowed.
        package var writes: Bool { inserts || updates }
    }
}
