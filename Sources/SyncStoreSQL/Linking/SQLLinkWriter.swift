import SyncModel
package import SyncStore

/// Carries out a link plan with a few statements for each kind of storage.
package protocol SQLLinkWriter {
    associatedtype Connection: SQLReadingConnection

    var queries: SQLQueries { get }
    var batch: LinkBatch { get }
    var connection: Connection { get }
    var plan: SQLLinkPlan { get set }
    /// Clears the columns that refer to the plan's released rows.
    func release(_ link: SQLSchema.ColumnLink) throws
    /// Makes the plan's assignments.
    func assign(_ link: SQLSchema.ColumnLink, position: SQLLinkPosition) throws
    /// Deletes the plan's removed pairs.
    func remove(_ link: SQLSchema.JoinLink) throws
    /// Inserts the plan's added pairs, or changes their positions.
    func add(_ link: SQLSchema.JoinLink) throws

    /// Whether an error says that a link's column does not accept null.
    func isNull(_ error: any Error, refusedBy link: SQLSchema.ColumnLink) -> Bool
    /// Describes the refusal of a row of a table. Returns false for any other error.
    ///
    /// - Throws: An error that names the cause if the set-up of the table, and no row, is refused.
    func describe(_ error: any Error, of table: String, in refusal: inout StoreError.Refusal) throws -> Bool
    /// Makes the transaction usable after a failed statement.
    func recover() throws
    /// Runs a function and undoes its effects. Returns whether the database refused them.
    func isRefused(_ write: () throws -> Void) throws -> Bool
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
    package var schema: SQLSchema { queries.schema }

    /// Writes the links.
    ///
    /// - Parameter kept: Receives the links to remove that are in a column which does not accept
    ///   null.
    /// - Returns: The changed sources and the detached targets.
    package mutating func run(keeping kept: inout SQLKeptLinks) throws -> LinkBatch.Result {
        let link = schema.columnLink(of: batch.relationship)
        do { try write() } catch {
            guard let link, isNull(error, refusedBy: link) else { throw try refused(error) }
            try recover()
            let cleared = plan.takeCleared()
            do { try write() } catch { throw try refused(error) }
            kept.add(cleared, link)
        }
        if !kept.isEmpty, let link { kept.remove(plan.assignments.map(\.object), link) }
        return plan.result
    }

    /// Carries out the plan.
    package func write() throws {
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
    }

    /// The error of a failed plan: `StoreError.refused` if a row was refused.
    private func refused(_ error: any Error) throws -> any Error {
        let relationship = plan.columnRelationship(schema)
        let table = schema.relationships[relationship.source][relationship.index].table
        var refusal = StoreError.Refusal(
            entity: schema.model.layouts[relationship.source].name, attributes: [relationship.name], reason: .check)
        guard try describe(error, of: table, in: &refusal) else { return error }
        try recover()
        if let object = try refusedObject() { try connection.name(object, in: &refusal, queries) }
        return StoreError.refused(refusal)
    }

    /// Finds the object whose column or pair is the first that the database refuses, by halving the
    /// plan.
    ///
    /// - Returns: Nil if no single link is refused.
    private func refusedObject() throws -> ObjectID? {
        func fails(_ count: Int) throws -> Bool {
            var part = self
            part.plan.keepWrites(count)
            return try isRefused { try part.write() }
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
