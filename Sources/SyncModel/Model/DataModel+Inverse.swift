extension DataModel {
    /// Returns the inverse of a relationship, or nil if it has none.
    package func inverse(of relationship: RelationshipLayout) -> RelationshipLayout? {
        relationship.inverse.map { layouts[relationship.destination].relationships[$0] }
    }

    /// Returns whether a relationship is its own inverse, such as a friendship.
    package func isSymmetric(_ relationship: RelationshipLayout) -> Bool {
        inverse(of: relationship)?.id == relationship.id
    }
}
