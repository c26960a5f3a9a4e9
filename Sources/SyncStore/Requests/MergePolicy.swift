/// The changes that a merge may make.
public struct MergePolicy: Hashable, Sendable {
    /// Whether records that match no object are inserted.
    public var inserts: Bool
    /// Whether matched objects are updated.
    public var updates: Bool
    /// Whether updates are only previewed: the result reports them, but nothing is updated.
    ///
    /// Several rows of one object are compared with the stored object each.
    public var previewsUpdates: Bool

    /// Creates a policy; both changes are allowed and made by default.
    public init(inserts: Bool = true, updates: Bool = true, previewsUpdates: Bool = false) {
        self.inserts = inserts
        self.updates = updates
        self.previewsUpdates = previewsUpdates
    }
}
