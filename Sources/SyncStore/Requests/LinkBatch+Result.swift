public import SyncModel

extension LinkBatch {
    /// The changes that linking made.
    public struct Result: Sendable {
        /// The sources whose targets, or whose order of targets, changed; each once.
        public var changed: [ObjectID]
        /// The targets that lost a source of the batch; each once. Another source may have them.
        public var detached: [ObjectID]

        /// Creates a result.
        public init(changed: [ObjectID] = [], detached: [ObjectID] = []) {
            self.changed = changed
            self.detached = detached
        }
    }
}
