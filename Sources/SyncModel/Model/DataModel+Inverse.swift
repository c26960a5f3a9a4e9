extension DataModel {
    /// Returns the inverse of a relationship, or nil if it has none.
    package func inverse(of relationship: EntityLayout.Relationship) -> EntityLayout.Relationship? {
        relationship.inverse.map { layouts[relationship.destination].relationships[$0] }
    }

    /// Returns whether a relationship is its own inverse, such as a friendship.
    package func isSymmetric(_ relationship: EntityLayout.Relationship) -> Bool {
        inverse(of: relationship)?.id == relationship.id
    }

    /// Returns whether a relationship leads from the parents to the objects whose identity they
    /// scope.
    package func isScope(of relationship: EntityLayout.Relationship) -> Bool {
        let destination = layouts[relationship.destination]
        guard let scope = destination.identityScope else { return false }
        return inverse(of: destination.relationships[scope])?.id == relationship.id
    }
}
