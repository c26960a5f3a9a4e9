public import SyncModel

extension LinkBatch {
    /// A pair of related objects.
    public struct Link: Hashable, Sendable {
        /// The object that the relationship starts from.
        public let source: ObjectID
        /// The object that the relationship leads to.
        public let target: ObjectID

        /// Creates a pair.
        public init(source: ObjectID, target: ObjectID) {
            self.source = source
            self.target = target
        }
    }
}
