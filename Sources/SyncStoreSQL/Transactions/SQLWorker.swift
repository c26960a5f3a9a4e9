package import SyncModel
package import SyncStore

/// Carries out the calls of a transaction on one connection.
package protocol SQLWorker: Actor {
    /// Makes the transaction's changes last; if that fails, they are undone.
    func commit() async throws
    /// Undoes the transaction's changes, and ends it.
    func rollback() async
    /// Starts to read the objects of a query.
    ///
    /// - Returns: The number of the cursor.
    func openCursor(_ query: StoreQuery) async throws -> Int
    /// Reads the next objects of a cursor; none after the last.
    func next(_ cursor: Int, count: Int) async throws -> [StoredRecord]
    /// Ends a cursor.
    func closeCursor(_ cursor: Int) async
    func count(_ query: StoreQuery) async throws -> Int
    func links(_ relationship: RelationshipLayout, of sources: [ObjectID]) async throws -> [StoreLink]
    func find(_ records: RecordBatch) async throws -> [ObjectID?]
    func merge(_ request: MergeRequest, _ links: [InitialLinks]) async throws -> MergeResult
    func link(_ batch: LinkBatch) async throws -> LinkResult
    func remove(_ query: StoreQuery, reportsKeys: Bool) async throws -> RemovalResult
}
