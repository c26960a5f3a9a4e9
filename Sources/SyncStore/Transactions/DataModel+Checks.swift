public import SyncModel

/// The checks that every store makes before it carries out a request.
extension DataModel {
    /// The entity of a batch.
    ///
    /// - Throws: `StoreError.batchOfOtherModel` if the batch has no entity, or one that the model
    ///   lacks or declares with other attributes.
    public func layout(of batch: RecordBatch) throws(StoreError) -> EntityLayout {
        guard let given = batch.layout, let layout = self[given.name],
            layout === given || layout.attributes == given.attributes
        else { throw .batchOfOtherModel(entity: batch.layout?.name) }
        return layout
    }

    /// The entity of a request's records.
    ///
    /// - Throws: As ``layout(of:)-(RecordBatch)``; `StoreError.wrongMatchCount` if the request
    ///   does not have one match per row.
    public func layout(of request: MergeRequest) throws(StoreError) -> EntityLayout {
        let layout = try layout(of: request.records)
        guard request.matches.map({ $0.count == request.records.count }) ?? true else {
            throw .wrongMatchCount(entity: layout.name)
        }
        return layout
    }

    /// Verifies that a relationship belongs to the model.
    ///
    /// - Throws: `StoreError.relationshipOfOtherModel` if it does not.
    public func check(_ relationship: EntityLayout.Relationship) throws(StoreError) {
        guard layouts.indices.contains(relationship.source),
            layouts[relationship.source].relationships.indices.contains(relationship.index),
            layouts[relationship.source].relationships[relationship.index] == relationship
        else { throw .relationshipOfOtherModel(relationship: relationship.name) }
    }
}
