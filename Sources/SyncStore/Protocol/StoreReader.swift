public import SyncModel

/// Read access to the objects of a store.
public protocol StoreReader: Sendable {
    /// The store's model.
    var model: DataModel { get }

    /// Fetches the objects of a query in batches.
    ///
    /// The result includes objects of sub-entities; each record has the layout of its own entity.
    ///
    /// - Parameters:
    ///   - query: The objects and their order.
    ///   - batchRowCount: The maximum size of a batch, at least 1.
    ///   - body: Receives the batches in order, none of them empty. It must not write through the
    ///     same transaction.
    /// - Throws: `RecordPredicateError` if the query does not fit the model; the body's error.
    func fetch(
        _ query: StoreQuery, batchRowCount: Int, _ body: ([StoredRecord]) async throws -> Void
    ) async throws

    /// The number of objects that a query finds, with its limit and offset applied.
    ///
    /// - Throws: `RecordPredicateError` if the query does not fit the model.
    func count(_ query: StoreQuery) async throws -> Int

    /// The numbers of objects that queries find, each as ``count(_:)``.
    ///
    /// A store on a server can answer all queries at once. By default, they are counted one after
    /// the other.
    ///
    /// - Returns: One number for each query, in order.
    /// - Throws: As ``count(_:)``.
    func counts(of queries: [StoreQuery]) async throws -> [Int]

    /// The links of a relationship from the given objects.
    ///
    /// - Parameters:
    ///   - relationship: A relationship of the model, from the layout of any entity that has it.
    ///   - sources: The objects to start from. Numbers without an object are ignored.
    /// - Returns: One link per pair. The sources are in no particular order. The links of one
    ///   source are in the order of the relationship or, if it is not ordered, in the order of the
    ///   targets' numbers.
    /// - Throws: `StoreError.relationshipOfOtherModel` for a relationship of another model.
    func links(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws -> [LinkBatch.Link]
}

extension StoreReader {
    /// Counts the objects of queries, one query after the other.
    ///
    /// - Throws: As ``count(_:)``.
    public func counts(of queries: [StoreQuery]) async throws -> [Int] {
        var counts: [Int] = []
        for query in queries { counts.append(try await count(query)) }
        return counts
    }
}
