import JSONMapper
import SyncModel
import SyncStore

extension JSONStore {
    /// Applies changes that a source reported on its own, in one transaction.
    ///
    /// Objects are inserted, updated and related as by a sync, and only objects that are named as
    /// gone are deleted. A change may have a part of an object: a key that it lacks leaves the
    /// property as it is, also if the entity was inferred from a sample, unless the options say
    /// `absentKeys: .clear`. Of several changes of one object the last one counts. The bookmarks of
    /// the changed entities lose their entity tags, so that the next sync reads the lists
    /// themselves and corrects what a change may have stored wrongly.
    ///
    ///     // In the handler of a webhook
    ///     let change = RemoteChange.objects(.bytes(body), keyPath: "data.object")
    ///     try await store.apply([change], into: "Order", newerBy: "updatedAt")
    ///
    /// A sync that reads pages at the same time may have read them before the change happened, and
    /// would then undo it. A ``LiveSync`` keeps both apart.
    ///
    /// - Parameters:
    ///   - changes: The changes in their order.
    ///   - entity: The entity of the objects.
    ///   - options: What may be done, and how. Its key path is not used. The removal limit counts
    ///     objects that are named as gone.
    ///   - versionAttribute: The attribute that orders the versions of an object, such as the time
    ///     of its last change. Changes and removals that are older than the stored object are
    ///     ignored, and counted in the result's warnings. Nil, the default, to apply changes in
    ///     their order. A change without a version, and one in a file or a stream, is applied. So
    ///     is a late change of an object that has been deleted, until a sync of the whole list.
    /// - Returns: What was done. The coverage is ``RemoteSyncResult/Coverage/changes``.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``. After an error nothing has
    ///   been done.
    @discardableResult
    public func apply(
        _ changes: [RemoteChange], into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        newerBy versionAttribute: String? = nil
    ) async throws -> RemoteSyncResult {
        // The JSON may have a part of an object.
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
                try await BookmarkPlace.noteChanges(in: summary.result, by: request, asList: false, transaction)
                let transfer = PassRecorder.Transfer(pageCount: summary.pageCount, byteCount: summary.byteCount)
                try await recorder?.succeed(summary.result, transfer: transfer, in: transaction)
            }
        }
    }
}
