import SyncModel
package import SyncStore

/// Writes what a plan says, a few statements for each kind of storage.
package protocol SQLLinkWriter {
    var plan: SQLLinkPlan { get }
    /// Has nothing lead to the plan's released rows any more.
    func release(_ link: SQLSchema.ColumnLink) throws
    /// Makes the plan's assignments.
    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws
    /// Takes off the plan's removed pairs.
    func remove(_ link: SQLSchema.JoinLink) throws
    /// Adds the plan's pairs, or gives them other places.
    func add(_ link: SQLSchema.JoinLink) throws
}

/// Where an object comes among those that lead to the same one.
package enum SQLLinkPosition: Hashable, Sendable {
    /// They have no order.
    case none
    /// Where the plan says.
    case given
    /// After all that there are.
    case atEnd
}

extension SQLLinkWriter {
    /// Writes all of the plan for a batch, unless the batch is a preview.
    ///
    /// - Returns: What changed.
    package func write(_ batch: LinkBatch, schema: SQLSchema) throws -> LinkResult {
        guard !batch.isPreview else { return plan.result }
        let relationship = batch.relationship
        switch schema.relationships[relationship.source][relationship.index] {
        case .column(let link):
            try release(link)
            // Its own places are those among the objects that lead to the same one.
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
