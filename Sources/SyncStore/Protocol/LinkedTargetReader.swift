package import SyncModel

/// A reader that returns the targets of objects without a pair of objects for each link.
package protocol LinkedTargetReader: StoreReader {
    /// The targets of each source that has some, as in ``StoreReader/links(_:of:)``.
    func linkedTargets(_ relationship: EntityLayout.Relationship, of sources: [ObjectID]) async throws
        -> [ObjectID: [ObjectID]]
}

extension StoreReader {
    /// The targets of each source that has some, in the order of
    /// ``StoreReader/links(_:of:)``.
    package func targets(of sources: [ObjectID], by relationship: EntityLayout.Relationship) async throws
        -> [ObjectID: [ObjectID]]
    {
        if let reader = self as? any LinkedTargetReader {
            return try await reader.linkedTargets(relationship, of: sources)
        }
        var targets = LinkedTargets()
        targets.add(try await links(relationship, of: sources))
        return targets.take()
    }
}
