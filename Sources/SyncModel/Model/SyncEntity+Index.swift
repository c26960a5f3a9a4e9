extension SyncEntity {
    /// An index of an entity's attributes, with which databases find objects.
    public struct Index: Hashable, Sendable {
        /// The names of the indexed attributes, the most important first.
        public var attributes: [String]
        /// Whether no two objects may have the same values; null equals nothing.
        public var isUnique: Bool
        /// The objects in the index; nil for all.
        ///
        /// Comparisons of the entity's own attributes with constants, joined by `and`.
        public var condition: RecordPredicate?

        /// Creates the declaration of an index.
        ///
        /// - Parameters:
        ///   - attributes: The names of own or inherited attributes, the most important first.
        ///   - unique: Whether no two objects may have the same values; false by default.
        ///   - condition: The objects in the index; nil, the default, for all.
        public init(_ attributes: [String], unique: Bool = false, where condition: RecordPredicate? = nil) {
            self.attributes = attributes
            self.isUnique = unique
            self.condition = condition
        }
    }
}
