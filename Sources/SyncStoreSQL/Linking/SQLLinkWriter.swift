import SyncModel
package import SyncStore

/// Carries out a plan, with a few statements for each kind of storage.
package protocol SQLLinkWriter {
    var plan: SQLLinkPlan { get }
    /// Clears the columns that refer to the plan's released rows.
    func release(_ link: SQLSchema.ColumnLink) throws
    /// Makes the plan's assignments.
    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws
    /// Deletes the plan's removed pairs.
    func remove(_ link: SQLSchema.JoinLink) throws
    /// Inserts the plan's added pairs, or changes their positions.
    func add(_ link: SQLSchema.JoinLink) throws
}

/// The position of an object among those that refer to the same one.
package enum SQLLinkPosition: Hashable, Sendable {
    /// None: the relationship has no order.
    case none
    /// The position in the plan.
    case given
    /// After all existing ones.
    case atEnd
}

extension SQLLinkWriter {
    /// Carries out the whole plan of a batch, unless the batch is a preview.
    ///
    /// - Returns: The changed objects.
    package func write(_ batch: LinkBatch, schema: SQLSchema) throws -> LinkResult {
        guard !batch.isPreview else { return plan.result }
        let relationship = batch.relationship
        switch schema.relationships[relationship.source][relationship.index] {
        case .column(let link):
            try release(link)
            // Positions are those among the objects that refer to the same one.
            let isOrdered = schema.model.inverse(of: relationship)?.isOrdered == true
            try assign(link, position: isOrdered ? .atEnd : .none)
        case .inverseColumn(let link):
            try assign(link, position: relationship.isOrdered ? .given : .none)
        case .join(let link):
            try remove(link)
            try add(link)
        }
        return plan.result
    }
}
