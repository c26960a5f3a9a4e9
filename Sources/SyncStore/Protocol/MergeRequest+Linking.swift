import SyncModel

extension MergeRequest.InitialLinks {
    /// A transaction that can link new objects while it inserts them, which saves a second write.
    ///
    /// The refinement is optional. Callers use ``StoreTransaction/merge(_:linking:)``, which works
    /// with every transaction.
    public protocol Transaction: StoreTransaction {
        /// Merges records, and links the objects that it inserts.
        ///
        /// Objects that already exist keep their links. The first of several links must be made. A
        /// store may leave out the others.
        ///
        /// - Parameters:
        ///   - request: The records and how they match objects.
        ///   - links: The links of new objects, at least one, each of a different relationship.
        /// - Returns: As ``StoreTransaction/merge(_:)``. ``MergeRequest/Result/isLinked`` shows the
        ///   links that were made and, if the store compares them, the links of existing objects.
        /// - Throws: As ``StoreTransaction/merge(_:)``.
        func mergeLinking(_ request: MergeRequest, _ links: [MergeRequest.InitialLinks]) async throws
            -> MergeRequest.Result
    }
}

extension StoreTransaction {
    /// Merges records, and links the objects that it inserts.
    ///
    /// - Parameters:
    ///   - request: The records and how they match objects.
    ///   - links: The links of new objects, each of a different relationship. Objects that already
    ///     exist keep their links. The first of the links are made;
    ///     ``MergeRequest/Result/isLinked`` shows which others are.
    /// - Returns: As ``merge(_:)``.
    /// - Throws: As ``merge(_:)`` and ``link(_:)``.
    public func merge(_ request: MergeRequest, linking links: [MergeRequest.InitialLinks]) async throws
        -> MergeRequest.Result
    {
        guard !links.isEmpty else { return try await merge(request) }
        for links in links { try model.check(links.relationship) }
        if let linking = self as? any MergeRequest.InitialLinks.Transaction {
            return try await linking.mergeLinking(request, links)
        }
        var result = try await merge(request)
        for links in links {
            var batch = LinkBatch(links.relationship, mode: .add)
            for (merged, target) in zip(result.rows, links.targets) {
                if let merged, merged.change == .inserted, let target { batch.append(merged.object, to: [target]) }
            }
            if !batch.isEmpty { _ = try await link(batch) }
        }
        result.noteLinked(links.count)
        return result
    }
}
