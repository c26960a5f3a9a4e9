public import SyncModel

/// What every store checks before it does what a caller asks for.
extension DataModel {
    /// The entity of a batch that is to be merged.
    ///
    /// - Parameter handles: What the merge was given.
    /// - Throws: `StoreError.foreignBatch` where the batch is of no entity of the model, or of one with other attributes;
    ///   `StoreError.unsuitableHandles` where there is not one handle per row.
    public func layout(of batch: RecordBatch, handles: [Int64]?) throws(StoreError) -> EntityLayout {
        guard let given = batch.layout, let layout = self[given.name],
            layout === given || layout.attributes == given.attributes
        else { throw .foreignBatch(entity: batch.layout?.name) }
        guard handles.map({ $0.count == batch.count }) ?? true else { throw .unsuitableHandles(entity: layout.name) }
        return layout
    }

    /// Goes on only with a relationship of the model.
    ///
    /// - Throws: `StoreError.foreignRelationship`.
    public func check(_ relationship: RelationshipLayout) throws(StoreError) {
        guard layouts.indices.contains(relationship.source),
            layouts[relationship.source].relationships.indices.contains(relationship.index),
            layouts[relationship.source].relationships[relationship.index] == relationship
        else { throw .foreignRelationship(relationship: relationship.name) }
    }
}
