package import SyncModel

extension DataModel {
    /// The relationship that leads back; nil where there is none.
    package func inverse(of relationship: RelationshipLayout) -> RelationshipLayout? {
        relationship.inverse.map { layouts[relationship.destination].relationships[$0] }
    }
}
