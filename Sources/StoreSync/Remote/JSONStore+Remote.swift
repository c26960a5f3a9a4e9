import SyncBase
import JSONMapper
import SyncModel
import SyncStore

extension JSONStore {
    /// Makes the objects of an entity equal to those of a source, from its full list or from its
    /// changes.
    ///
    /// If the model has ``SyncBookmark/entity``, the source's bookmark is stored with the objects,
    /// in the same transaction. If the source reports no change, nothing is written, unless the
    /// bookmark changes or the history records such syncs. A bookmark becomes invalid when the
    /// source, the options or the model change, or when another list replaces the objects. Lists
    /// that share an entity each need a scope (`StoreSyncOptions.scope`). An entity without a key,
    /// or with a hash of the content as its key, is always read in full.
    ///
    /// If objects were rejected, the next sync reads the pages again, although they may be
    /// unchanged, and reports them again:
    ///
    /// - Changes are requested again from the same cursor, until none of them is rejected or the
    ///   whole list is read.
    /// - After a whole list, the cursor stays, so that one unsuitable object does not make every
    ///   sync read the list. The object is reported again when it changes, and by the next full
    ///   pass. If the store refused an object or has no parent for it, which can change without a
    ///   change of the object, the next sync reads the whole list.
    ///
    /// All pages are read in one transaction and in bounded memory. Until the commit, readers see
    /// the old state and other writers wait.
    ///
    /// An absent object is deleted only if it is known to be gone:
    ///
    /// - If the source has several pages that are not of one moment, they are read a second time
    ///   before anything is deleted, and a third time if the objects differed. Objects that are
    ///   still in doubt are kept, counted, and examined by the next sync.
    /// - Pages of changes are read again in the same way, because a change may move from one page
    ///   to another. If they are in doubt after the third time, the next sync asks for them again.
    /// - If pages repeat objects of earlier pages, and the source does not count its objects,
    ///   nothing is deleted unless the pages are of one moment: a list without a unique order
    ///   repeats some objects and leaves out others.
    /// - If a page has elements but none with a key, nothing is deleted, because such a page
    ///   reports an error.
    ///
    /// - Parameters:
    ///   - source: The source of the objects.
    ///   - entity: The entity of the objects, including its sub-entities.
    ///   - options: The options of the sync. The removal limit also counts objects that the source
    ///     names as gone.
    ///   - usesBookmark: Whether to ask the source only for its changes, if it can report them.
    ///     False reads everything.
    ///   - progress: Called after each batch of objects. It must not block.
    /// - Returns: The result, with the coverage and the size of the transfer.
    /// - Throws: The errors of ``sync(_:into:childrenOf:options:)``, and errors of the source.
    ///   After an error, nothing has changed.
    @discardableResult
    package func sync(
        from source: some RemoteSource, into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        let request = request(of: source, into: entity, options)
        let place = try await request.bookmarkPlace(of: source)
        return try await recorded(into: entity, from: source.name) { recorder in
            var usesBookmark = usesBookmark
            while true {
                let kept = try await store.read { try await place.read($0) }
                let asked = usesBookmark ? kept : nil
                let pass: any RemotePass
                switch try await source.begin(after: asked, keyPath: request.options.keyPath) {
                case .unchanged(let bookmark):
                    try await keep(bookmark, at: place, insteadOf: kept, recorder)
                    return StoreSyncResult()
                case .changed(let begun): pass = begun
                }
                do {
                    let summary = try await change { transaction -> StoreSyncResult? in
                        // Another sync of this source may have committed first, which makes the
                        // bookmark old.
                        guard try await place.read(transaction) == kept else { return nil }
                        let end = try await request.run(pass, as: .list, in: transaction, progress: progress)
                        let summary = end.summary
                        // Only a full pass examines kept objects again.
                        let isComplete = summary.countsByEntity.values.allSatisfy { $0.kept == 0 }
                        var bookmark = isComplete ? end.bookmark : nil
                        if summary.rejectedCount > 0, isComplete {
                            // Pages with rejected objects are read again, so that each sync reports
                            // them. Later changes would not have them.
                            if summary.coverage == .changes { bookmark = asked }
                            if summary.coverage == .everything, end.mayAcceptLater { bookmark?.cursor = nil }
                            bookmark?.pages = []
                        }
                        try await place.write(bookmark, transaction)
                        try await BookmarkPlace.noteChanges(
                            in: summary, by: request, asList: request.deletesAbsent && summary.coverage == .everything,
                            except: place, transaction)
                        try await recorder?.succeed(summary, in: transaction)
                        return summary
                    }
                    if let summary { return summary }
                } catch is ExpiredCursor {
                    usesBookmark = false
                }
            }
        }
    }

    private func request(
        of source: some RemoteSource, into entity: String, _ options: StoreSyncOptions
    ) -> SyncRequest {
        var options = options
        if options.keyPath.isEmpty { options.keyPath = source.keyPath }
        if options.absentKeys == .automatic { options.absentKeys = source.absentKeys }
        return SyncRequest(mapper: mapper, entity: entity, options: options)
    }

    /// Ends a pass without changes. Writes the bookmark and the history if they need it.
    private func keep(
        _ bookmark: SyncBookmark, at place: BookmarkPlace, insteadOf kept: SyncBookmark?, _ recorder: PassRecorder?
    ) async throws {
        let isRecorded = recorder?.writesUnchanged ?? false
        guard bookmark != kept || isRecorded else { return }
        try await change { transaction in
            if bookmark != kept { try await place.write(bookmark, transaction) }
            if isRecorded { try await recorder?.succeed(StoreSyncResult(), in: transaction) }
        }
    }

    /// Predicts the result of a sync from a source. Runs the same code without writing.
    ///
    /// - Returns: The result that the sync would have.
    /// - Throws: The errors of ``sync(from:into:options:usesBookmark:progress:)``.
    package func plan(
        from source: some RemoteSource, into entity: String, options: StoreSyncOptions = StoreSyncOptions(),
        usesBookmark: Bool = true, progress: @escaping @Sendable (StoreSyncOptions.Progress) -> Void = { _ in }
    ) async throws -> StoreSyncResult {
        let request = request(of: source, into: entity, options)
        let place = try await request.bookmarkPlace(of: source)
        let kept = usesBookmark ? try await store.read { try await place.read($0) } : nil
        guard case .changed(let pass) = try await source.begin(after: kept, keyPath: request.options.keyPath) else {
            return StoreSyncResult()
        }
        do {
            return try await planned { transaction in
                try await request.run(pass, as: .list, in: transaction, progress: progress).summary
            }
        } catch is ExpiredCursor {
            return try await plan(
                from: source, into: entity, options: options, usesBookmark: false, progress: progress)
        }
    }
}

extension SyncRequest {
    /// The place of a source's bookmark, with the fingerprint of everything that it depends on.
    func bookmarkPlace(of source: some RemoteSource) async throws -> BookmarkPlace {
        var fingerprint = Fingerprint()
        fingerprint.combine(try await source.fingerprint)
        fingerprint.combine(options.keyPath)
        fingerprint.combine(options.operations.rawValue)
        fingerprint.combine(rules.clearsAbsent)
        // Pages that a tolerant sync has read may fail a strict one.
        fingerprint.combine(options.failsOnDrift)
        if let newerBy = options.newerBy { fingerprint.combine(newerBy) }
        fingerprint.combine("\(mapper.dialect)")
        fingerprint.combine(mapper.model)
        return BookmarkPlace(of: source.name, self, fingerprint: fingerprint)
    }
}
