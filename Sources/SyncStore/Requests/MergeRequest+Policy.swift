extension MergeRequest {
    /// The changes that a merge may make.
    public struct Policy: Hashable, Sendable {
        /// Whether records that match no object are inserted.
        public var inserts: Bool
        /// Whether matched objects are updated.
        public var updates: Bool
        /// Whether the result reports updates without making them; false by default.
        ///
        /// If several rows are of one object, each is compared with the stored object.
        public var previewsUpdates: Bool

        /// Creates a policy; both changes are allowed and made by default.
        public init(inserts: Bool = true, updates: Bool = true, previewsUpdates: Bool = false) {
            self.inserts = inserts
            self.updates = updates
            self.previewsUpdates = previewsUpdates
        }

        /// Whether any change is allowed.
        package var writes: Bool { inserts || updates }
    }
}
