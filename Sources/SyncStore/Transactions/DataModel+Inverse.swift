package import SyncModel

extension DataModel {
    /// The inverse of a relationship; nil if it has none.
    package func inverse(of relationship: RelationshipLayout) -> RelationshipLayout? {
        relationship.inverse.map { layouts[relationship.destination].relationships[$0] }
    }
}
