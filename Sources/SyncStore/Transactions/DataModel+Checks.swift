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

    /// The entities of a change of entity.
    ///
    /// - Throws: `ModelError.unknownEntity`; `StoreError.unrelatedEntities` if they have no
    ///   ancestor in common; `StoreError.abstractEntity` if the new one is abstract.
    public func layouts(
        changing former: String, to entity: String
    ) throws -> (former: EntityLayout, entity: EntityLayout) {
        let (former, layout) = (try self.layout(of: former), try self.layout(of: entity))
        guard former.root == layout.root else {
            throw StoreError.unrelatedEntities(former: former.name, entity: layout.name)
        }
        guard !layout.isAbstract else { throw StoreError.abstractEntity(entity: layout.name) }
        return (former, layout)
    }

    /// The closest common ancestor of two entities of a family, or one of them. Its attributes are
    /// the first ones of both, in the same columns.
    package func commonAncestor(of one: EntityLayout, _ other: EntityLayout) -> EntityLayout {
        var common = one
        while !other.isKind(of: common), let parent = common.parent { common = layouts[parent] }
        return common
    }

    /// The relationships that objects lose with a change of their entity: their own, and those
    /// without an inverse that lead to them.
    package func relationships(
        of former: EntityLayout, lostBy layout: EntityLayout
    ) -> (own: [EntityLayout.Relationship], leading: [EntityLayout.Relationship]) {
        func loses(_ place: Int) -> Bool {
            former.isKind(of: layouts[place]) && !layout.isKind(of: layouts[place])
        }
        let leading = layouts.flatMap { source in
            source.relationships.filter {
                $0.source == source.index && $0.inverse == nil && loses($0.destination)
            }
        }
        return (former.relationships.filter { loses($0.source) }, leading)
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
