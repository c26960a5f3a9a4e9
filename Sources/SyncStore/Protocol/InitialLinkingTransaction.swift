import SyncModel

/// A transaction that can relate new objects while it inserts them, which saves a second write.
///
/// The refinement is optional. Callers use ``StoreTransaction/merge(_:linking:)``, which works with
/// every transaction.
public protocol InitialLinkingTransaction: StoreTransaction {
    /// Merges records and relates the objects that it inserts.
    ///
    /// Objects that already exist keep their links. If several rows are one new object, the link of
    /// the first row counts.
    ///
    /// - Parameters:
    ///   - request: The records and how they match objects.
    ///   - links: The links of new objects.
    /// - Returns: As ``StoreTransaction/merge(_:)``.
    /// - Throws: As ``StoreTransaction/merge(_:)``.
    func mergeLinking(_ request: MergeRequest, _ links: InitialLinks) async throws -> MergeResult
}

extension StoreTransaction {
    /// Merges records and relates the objects that it inserts.
    ///
    /// - Parameters:
    ///   - request: The records and how they match objects.
    ///   - links: The links of new objects; nil for none. Objects that already exist keep theirs.
    /// - Returns: As ``merge(_:)``.
    /// - Throws: As ``merge(_:)`` and ``link(_:)``.
    public func merge(_ request: MergeRequest, linking links: InitialLinks?) async throws -> MergeResult {
        guard let links else { return try await merge(request) }
        if let linking = self as? any InitialLinkingTransaction {
            return try await linking.mergeLinking(request, links)
        }
        try model.check(links.relationship)
        let result = try await merge(request)
        var batch = LinkBatch(links.relationship, mode: .add)
        for (merged, target) in zip(result.rows, links.targets) {
            if let merged, merged.change == .inserted, let target { batch.append(merged.object, to: [target]) }
        }
        if !batch.isEmpty { _ = try await link(batch) }
        return result
    }
}
