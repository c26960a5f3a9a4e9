package import SyncModel
package import SyncStore

/// A connection that can read objects and links.
package protocol SQLReadingConnection {
    /// Reads the objects that exist.
    func records(_ objects: [ObjectID], of entity: String, _ queries: SQLQueries) throws -> [StoredRecord]
    /// Reads the links of a relationship from the given objects.
    ///
    /// - Parameter isReading: Whether to leave out targets of entities that the model does not
    ///   have.
    func links(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID], _ queries: SQLQueries, isReading: Bool
    ) throws -> [LinkBatch.Link]
}

extension SQLReadingConnection {
    /// The objects that still have a removed link, because their column does not accept null.
    package func refusals(
        of objects: [ObjectID], by relationship: EntityLayout.Relationship, _ queries: SQLQueries
    ) throws -> [StoreError.Refusal] {
        let linked = try links(relationship, of: objects, queries, isReading: false).map(\.source)
        guard !linked.isEmpty else { return [] }
        return try records(linked, of: queries.schema.model.layouts[relationship.source].name, queries)
            .map { $0.refusal(by: relationship) }
    }

    /// Notes the object of a refusal; leaves the refusal unchanged if the object does not exist.
    package func name(_ object: ObjectID, in refusal: inout StoreError.Refusal, _ queries: SQLQueries) throws {
        guard let stored = try records([object], of: refusal.entity, queries).first else { return }
        (refusal.entity, refusal.key, refusal.object) = (stored.record.entityName, stored.key, object)
    }
}
