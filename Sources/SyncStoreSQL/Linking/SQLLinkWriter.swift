package import SyncModel
package import SyncStore

/// Carries out a link plan with a few statements for each kind of storage.
package protocol SQLLinkWriter {
    var plan: SQLLinkPlan { get set }
    /// Clears the columns that refer to the plan's released rows.
    func release(_ link: SQLSchema.ColumnLink) throws
    /// Makes the plan's assignments.
    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws
    /// Deletes the plan's removed pairs.
    func remove(_ link: SQLSchema.JoinLink) throws
    /// Inserts the plan's added pairs, or changes their positions.
    func add(_ link: SQLSchema.JoinLink) throws
}

/// The position of an object among the objects that refer to the same one.
package enum SQLLinkPosition: Hashable, Sendable {
    /// No position, because the relationship has no order.
    case none
    /// The position in the plan.
    case given
    /// A position after all existing ones.
    case atEnd
}

extension SQLLinkWriter {
    /// Carries out the plan of a batch.
    ///
    /// - Returns: The changed sources and the detached targets.
    package func write(_ batch: LinkBatch, schema: SQLSchema) throws -> LinkBatch.Result {
        let relationship = batch.relationship
        switch schema.relationships[relationship.source][relationship.index] {
        case .column(let link):
            try release(link)
            // Positions count the objects that refer to the same object.
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

    /// Finds the object whose column or pair is the first that the database refuses, by halving the
    /// plan.
    ///
    /// - Parameter isRefused: Runs a function and undoes its effects. Returns whether the database
    ///   refused them.
    /// - Returns: Nil if no single link is refused.
    package func refusedObject(
        in batch: LinkBatch, schema: SQLSchema, _ isRefused: (() throws -> Void) throws -> Bool
    ) throws -> ObjectID? {
        func fails(_ count: Int) throws -> Bool {
            var part = self
            part.plan.keepWrites(count)
            return try isRefused { _ = try part.write(batch, schema: schema) }
        }
        var (accepted, refused) = (0, plan.writeCount)
        guard refused > 0, try !fails(0) else { return nil }
        while refused - accepted > 1 {
            let middle = (accepted + refused) / 2
            if try fails(middle) { refused = middle } else { accepted = middle }
        }
        return plan.object(ofWrite: refused - 1)
    }
}
