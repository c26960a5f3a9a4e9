package import SyncBase
package import SyncModel
package import SyncStore

/// Carries out the calls of a transaction on one connection.
package protocol SQLWorker: Actor {
    /// The executor of the worker's own thread.
    nonisolated var executor: BlockingExecutor { get }
    /// The number of records at which a merge is most efficient.
    nonisolated var batchRowCount: Int { get }
    /// Commits the transaction. If the commit fails, the changes are rolled back.
    ///
    /// - Parameter roots: The root entities whose objects or links have changed, for observers.
    func commit(changing roots: Set<Int>) async throws
    /// Rolls the transaction back, and ends it.
    func rollback() async
    /// Opens a cursor for the objects of a query.
    ///
    /// - Returns: The number of the cursor.
    func openCursor(_ query: StoreQuery) async throws -> Int
    /// Reads the next objects of a cursor; none after the last.
    func next(_ cursor: Int, count: Int) async throws -> [StoredRecord]
    /// Closes a cursor.
    func closeCursor(_ cursor: Int) async
    /// Opens a cursor for the rows of a selection.
    ///
    /// - Returns: The first rows, and the number of the cursor; nil if there are no more rows.
    func openSelection(_ selection: BoundSelection, count: Int) async throws -> (RecordBatch, cursor: Int?)
    /// Reads the next rows of a selection; none after the last.
    func nextRows(_ cursor: Int, count: Int) async throws -> RecordBatch
    func counts(of queries: [StoreQuery]) async throws -> [Int]
    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link]
    /// The targets of each source that has some.
    func targets(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws
        -> [ObjectID: [ObjectID]]
    func find(_ records: RecordBatch) async throws -> [ObjectID?]
    func merge(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws -> MergeRequest.Result
    /// Gives objects of exactly one entity another one. The links that they lose were removed
    /// before, except those that lead to them and have no inverse.
    func changeEntity(of objects: [StoredRecord], from former: EntityLayout, to layout: EntityLayout) async throws
    func link(_ batch: LinkBatch) async throws -> LinkBatch.Result
    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult
    func settleValues() async throws -> [StoreError.Refusal]
    /// Begins changes of the transaction that may be undone.
    ///
    /// - Returns: The links that the transaction has kept so far.
    func beginAttempt() async throws -> SQLKeptLinks
    /// Ends these changes.
    ///
    /// - Parameter kept: What `beginAttempt()` returned, to undo the changes; nil to keep them.
    func endAttempt(restoring kept: SQLKeptLinks?) async throws
}

extension SQLWorker {
    /// Removes links of objects and gives the objects another entity, or changes nothing.
    ///
    /// - Returns: Why the database refuses the change; nil if it is made.
    func changeEntity(
        of objects: [StoredRecord], from former: EntityLayout, to layout: EntityLayout, unlinking batches: [LinkBatch]
    ) async throws -> StoreError.Refusal? {
        let kept = try await beginAttempt()
        do {
            for batch in batches { _ = try await link(batch) }
            try await changeEntity(of: objects, from: former, to: layout)
        } catch StoreError.refused(let refusal) {
            try await endAttempt(restoring: kept)
            return refusal
        }
        try await endAttempt(restoring: nil)
        return nil
    }

    package func targets(
        _ relationship: EntityLayout.Relationship, of sources: [ObjectID]
    ) async throws -> [ObjectID: [ObjectID]] {
        var targets = LinkedTargets()
        targets.add(try await links(relationship, of: sources))
        return targets.take()
    }
}
