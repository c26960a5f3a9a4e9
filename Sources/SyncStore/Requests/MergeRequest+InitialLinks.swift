public import SyncModel

extension MergeRequest {
    /// Links of one relationship with which a merge inserts its new objects.
    public struct InitialLinks: Sendable {
        /// A to-one relationship of the merged entity or of an entity that it inherits from.
        ///
        /// Its inverse is to-many. If the inverse is ordered, the targets have no objects yet, and
        /// new objects are in the order of their rows.
        public let relationship: EntityLayout.Relationship
        /// The target of each row of the batch; nil for none. Targets must exist.
        public let targets: [ObjectID?]

        /// Creates the links of a batch.
        ///
        /// - Parameters:
        ///   - relationship: A relationship for which ``isPossible(_:in:)`` is true.
        ///   - targets: One element per row of the batch.
        public init(_ relationship: EntityLayout.Relationship, targets: [ObjectID?]) {
            self.relationship = relationship
            self.targets = targets
        }

        /// Whether objects can be inserted with links of a relationship.
        public static func isPossible(_ relationship: EntityLayout.Relationship, in model: DataModel) -> Bool {
            !relationship.isToMany && model.inverse(of: relationship)?.isToMany == true
        }

        /// The position of each row among the rows with the same target; nil without a target.
        package var positions: [Int64?] {
            var counts: [ObjectID: Int64] = [:]
            return targets.map { target in
                guard let target else { return nil }
                defer { counts[target, default: 0] += 1 }
                return counts[target, default: 0]
            }
        }
    }
}
