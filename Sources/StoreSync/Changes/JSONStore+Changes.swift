import JSONMapper
import SyncModel
import SyncStore

extension JSONStore {
    /// Applies changes that a source reported on its own, in one transaction.
    ///
    /// Objects are inserted, updated and related as in a sync. Objects that are named as gone are
    /// deleted. Many changes in one call leave the same objects as one call for each of them: an
    /// object that comes after its removal is a new one.
    ///
    /// A change may contain only a part of an object. A key that it lacks leaves the property
    /// unchanged, even if the entity was inferred from a sample, unless the options say
    /// `absentKeys: .clear`.
    ///
    /// The bookmarks of the changed entities lose their entity tags. The next sync therefore reads
    /// the lists themselves, and corrects anything that a change stored wrongly.
    ///
    ///     // In the handler of a webhook
    ///     let change = RemoteChange.objects(.bytes(body), keyPath: "data.object")
    ///     try await store.apply([change], into: "Order", newerBy: "updatedAt")
    ///
    /// A concurrent sync may have read its pages before the change happened, and would then undo
    /// it. A ``LiveSync`` prevents this.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - entity: The entity of the objects.
    ///   - options: The allowed operations and other options. The key path is not used. The removal
    ///     limit applies to all objects that the call names as gone. If the limit keeps objects, it
    ///     keeps those of the changes that exceed it.
    ///   - versionAttribute: The attribute that orders the versions of an object, such as the time
    ///     of its last change. Changes and removals that are older than the stored object are
    ///     ignored, and counted in the result's warnings. A change is always applied if it has no
    ///     version, or is in a file or a stream. A late change of a deleted object inserts the
    ///     object again, until the next sync of the whole list. Nil, the default, applies changes
    ///     in order.
    /// - Returns: The result, with the coverage ``StoreSyncResult/Coverage/changes``.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``. After an error, nothing has
    ///   changed.
    @discardableResult
    package func apply(
        _ changes: [RemoteChange], into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        newerBy versionAttribute: String? = nil
    ) async throws -> StoreSyncResult {
        // The JSON may contain only a part of an object.
        let request = SyncRequest(
            mapper: mapper, entity: entity, options: options, rules: SyncRules(options, isInferred: false))
        return try await recorded(into: entity, from: "push") { recorder in
            try await changeUnlessUndone { transaction in
                var warnings: [String] = []
                var current = changes
                if let versionAttribute {
                    let filter = try StaleChanges(versionAttribute, request, transaction)
                    current = try await filter.removed(from: changes)
                    if filter.count > 0 {
                        warnings.append("\(filter.count) of the objects were older than the stored ones, and ignored")
                    }
                    if filter.uncomparedCount > 0 {
                        warnings.append(
                            "\(filter.uncomparedCount) of the changes are not in memory, and were applied whatever "
                                + "their versions")
                    }
                }
                let pages = ChangePages(try current.map { try $0.page() })
                var effect = try await request.run(pages, in: transaction, of: store).map(\.summary)
                effect.value.warnings += warnings
                return effect
            } noting: { summary, transaction in
                try await BookmarkPlace.noteChanges(in: summary, by: request, asList: false, transaction)
                let transfer = PassRecorder.Transfer(pageCount: summary.pageCount, byteCount: summary.byteCount)
                try await recorder?.succeed(summary, transfer: transfer, in: transaction)
            }
        }
    }
}
